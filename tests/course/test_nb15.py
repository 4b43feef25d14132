"""Notebook 15: training on several rungs, estimates beside measurements, and games to look at."""

import chess
import pandas as pd
import pytest
import torch

from rungs._src.train.network import PolicyValueNetwork
from rungs._src.train.settings import PpoSettings, Training
from rungs.errors import MismatchError
from rungs_course.notebooks import nb15_training
from rungs_course.notebooks.nb15_games import games
from tests.course.notebooks import from_page

SETTINGS = {"num_envs": 8, "updates": 3, "max_plies": 30, "games": 2, "torch_threads": 1}
SETTINGS |= {"evaluate_every": 2, "checkpoint_every": 0}
TRAINING = Training(**SETTINGS, ppo=PpoSettings(num_steps=4, num_minibatches=2))
train_on = from_page("15_training")["train_on"]
PARTS = ["generate", "transfer", "infer", "backward"]


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    ends = {"cpp": {"updates": 2}}
    return train_on(["python", "cpp"], TRAINING, ends, tmp_path_factory.mktemp("curves"), str)


def test_rungs_learn_the_same_and_one_may_end_otherwise(trained):
    metrics, evaluations, learner = trained
    assert metrics["rung"].tolist() == ["python"] * 3 + ["cpp"] * 2
    assert evaluations["update"].tolist() == [0, 2, 3, 0, 2]
    assert learner.updates == 2


@pytest.mark.parametrize("column", ["entropy", "wins", "steps"])
def test_a_difference_is_named(trained, column):
    metrics = trained[0].copy()
    metrics.loc[4, column] += 1
    with pytest.raises(MismatchError, match=f"update 2: {column} .* cpp"):
        nb15_training.check_same(metrics)


def updates(**seconds):
    """Returns metrics of rungs, with seconds of each update's `generate` and `infer`."""
    rows = [
        (rung, update, 200 * update, sum(map(sum, times[:update])), generate, 0.0, infer, 0.0)
        for rung, times in seconds.items()
        for update, (generate, infer) in enumerate(times, 1)
    ]
    return pd.DataFrame(rows, columns=["rung", "update", "steps", "seconds", *PARTS])


def test_updates_of_the_same_number_are_compared():
    # An update takes longer and longer, and the fast rung gets further.
    metrics = updates(
        slow=[(9.0, 0.0), *((4.0 * n, 0.0) for n in range(1, 6))],
        fast=[(9.0, 0.0), *((2.0 * n, 0.0) for n in range(1, 60))],
    )
    gains = nb15_training.gains(metrics, "slow")
    assert (gains["fast"].low, gains["fast"].middle, gains["fast"].high) == (2, 2, 2)
    assert gains["fast"].repeats == 5
    table = nb15_training.estimates(metrics).set_index("rung")
    assert table.loc["fast", ["measured", "estimated"]].tolist() == [2, 2]


def test_seconds_to_a_share_of_wins_are_measured_or_reckoned():
    evaluations = pd.DataFrame(
        [("slow", 0, 1, 10), ("middle", 5, 8, 10), ("fast", 0, 1, 10), ("fast", 4, 9, 10)],
        columns=["rung", "update", "wins", "games"],
    )
    metrics = updates(
        slow=[(2.0, 2.0)] * 2, middle=[(1.0, 1.0)] * 5, fast=[(0.5, 0.5), *[(1.0, 0.0)] * 3]
    )
    table = nb15_training.seconds_to(evaluations, metrics, 0.9).set_index("rung")
    columns = ["updates", "seconds", "measured"]
    assert table.loc["fast", columns].tolist() == [4, 4.0, True]
    assert table.loc["middle", columns].tolist() == [4, 8.0, True]
    assert table.loc["slow", columns].tolist() == [4, 16.0, False]
    assert nb15_training.seconds_to(evaluations, metrics, 0.95).empty


def test_an_estimate_is_right_where_the_rest_is_the_same_behind_all_rungs():
    metrics = updates(python=[(9.0, 3.0)] * 3, cpp=[(1.0, 3.0)] * 3, other=[(1.0, 7.0)] * 4)
    table = nb15_training.estimates(metrics)
    assert table["estimated"].to_list() == pytest.approx([1.0, 3.0, 3.0])
    assert table["measured"].to_list() == pytest.approx([1.0, 3.0, 1.5])
    assert table["rest"].to_list() == pytest.approx([3.0, 3.0, 7.0])


def test_python_chess_plays_the_same_games():
    torch.manual_seed(0)
    network = PolicyValueNetwork(width=16, blocks=1, keys=8)
    played = games(network, 16, seed=5, max_plies=120)
    assert set(played["result"]) >= {"1-0", "0-1", "*"}
    assert played["game"].nunique() == 16
    for _, rows in played.groupby("game"):
        board = chess.Board()
        for san in rows["move"].iloc[1:]:
            board.push_san(san)
        assert rows["fen"].iloc[-1] == board.fen()
        (result,) = rows["result"].unique()
        assert result == ("*" if board.ply() == 120 else board.result(claim_draw=True))
