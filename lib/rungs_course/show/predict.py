"""Widgets that ask for a guess before they measure, here and now."""

from collections.abc import Callable, Sequence

import ipywidgets
import pandas as pd
from IPython.display import display

from rungs.errors import RungsError
from rungs_course.show import machine
from rungs_course.show.image import image
from rungs_course.show.widgets import WHOLE_LABEL
from rungs_course.studies import scaling


def predict_scaling(
    strong: pd.DataFrame, cores: int, *, seed: int, paper: pd.DataFrame | None = None
) -> ipywidgets.VBox:
    """Asks how many times as fast as one thread a rung of the reader's choice is.

    Args:
        strong: of `rungs_course.studies.scaling.strong`.
        cores: how many there are.
        seed: of the games.
        paper: `threads` and `speedup` of the study, drawn beside.
    """
    within = strong[strong["threads"] <= cores]
    law = {"law": "Amdahl", "serial": scaling.serial_fraction(within, "Amdahl").median()}

    def draw(choice, guess, gain):
        point = (choice["threads"], gain) if gain else None
        expected = (choice["threads"], guess)
        return machine.scaling(strong, cores, **law, paper=paper, guess=expected, measured=point)

    def measure(choice):
        _, gain = scaling.one_point(**choice, mask="bool", seed=seed)
        return gain

    guess = ipywidgets.BoundedFloatText(1.0, min=0.01, max=1000, step=0.1, description="guess, ×")
    return predict_first(draw, measure, rung_controls(strong["threads"].unique().tolist()), guess)


def predict_roofline(
    compute: pd.DataFrame,
    bandwidth: pd.DataFrame,
    points: pd.DataFrame,
    work: dict[str, dict],
    cores: int,
    *,
    seed: int,
    api,
) -> ipywidgets.VBox:
    """Asks how many operations a second a rung of the reader's choice does.

    Args:
        compute: of `rungs_course.measure.peaks.measure_compute`, for one core and for all.
        bandwidth: of `rungs_course.measure.peaks.measure_bandwidth`, likewise.
        points: of `rungs_course.show.machine.point`; those with as many cores are drawn beside.
        work: of `rungs_course.measure.valgrind.work_per_ply`, by mask; empty where there is no
            valgrind.
        cores: how many there are.
        seed: of the games.
        api: the compiled functions that the work was counted of.
    """

    def draw(choice, guess, rate):
        used = 1 if choice["rung"] == "cpp" else min(choice["threads"], cores)
        roofs = machine.roofs(compute, bandwidth, used)
        shown = machine.below(points, used)
        if not work:
            return machine.roofline(*roofs, shown, title="No valgrind: nothing to place")
        now = machine.point("measured now", work[choice["mask"]], rate or 0)
        shown = pd.DataFrame([*shown.to_dict("records"), now]) if rate else shown
        expected = (now["intensity"], guess * 1e9)
        title = f"Predict, then measure: the roofs of {used} core{'s' if used > 1 else ''}"
        return machine.roofline(*roofs, shown, title=title, guess=expected)

    def measure(choice):
        rate, _ = scaling.one_point(**choice, seed=seed, api=api)
        return rate

    masks = ipywidgets.ToggleButtons(options=["bits", "bool"], description="mask")
    controls = rung_controls(sorted({1, cores, 2 * cores}), ("cpp", "openmp")) | {"mask": masks}
    guess = ipywidgets.BoundedFloatText(
        10.0, min=0.001, max=1e6, description="guess, Gop/s", style=WHOLE_LABEL
    )
    return predict_first(draw, measure, controls, guess)


def rung_controls(
    threads: list[int], names: Sequence[str] = ("cpp", "openmp", "multiprocessing", "python")
) -> dict[str, ipywidgets.Widget]:
    """Controls for what `studies.scaling.one_point` measures, by its arguments' names."""
    return {
        "rung": ipywidgets.ToggleButtons(options=names, value="openmp", description="rung"),
        "num_envs": ipywidgets.SelectionSlider(
            options=[64, 256, 512, 1024, 4096], value=512, description="boards"
        ),
        "threads": ipywidgets.SelectionSlider(options=threads, description="threads"),
        "schedule": ipywidgets.ToggleButtons(
            options=["static", "dynamic", "guided"], description="schedule"
        ),
    }


def predict_first(
    draw: Callable,
    measure: Callable,
    controls: dict[str, ipywidgets.Widget],
    guess: ipywidgets.BoundedFloatText,
) -> ipywidgets.VBox:
    """Lets choose, guess, measure: draws the reader's guess, and then the truth beside it.

    Args:
        draw: from the choice (by the controls' names), the guess, and what was measured or None,
            to a figure.
        measure: from the choice to what is measured.
        controls: the choice's widgets, by name.
        guess: the guess's widget. Until it is touched nothing can be measured.
    """
    button = ipywidgets.Button(description="Measure", disabled=True, tooltip="First make a guess")
    output = ipywidgets.Output()

    def show(measured=None):
        choice = {name: control.value for name, control in controls.items()}
        with output:
            output.clear_output(wait=True)
            display(image(draw(choice, guess.value, measured)))

    def on_choice(change):
        button.disabled = True
        show()

    def on_guess(change):
        button.disabled = False
        show()

    def on_measure(clicked):
        button.disabled = True
        choice = {name: control.value for name, control in controls.items()}
        try:
            show(measure(choice))
        except RungsError as error:  # a button has nobody else to tell
            with output:
                output.clear_output()
                print(error)

    for control in controls.values():
        control.observe(on_choice, "value")
    guess.observe(on_guess, "value")
    button.on_click(on_measure)
    show()
    return ipywidgets.VBox([*controls.values(), ipywidgets.HBox([guess, button]), output])
