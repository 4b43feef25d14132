"""Widgets: each calls the figure function that the static picture was drawn by."""

from collections.abc import Callable, Sequence

import ipywidgets
import pandas as pd
from IPython.display import display

from rungs.measure.ladder import ladder_table
from rungs.show import figures, peers, training


def explore_ladder(race: pd.DataFrame, rest_of_batch: float):
    """The ladder for a number of boards and a mask format of the reader's choice.

    Args:
        race: rows of `rungs.measure.race.race` with columns `mask` and `num_envs` beside.
        rest_of_batch: seconds of inference and update per batch.
    """

    def show(num_envs, mask):
        chosen = race[(race["num_envs"] == num_envs) & (race["mask"] == mask)]
        display(figures.ladder(ladder_table(chosen, rest_of_batch, num_envs)))

    return ipywidgets.interactive(
        show,
        num_envs=ipywidgets.SelectionSlider(
            options=sorted(race["num_envs"].unique().tolist()), description="boards"
        ),
        mask=ipywidgets.ToggleButtons(
            options=race["mask"].drop_duplicates().tolist(), description="mask"
        ),
    )


def explore_updates(updates: pd.DataFrame):
    """What an update's time is made of, for a number of boards of the reader's choice.

    Args:
        updates: of `rungs.measure.full_system.race_updates`.
    """

    def show(num_envs):
        chosen = updates[updates["num_envs"] == num_envs]
        display(training.parts(chosen, "racer", f"One update from {num_envs:,} boards"))

    return ipywidgets.interactive(show, num_envs=_counts_of(updates))


def explore_peers(times: pd.DataFrame, ours: str, things: str = "boards"):
    """Our environment beside others, for a number of boards of the reader's choice.

    Args:
        times: of `rungs.measure.peer_race.race`.
        ours: the racer that others are compared with.
        things: what there are so many of.
    """

    def show(num_envs):
        chosen = times[times["num_envs"] == num_envs]
        display(peers.bars(chosen, ours, f"{num_envs:,} {things}"))

    return ipywidgets.interactive(show, num_envs=_counts_of(times, things))


def _counts_of(frame: pd.DataFrame, things: str = "boards") -> ipywidgets.SelectionSlider:
    """A slider over the numbers of boards that were measured, at the most."""
    counts = sorted(frame["num_envs"].unique().tolist())
    return ipywidgets.SelectionSlider(options=counts, value=counts[-1], description=things)


def explore_learning(evaluations: pd.DataFrame):
    """The learning curves over steps or over time.

    Args:
        evaluations: of `rungs.train.curves.train_on`.
    """

    def show(over):
        display(training.learning(evaluations, over))

    over = ipywidgets.ToggleButtons(options=["steps", "seconds"], description="over")
    return ipywidgets.interactive(show, over=over)


def rung_controls(
    threads: list[int], names: Sequence[str] = ("cpp", "openmp", "multiprocessing", "python")
) -> dict[str, ipywidgets.Widget]:
    """Controls for what `rungs.measure.scaling.one_point` measures, by its arguments' names."""
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
    """Choose, guess, measure: a figure with the reader's guess in it, and then with the truth.

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
            display(draw(choice, guess.value, measured))

    def on_choice(change):
        button.disabled = True
        show()

    def on_guess(change):
        button.disabled = False
        show()

    def on_measure(clicked):
        button.disabled = True
        choice = {name: control.value for name, control in controls.items()}
        show(measure(choice))

    for control in controls.values():
        control.observe(on_choice, "value")
    guess.observe(on_guess, "value")
    button.on_click(on_measure)
    show()
    return ipywidgets.VBox([*controls.values(), ipywidgets.HBox([guess, button]), output])
