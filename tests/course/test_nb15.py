"""Notebook 15: training on several rungs, estimates beside measurements, and games to look at."""

import dataclasses

import chess
import pandas as pd
import pytest
import torch

from rungs._src.train.network import PolicyValueNetwork
from rungs._src.train.settings import PpoSettings, Training
from rungs.errors import MismatchError
from rungs_course.measure import results
from rungs_course.nb15_games import games
from rungs_course.nb15_training import check_same, confront, estimates, seconds_to, train_on

TRAINING = Training(
    num_envs=16,
    updates=3,
    max_plies=30,
    games=4,
    evaluate_every=2,
    checkpoint_every=0,
    torch_threads=1,
    ppo=PpoSettings(num_steps=4, num_minibatches=2),
)


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    return train_on(["python", "cpp"], TRAINING, tmp_path_factory.mktemp("curves"))


def test_rungs_learn_the_same_in_other_times(trained):
    metrics, evaluations, learner = trained
    assert metrics["rung"].tolist() == ["python"] * 3 + ["cpp"] * 3
    assert evaluations["update"].tolist() == [0, 2, 3] * 2
    assert learner.updates == 3
    halves = [metrics[metrics["rung"] == rung].reset_index() for rung in ("python", "cpp")]
    assert halves[0]["entropy"].equals(halves[1]["entropy"])
    assert not halves[0]["seconds"].equals(halves[1]["seconds"])


@pytest.mark.parametrize("column", ["entropy", "wins", "steps"])
def test_a_difference_is_named(trained, column):
    metrics = trained[0].copy()
    metrics.loc[4, column] += 1
    with pytest.raises(MismatchError, match=f"update 2: {column} .* cpp"):
        check_same(metrics)


def test_a_peer_learns_the_same(trained, tmp_path):
    pytest.importorskip("pyspiel")
    metrics, *_ = train_on(["OpenSpiel"], TRAINING, tmp_path)
    check_same(pd.concat([trained[0], metrics]))


def test_the_last_may_have_more_time(tmp_path):
    training = dataclasses.replace(TRAINING, seconds=1e-9)
    metrics, *_ = train_on(["python", "cpp"], training, tmp_path, last=1000)
    assert metrics["rung"].tolist() == ["python"] + ["cpp"] * 3


def test_seconds_to_a_share_of_wins_are_measured_or_reckoned():
    evaluations = pd.DataFrame(
        [("slow", 0, 0.0, 1, 10), ("fast", 0, 0.0, 1, 10), ("fast", 4, 2.5, 9, 10)],
        columns=["rung", "update", "seconds", "wins", "games"],
    )
    metrics = pd.DataFrame(
        [("slow", 1, 0.0, 1.0, 1.0), ("fast", 0.1, 0.0, 0.25, 0.25)],
        columns=["rung", "generate", "transfer", "infer", "backward"],
    )
    table = seconds_to(evaluations, metrics, 0.9).set_index("rung")
    assert table.loc["fast", ["updates", "seconds", "measured"]].tolist() == [4, 2.5, True]
    assert table.loc["slow", ["updates", "seconds", "measured"]].tolist() == [4, 12.0, False]
    assert seconds_to(evaluations, metrics, 0.95).empty


def test_an_estimate_is_right_where_the_rest_is_the_same_behind_all_rungs():
    rows = [
        ("python", 9.0, 0.5, 0.5, 2.0),
        ("cpp", 1.0, 0.5, 0.5, 2.0),
        ("other", 1.0, 0.5, 1.5, 5.0),
    ]
    metrics = pd.DataFrame(rows, columns=["rung", "generate", "transfer", "infer", "backward"])
    table = estimates(metrics).set_index("rung")
    assert table["estimated"].to_list() == [1.0, 3.0, 3.0]
    assert table["measured"].to_list() == [1.0, 3.0, 1.5]
    assert table["rest"].to_list() == [3.0, 3.0, 7.0]


@pytest.mark.parametrize("max_plies", [7, 40])
def test_python_chess_plays_the_same_games(max_plies):
    torch.manual_seed(0)
    played = games(PolicyValueNetwork(width=16, keys=8), 3, seed=1, max_plies=max_plies)
    assert set(played["game"]) == {0, 1, 2}
    for _, rows in played.groupby("game"):
        board = chess.Board()
        assert rows["fen"].iloc[0] == board.fen()
        for row in rows.iloc[1:].itertuples():
            board.push_san(row.move)
            assert row.fen == board.fen()
        assert rows["ply"].tolist() == list(range(len(rows)))
        (result,) = rows["result"].unique()
        assert result == ("*" if len(rows) == max_plies + 1 else board.result(claim_draw=True))


def test_mates_are_told_for_whoever_gave_them():
    torch.manual_seed(0)
    played = games(PolicyValueNetwork(width=16, keys=8), 150, seed=2, max_plies=120)
    mates = {"1-0": False, "0-1": False}
    for _, rows in played.groupby("game"):
        last, (result,) = chess.Board(rows["fen"].iloc[-1]), rows["result"].unique()
        assert (result in mates) == last.is_checkmate()
        if result in mates:
            mates[result] = True
            assert result == ("0-1" if last.turn else "1-0")
    assert all(mates.values())


def tables(folder):
    """Results of a machine on which training is slower than 07 thought, and generating is not."""
    ladder = pd.DataFrame({"rung": ["python", "threads"], "seconds": [0.9, 0.1]})
    facts = {"num_envs": 100, "rest_of_batch_seconds": 0.1}
    results.save(ladder, folder / "07_ladder.csv", facts)
    rows = [
        (rung, update, 200 * update, generate, 0.0, 0.1, 0.2)
        for rung, generate in (("python", 1.8), ("threads", 0.2))
        for update in (1, 2, 3)
    ]
    names = ["rung", "update", "steps", "generate", "transfer", "infer", "backward"]
    return results.load(folder / "07_ladder.csv"), pd.DataFrame(rows, columns=names)


def test_the_two_reasons_are_told_apart(tmp_path):
    table = confront(*tables(tmp_path)).set_index("what")
    assert table.loc["07, estimated", "gain"] == pytest.approx(1.0 / 0.2)
    # A rest of 0.3 s for 200 positions instead of 0.1 s for 100; generating takes the same.
    assert table.loc["15, measured", "gain"] == pytest.approx(2.1 / 0.5)
    assert table.loc["07's generation, 15's rest", "gain"] == pytest.approx(2.1 / 0.5)
    assert table["slow"].tolist() == pytest.approx([0.009, 0.009, 0.009])
