"""Notebook 06: what a GPU's threads would do, computed on the host."""

import numpy as np
import pandas as pd
import pytest

from rungs_course import nb06_cuda


def test_a_warp_takes_as_long_as_its_longest_lane():
    loops = {"keys": [1, 3, 0, 0], "planes": [2, 2, 4, 1], "ended": [0, 0, 0, 1]}
    followed = pd.DataFrame({"ply": 0, "board": range(4)} | loops)
    found = nb06_cuda.at_work(followed, lanes=2).set_index("loop")
    assert found.loc["keys"].tolist() == [1, 1.5, pytest.approx(2 / 3)]
    assert found.loc["planes", "warp"] == 3
    assert found.loc["ended", "at_work"] == 0.5


def test_games_are_followed_by_their_loops():
    followed = nb06_cuda.follow(8, 60, seed=0)
    assert len(followed) == 8 * 60
    assert followed["planes"].between(1, 73).all()
    first = followed.query("ply < 3")["keys"]
    assert (first <= followed.query("ply < 3")["ply"] + 1).all()
    # A clock goes on by one or begins again.
    clocks = followed.pivot(index="ply", columns="board", values="keys").to_numpy()
    steps = np.diff(clocks, axis=0)
    assert ((steps == 1) | (clocks[1:] == 0)).all()


def test_words_of_neighbours_lie_side_by_side_or_a_board_apart():
    lines = nb06_cuda.fetched().groupby("layout")["line"].nunique()
    assert lines.to_dict() == {
        "array of structures": 32,
        "structure of arrays": 2,
        "blocks of eight": 4,
    }
    # Of a block's eight words both sectors are wanted whole.
    sectors = nb06_cuda.fetched().groupby("layout")["sector"].nunique()
    assert sectors["blocks of eight"] == sectors["structure of arrays"] == 8


@pytest.mark.system  # g++ compiles for some seconds
def test_the_hosts_ways_play_the_same_games():
    times = nb06_cuda.race_layouts([3], plies=30, repeats=2, warmup=1, seed=0)
    assert times.groupby("racer").size().to_dict() == dict.fromkeys(nb06_cuda.HOST_WAYS, 2)
