"""Notebook 12: what a race of peers says of each."""

import pandas as pd
import pytest

from rungs_course.notebooks import nb12_peers as nb12

OURS = "rungs, board + bits"


def race(**peers):
    """A race in which each racer takes so many seconds for 1,000 plies, of so many bytes each."""
    rows = [
        (racer, num_envs, repeat, 1000, seconds * num_envs / 8, ply_bytes)
        for racer, (seconds, ply_bytes) in ({OURS: (0.001, 656.0)} | peers).items()
        for num_envs in (8, 16)
        for repeat in range(5)
    ]
    columns = ["racer", "num_envs", "repeat", "plies", "seconds", "bytes_per_ply"]
    return pd.DataFrame(rows, columns=columns)


def test_a_racer_costs_bytes_and_cycles_at_its_best():
    best = nb12.costs(race(EnvPool=(0.1, 30000.0), NChess=(0.2, 0.0)), clock_mhz=2000)
    assert best.index.tolist() == [OURS, "EnvPool", "NChess"]
    assert best.loc[OURS, "per_kilocycle"] == pytest.approx(0.5)
    assert best.loc["EnvPool", "bytes_per_ply"] == 30000
    assert "Pgx" in best.loc["EnvPool", "tuned"]
    assert pd.isna(best.loc["NChess", "bytes_per_ply"])
    assert nb12.costs(race(), None)["per_kilocycle"].isna().all()


def test_the_headline_is_of_the_fastest_peer():
    times = race(EnvPool=(0.1, 30000.0), PufferLib=(0.01, 1088.0))
    text = nb12.headline(times, nb12.costs(times, None))
    assert "PufferLib" in text
    assert "EnvPool" not in text
    assert "10×" in text
    assert "alone" in nb12.headline(race(), nb12.costs(race(), None))
