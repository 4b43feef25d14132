"""Widgets: each calls the figure function that the static picture was drawn by."""

import ipywidgets
import pandas as pd
from IPython.display import display

from rungs_course.show import batch_sizes, beyond, figures, peers, training
from rungs_course.show.image import image
from rungs_course.studies import cost_model
from rungs_course.studies.ladder import ladder_table

WHOLE_LABEL = {"description_width": "initial"}  # else a long description ends in dots


def explore_ladder(race: pd.DataFrame, rest_of_batch: float):
    """Shows the ladder for a number of boards and a mask format of the reader's choice.

    Args:
        race: rows of `rungs_course.measure.race.race` with columns `mask` and `num_envs` beside.
        rest_of_batch: seconds of inference and update per batch.
    """

    def show(num_envs, mask):
        chosen = race[(race["num_envs"] == num_envs) & (race["mask"] == mask)]
        table = ladder_table(chosen, rest_of_batch, num_envs)
        display(image(figures.ladder(table)))

    return ipywidgets.interactive(
        show,
        num_envs=ipywidgets.SelectionSlider(
            options=sorted(race["num_envs"].unique().tolist()), description="boards"
        ),
        mask=ipywidgets.ToggleButtons(
            options=race["mask"].drop_duplicates().tolist(), description="mask"
        ),
    )


def explore_sizes(table: pd.DataFrame, limits: pd.DataFrame):
    """Shows rungs over the number of boards for a mask format of the reader's choice.

    Args:
        table: of `rungs_course.studies.batch_sizes.summary`.
        limits: of `rungs_course.studies.batch_sizes.bounds`.
    """

    def show(mask):
        display(image(batch_sizes.rates(table, limits, mask)))

    return ipywidgets.interactive(
        show,
        mask=ipywidgets.ToggleButtons(
            options=table["mask"].drop_duplicates().tolist(), description="mask"
        ),
    )


def explore_updates(updates: pd.DataFrame):
    """Shows what an update's time is made of, for a number of boards of the reader's choice.

    Args:
        updates: of `rungs_course.studies.full_system.race_updates`.
    """

    def show(num_envs):
        chosen = updates[updates["num_envs"] == num_envs]
        figure = training.parts(chosen, "racer", f"One update from {num_envs:,} boards")
        display(image(figure))

    return ipywidgets.interactive(show, num_envs=_counts_of(updates))


def explore_peers(times: pd.DataFrame, ours: str, things: str = "boards"):
    """Shows our environment beside others, for a number of boards of the reader's choice.

    Args:
        times: of `rungs_course.studies.peer_race.race`.
        ours: the racer that others are compared with.
        things: what there are so many of.
    """

    def show(num_envs):
        chosen = times[times["num_envs"] == num_envs]
        display(image(peers.bars(chosen, ours, f"{num_envs:,} {things}")))

    return ipywidgets.interactive(show, num_envs=_counts_of(times, things))


def _counts_of(frame: pd.DataFrame, things: str = "boards") -> ipywidgets.SelectionSlider:
    """Shows a slider over the numbers of boards that were measured, at the most."""
    counts = sorted(frame["num_envs"].unique().tolist())
    return ipywidgets.SelectionSlider(
        options=counts, value=counts[-1], description=things, style=WHOLE_LABEL
    )


def explore_learning(evaluations: pd.DataFrame):
    """Shows the learning curves over steps or over time.

    Args:
        evaluations: of `rungs_course.studies.curves.train_on`.
    """

    def show(over):
        display(image(training.learning(evaluations, over)))

    over = ipywidgets.ToggleButtons(options=["steps", "seconds"], description="over")
    return ipywidgets.interactive(show, over=over)


def explore_nodes(update: cost_model.Update, length: int, boards_in_all: int = 65536):
    """Shows what the cost model says of nodes, boards and links of the reader's choice.

    Args:
        update: of one process, as fitted.
        length: steps of each board in an update.
        boards_in_all: that nodes share, for strong scaling.
    """
    counts = [2**power for power in range(13)]
    settings = {"length": length, "boards_in_all": boards_in_all}

    def show(nodes, boards, speed, gigabits, microseconds):
        link = cost_model.Link(microseconds * 1e-6, gigabits * 1e9 / 8)
        links = {algorithm: (link, algorithm) for algorithm in cost_model.ROUNDS}
        how = settings | {"boards": boards, "speed": speed}
        frames = cost_model.predict(update, links, counts, **how)
        display(image(beyond.nodes(*frames, mark=nodes)))

    return ipywidgets.interactive(
        show,
        nodes=_slider(counts, 256, "nodes"),
        boards=_slider(counts, 64, "boards of each"),
        speed=_slider([1, 10, 100, 1000], 1, "node's speed"),
        gigabits=_slider([1, 10, 25, 100, 400], 100, "Gbit/s"),
        microseconds=_slider([1, 2, 5, 10, 50, 100], 2, "µs a round"),
    )


def _slider(options: list, value, description: str) -> ipywidgets.SelectionSlider:
    whole = {"description_width": "8em"}  # else longer descriptions are cut
    return ipywidgets.SelectionSlider(
        options=options, value=value, description=description, style=whole
    )
