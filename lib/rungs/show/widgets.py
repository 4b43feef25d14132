"""Widgets: each calls the figure function that the static picture was drawn by."""

import ipywidgets
import pandas as pd
from IPython.display import display

from rungs.measure.ladder import ladder_table
from rungs.show import figures


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
