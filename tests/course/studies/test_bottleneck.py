"""Parts of training made cheaper, one at a time."""

from rungs._src.train.ppo import PARTS
from rungs_course import nb11_full_system as nb11

TIMING = {"seed": 0, "repeats": 2, "warmup": 1}


def test_one_part_is_cheaper_in_each_case():
    cases = nb11.interventions(8, **TIMING)
    assert set(cases["racer"]) == {"as it is", "free environment", "half the network"}
    assert (cases.groupby("racer").size() == 2 * len(PARTS)).all()


def test_boards_are_stepped_by_so_many_threads():
    updates = nb11.by_threads(8, (1, 2), **TIMING)
    assert set(updates["racer"]) == {"1 thread", "2 threads", "null"}
    generate = updates[updates["part"] == "generate"].groupby("racer")["seconds"].median()
    assert generate["null"] < generate["1 thread"]


def test_models_are_timed_by_width_and_boards():
    updates = nb11.by_model((16, 256), (8, 512), **TIMING)
    assert (updates["positions"] == updates["num_envs"]).all()
    whole = updates.groupby(["width", "num_envs", "repeat"])["seconds"].sum()
    medians = whole.groupby(["width", "num_envs"]).median()
    assert medians[256, 512] > medians[16, 512]
    assert medians[256, 512] > medians[256, 8]
