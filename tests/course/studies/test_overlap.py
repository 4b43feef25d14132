"""A network and its boards, in turns or at once."""

import numpy as np
import pandas as pd
import pytest
import torch

from rungs._src.chess.policy import random_actions
from rungs_course import nb11_full_system as nb11


def test_ways_are_timed_and_threads_put_back():
    before = torch.get_num_threads()
    how = {"seed": 0, "steps": 2, "repeats": 2, "warmup": 1}
    times = nb11.race_ways((4, 8), 1, **how)
    assert torch.get_num_threads() == before
    assert times.groupby(["num_envs", "racer"]).size().to_list() == [2] * 6
    assert ((times["waiting"] > 0) & (times["waiting"] < times["seconds"])).all()


def test_all_ways_play_the_same_games():
    played = []
    for way in nb11._ways(6).values():
        rng, boards = np.random.default_rng(3), []
        way.reset(seed=5)
        for _ in range(2 if not played else 4):
            observation, *_, info = way.recv()
            boards.append(observation.copy())
            legal = info["action_mask"]
            way.send(random_actions(legal, rng))
        way.wait()
        played.append(np.concatenate(boards[: 1 if not played else 2]))
        way.close()
    for halves in played[1:]:
        np.testing.assert_array_equal(halves, played[0])


def test_gains_are_taken_apart():
    rows = [
        ("all in turns", 1, 8, 0, 6.0, 2.0),
        ("halves in turns", 1, 8, 0, 4.0, 1.0),
        ("halves at once", 1, 8, 0, 3.2, 0.2),
    ]
    columns = ["racer", "network_threads", "num_envs", "repeat", "seconds", "waiting"]
    (row,) = nb11.overlap_gains(pd.DataFrame(rows, columns=columns)).itertuples()
    assert (row.halving, row.at_once, row.both) == pytest.approx((1.5, 1.25, 1.875))
    assert row.bound == pytest.approx(4 / 3)  # what remains is the longer part, 3 of 4
