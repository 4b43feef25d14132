"""Learning curves on several rungs."""

import dataclasses

import pandas as pd
import pytest

from rungs._src.train.settings import PpoSettings, Training
from rungs.errors import MismatchError
from rungs_course.nb15_training import check_same, estimates, seconds_to, train_on

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
