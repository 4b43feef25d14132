"""The benchmark: a slow environment, a wrong one, and files that are not results."""

import dataclasses
import json
import time

import pandas as pd
import pytest

from rungs.conformance import PythonChess
from rungs.errors import ConfigurationError
from rungs_course import bench, paths
from rungs_course.cli import main
from rungs_course.pages import bench as bench_page
from rungs_course.peers.ours import OurChess
from rungs_course.tables import fill


class SlowChess(OurChess):
    """Ours, batch and all, with a pause in each step."""

    def step(self, actions):
        time.sleep(0.002)
        return super().step(actions)


class NoStalemate(PythonChess):
    """A game whose stalemates are wins."""

    def outcome(self):
        outcome = super().outcome()
        if outcome.reason != "stalemate":
            return outcome
        return dataclasses.replace(outcome, rewards=(1, -1))


def result(name="mine", **changes):
    """A result in which the environment takes 10 times as long as each of ours."""
    times = [
        {"racer": racer, "num_envs": 8, "repeat": i, "plies": 1000, "seconds": seconds}
        for racer, seconds in {name: 0.01, **dict.fromkeys(bench.OURS, 0.001)}.items()
        for i in range(5)
    ]
    facts = {"machine": "a machine", "microarchitecture": "Zen 3", "gpu": None, "cores": 2}
    facts |= {"cpu_vendor": "AuthenticAMD", "cpu_family": 25, "cpu_model": 1, "cpu_stepping": 1}
    facts |= {"clock_mhz": 2000, "commit": "abc", "rungs": "0.2.0"}
    return {
        "schema": bench.SCHEMA,
        "name": name,
        "version": "1.0",
        "step": {},
        "facts": facts | {"date": "2026-11-25T00:00:00+00:00"},
        "disturbed": [],
        "times": times,
        "bytes_per_ply": {name: 0.0, **dict.fromkeys(bench.OURS, 1000.0)},
        "writing_seconds_per_ply": dict.fromkeys(bench.OURS, 5e-7),
        "conformance": {"suite": 1, "passes": 90, "not_offered": 6, "failed": ["dead-kings"]},
    } | changes


def test_a_row_says_what_was_measured_and_what_follows():
    theirs, ours, *_ = bench.rows(result()).to_dict("records")
    assert theirs["rate"] == pytest.approx(1e5)
    assert theirs["gain"] == pytest.approx(1)
    assert ours["gain"] == ours["gain_low"] == pytest.approx(10)
    # 1e6 plies in 2e9 cycles; half of a microsecond's ply is writing.
    assert ours["per_kilocycle"] == pytest.approx(0.5)
    assert ours["share"] == pytest.approx(0.5)
    assert pd.isna(theirs["bytes_per_ply"])
    assert pd.isna(theirs["share"])


def test_what_is_written_is_read_and_stands_on_the_page(tmp_path):
    folder = tmp_path / "data" / "bench"
    path = bench.write(result("My Chess"), folder)
    assert path.name == "amd-zen3-2-cores-my-chess.json"
    assert bench.read(path) == result("My Chess")
    bench.write(result("other"), folder)
    page = tmp_path / "docs" / "bench.md"
    page.parent.mkdir()
    page.write_text("before\n<!-- bench -->\nbefore it\n<!-- /bench -->\nafter\n")
    bench_page.write_bench(tmp_path)
    text = page.read_text()
    assert "before it" not in text
    assert "| My Chess 1.0 |" in text
    assert "board + bits 10× (10 to 10)" in text
    assert "90 of 91 hold; not `dead-kings`" in text


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"schema": 2}, "schema 2, not 1"),
        ({"schema": "1"}, "of type str"),
        ({"name": "<script>"}, "'<script>' is not plain text"),
        ({"times": []}, "times are of "),
        ({"times": [{"racer": "mine"}]}, "no 'num_envs'"),
        ({"facts": {"machine": "m"}}, "no 'cores'"),
        (
            {"facts": result()["facts"] | {"system": "| a |"}},
            "'| a |' is not plain".replace("|", r"\|"),
        ),
        ({"writing_seconds_per_ply": {"x": 1.0}}, "no times of 'x'"),
    ],
)
def test_a_file_that_is_no_result_is_named(change, says, tmp_path):
    path = tmp_path / "some.json"
    path.write_text(json.dumps(result() | change))
    with pytest.raises(ConfigurationError, match=rf"some\.json is not a result of bench: .*{says}"):
        bench.read(path)


def test_no_time_of_nothing(tmp_path):
    wrong = result()
    wrong["times"][0]["seconds"] = 0
    path = tmp_path / "some.json"
    path.write_text(json.dumps(wrong))
    with pytest.raises(ConfigurationError, match="not above 0"):
        bench.read(path)


def test_the_repositorys_results_are_some_and_the_page_shows_them():
    page = (paths.ROOT / "docs" / "bench.md").read_text()
    assert "<!-- bench -->\n" in page
    assert fill(page, {"bench": bench_page.benched(paths.ROOT)}) == page


def test_what_can_not_be_raced_is_refused():
    with pytest.raises(ConfigurationError, match="no environment 'Fritz'"):
        bench.measure("Fritz", boards=[1], repeats=1, seed=0)
    for how in ({"boards": []}, {"boards": [0]}, {"repeats": 0}):
        with pytest.raises(ConfigurationError, match="must be at least 1"):
            bench.measure("cpp", **({"boards": [1], "repeats": 1, "seed": 0} | how))


@pytest.mark.system
def test_a_slow_environment_is_found_slow(tmp_path):
    name = f"{__name__}:SlowChess"
    found = bench.measure(name, boards=[64], repeats=5, seed=0, say=print)
    theirs, *ours = bench.rows(found).to_dict("records")
    assert theirs["rate"] < 64 / 0.002
    assert all(row["gain_low"] > 1 for row in ours if row["racer"] != "rungs, planes + bool")
    # As many bytes as ours, of which it is the same, and the bound is far.
    assert theirs["bytes_per_ply"] == ours[1]["bytes_per_ply"] > 4672
    assert 0 < theirs["share"] < 0.1
    assert bench.read(bench.write(found, tmp_path)) == found


@pytest.mark.system
def test_a_wrong_environment_is_found_wrong(tmp_path, capsys):
    command = ["bench", f"{__name__}:NoStalemate", "--boards", "2", "--repeats", "2"]
    assert main([*command, "--out", str(tmp_path), "--quiet"]) == 1
    (path,) = tmp_path.glob("*-nostalemate.json")
    found = bench.read(path)
    assert found["bytes_per_ply"]["NoStalemate"] == 0
    assert "stalemate-of-black" in found["conformance"]["failed"]
    assert "Rules: " in capsys.readouterr().out
