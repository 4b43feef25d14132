"""Widgets: each calls the figure function that the static picture was drawn by."""

import ipywidgets
import pandas as pd
from IPython.display import display

from rungs_course import plots
from rungs_course.plots import image
from rungs_course.show import beyond, peers, training
from rungs_course.studies import cost_model
from rungs_course.widgets import counts_of, slider


def explore_updates(updates: pd.DataFrame):
    """Shows what an update's time is made of, for a number of boards of the reader's choice.

    Args:
        updates: of `rungs_course.studies.full_system.race_updates`.
    """

    def show(num_envs):
        chosen = updates[updates["num_envs"] == num_envs]
        figure = plots.parts(chosen, "racer", f"One update from {num_envs:,} boards")
        display(image(figure))

    return ipywidgets.interactive(show, num_envs=counts_of(updates))


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

    return ipywidgets.interactive(show, num_envs=counts_of(times, things))


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
        nodes=slider(counts, 256, "nodes"),
        boards=slider(counts, 64, "boards of each"),
        speed=slider([1, 10, 100, 1000], 1, "node's speed"),
        gigabits=slider([1, 10, 25, 100, 400], 100, "Gbit/s"),
        microseconds=slider([1, 2, 5, 10, 50, 100], 2, "µs a round"),
    )
