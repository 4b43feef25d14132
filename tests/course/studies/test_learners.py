"""The ladder of learners: its table, its curves, and the share of generating."""

import math

import pandas as pd
import pytest

from rungs._src.train.network import PolicyValueNetwork
from rungs._src.train.ppo import PARTS
from rungs._src.train.settings import PpoSettings, Training
from rungs_course import nb11_learners as learners
from rungs_course.learners import LADDER
from rungs_course.measure.cost import operations

SETTINGS = PpoSettings(num_steps=4, num_minibatches=2)


def test_learners_are_raced_part_by_part():
    how = {"seed": 0, "repeats": 2, "warmup": 1, "rung": "cpp", "settings": SETTINGS}
    times = learners.race(("torch", "lists"), 8, **how)
    assert times.groupby(["racer", "repeat"]).size().to_dict() == {
        (name, repeat): len(PARTS) for name in ("torch", "lists") for repeat in (0, 1)
    }
    assert set(times["positions"]) == {32}


def made_up(seconds):
    """Times of learners that take so many seconds for each part of an update of 10 positions."""
    rows = [
        (name, repeat, 10, part, each)
        for name, parts in seconds.items()
        for repeat in range(3)
        for part, each in zip(PARTS, parts, strict=True)
    ]
    return pd.DataFrame(rows, columns=["racer", "repeat", "positions", "part", "seconds"])


def test_the_table_says_rates_gains_and_shares():
    times = made_up({"torch": (1.0, 1.0, 2.0, 6.0), "fast": (1.0, 0.0, 1.0, 0.5)})
    work = operations(PolicyValueNetwork())
    table = learners.ladder(times, PpoSettings(), peak=1000.0).set_index("learner")
    assert table.index.tolist() == ["torch", "fast"]
    assert table["steps_per_second"].tolist() == [1.0, 4.0]
    assert table["gain"].tolist() == [1.0, 4.0]
    assert table.loc["torch", ["generate", "infer", "backward"]].tolist() == [1.0, 3.0, 6.0]
    fast = table.loc["fast"]
    assert fast["infer_share"] == pytest.approx(10 * work.infer / 1.0 / 1000)
    assert fast["learn_share"] == pytest.approx(10 * 2 * work.learn / 0.5 / 1000)
    whole = 10 * work.update(PpoSettings()) / 2.5 / 1000
    assert fast["share"] == pytest.approx(whole)
    assert learners.ladder(times, PpoSettings())["share"].isna().all()


def test_products_in_another_format_have_no_share_of_the_peak():
    rows = [("torch", 1.0), ("cpp-bfloat16", 0.5)]
    times = pd.DataFrame(
        [
            (racer, 0, part, seconds, 10)
            for racer, seconds in rows
            for part in ("generate", "infer", "transfer", "backward")
        ],
        columns=["racer", "repeat", "part", "seconds", "positions"],
    )
    table = learners.ladder(times, PpoSettings(), peak=1000.0).set_index("learner")
    shares = table[["infer_share", "learn_share", "share"]]
    assert shares.loc["torch"].notna().all()
    assert shares.loc["cpp-bfloat16"].isna().all()


def test_learners_are_trained_with_every_seed(tmp_path):
    training = Training(
        "cpp",
        num_envs=4,
        updates=2,
        games=2,
        max_plies=10,
        evaluate_every=1,
        checkpoint_every=0,
        torch_threads=1,
        ppo=SETTINGS,
    )
    how = {"say": lambda line: None}
    metrics, evaluations = learners.train_all(("torch", "lists"), (0, 1), training, tmp_path, **how)
    assert metrics.groupby(["learner", "seed"]).size().tolist() == [2] * 4
    assert evaluations.groupby(["learner", "seed"]).size().tolist() == [3] * 4
    # These two differ in time alone.
    learnt = metrics.set_index(["learner", "seed", "update"])["entropy"].unstack("learner")
    assert (learnt["torch"] == learnt["lists"]).all()


def test_time_to_a_share_of_wins():
    rows = [
        (name, seed, steps, steps / speed, wins, 10)
        for name, speed, last in (("torch", 1, 9), ("fast", 5, 8))
        for seed in (0, 1)
        for steps, wins in ((0, 0), (100, 5), (200, last + seed))
    ]
    names = ["learner", "seed", "steps", "seconds", "wins", "games"]
    slow, fast = learners.until(pd.DataFrame(rows, columns=names), 0.9).itertuples()
    assert (slow.learner, slow.seeds, slow.reached, slow.seconds) == ("torch", 2, 2, 200)
    assert (fast.reached, fast.steps, fast.seconds) == (1, 200, 40)
    assert fast.wins == pytest.approx(0.85)
    # Student's t of one degree of freedom, 12.706, times the mean's standard error, 0.05.
    assert fast.wins - fast.low == pytest.approx(12.7062 * 0.05, rel=1e-4)
    assert fast.high == 1  # a share


def test_generating_and_all_else_are_told_apart():
    times = made_up({"torch": (1.0, 1.0, 2.0, 6.0), "fast": (1.0, 0.0, 1.0, 0.5)})
    assert learners.generating(times).to_dict() == {"torch": 0.1, "fast": 0.1}
    assert learners.speeds(times).to_dict() == pytest.approx({"torch": 10 / 9, "fast": 10 / 1.5})


def test_learners_that_are_here_are_known():
    able, missing = learners.here()
    assert able[0] == "torch"
    assert {*able, *missing} == {*LADDER}


def test_the_faster_a_learner_the_more_is_generating():
    shares = learners.generation_shares(pd.Series({"slow": 0.1, "fast": 0.001}), [1, 10, 1000])
    slow, fast = (rows["share"].tolist() for _, rows in shares.groupby("system", sort=False))
    assert slow == pytest.approx([0.1 / 1.1, 0.5, 0.1 / 0.101])
    assert fast == sorted(fast)
    assert fast[-1] == pytest.approx(0.5)


def test_the_studys_times_bound_its_share():
    """An update behind OpenSpiel takes 2.5 times as long: at least three fifths are generating."""
    table = pd.DataFrame({"system": ["chessenv", "OpenSpiel"], "seconds": [1000, 2500]})
    share, speed = learners.implied_by_study(table, 0.003)
    assert share == pytest.approx(0.6)
    assert 0.003 / (0.003 + 1 / speed) == pytest.approx(share)
    assert math.isclose(speed, 500)
