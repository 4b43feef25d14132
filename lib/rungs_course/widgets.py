"""Parts of widgets, and widgets that ask for a guess before they measure."""

from collections.abc import Callable, Sequence

import ipywidgets
import pandas as pd
from IPython.display import display

from rungs.errors import RungsError
from rungs_course.measure.disturbance import disturbances, usage
from rungs_course.plots import image

WHOLE_LABEL = {"description_width": "initial"}  # else a long description ends in dots


def counts_of(frame: pd.DataFrame, things: str = "boards") -> ipywidgets.SelectionSlider:
    """Returns a slider over the numbers of boards, `num_envs`, that were measured."""
    counts = sorted(frame["num_envs"].unique().tolist())
    return ipywidgets.SelectionSlider(
        options=counts, value=counts[-1], description=things, style=WHOLE_LABEL
    )


def slider(options: list, value, description: str) -> ipywidgets.SelectionSlider:
    """Returns a slider whose description is not cut."""
    style = {"description_width": "8em"}
    return ipywidgets.SelectionSlider(
        options=options, value=value, description=description, style=style
    )


def explore(draw: Callable, **controls: ipywidgets.Widget) -> ipywidgets.interactive:
    """Shows a figure below controls, and redraws it as they change."""

    def show(**choice):
        display(image(draw(**choice)))

    return ipywidgets.interactive(show, **controls)


def rung_controls(
    threads: list[int],
    names: Sequence[str] = ("threads", "openmp", "cpp", "multiprocessing", "python"),
) -> dict[str, ipywidgets.Widget]:
    """Returns controls for what `over_boards.one_point` measures, by its arguments' names."""
    return {
        "rung": ipywidgets.ToggleButtons(options=names, description="rung"),
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
    """Lets a reader choose, guess and measure: draws the guess, and then what was measured.

    `draw` takes the choice (by the controls' names), the guess, and what was measured or None;
    until the guess is touched nothing can be measured. A line tells that it is measuring, and then
    whether other programs disturbed it.
    """
    button = ipywidgets.Button(description="Measure", disabled=True, tooltip="First make a guess")
    note, output = ipywidgets.HTML(), ipywidgets.Output()

    def show(measured=None):
        choice = {name: control.value for name, control in controls.items()}
        with output:
            output.clear_output(wait=True)
            display(image(draw(choice, guess.value, measured)))

    def on_choice(change):
        button.disabled = True
        note.value = ""
        show()

    def on_guess(change):
        button.disabled = False
        note.value = ""
        show()

    def on_measure(clicked):
        button.disabled = True
        note.value = "measuring …"
        choice = {name: control.value for name, control in controls.items()}
        before, causes = usage(), {}
        try:
            measured = measure(choice)
            causes = disturbances(before, usage(), threads_share_cores=True)
            show(measured)
        except RungsError as error:  # no caller could catch it
            with output:
                output.clear_output()
                print(error)
        listed = "; ".join(phrase.format(share) for phrase, share in causes.items())
        note.value = f"Disturbed, measure again: {listed}" if causes else ""

    for control in controls.values():
        control.observe(on_choice, "value")
    guess.observe(on_guess, "value")
    button.on_click(on_measure)
    show()
    line = ipywidgets.HBox([guess, button, note], layout={"flex_flow": "row wrap"})
    return ipywidgets.VBox([*controls.values(), line, output])
