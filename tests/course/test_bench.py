"""The benchmark: a slow environment, a wrong one, and files that are not results."""

import dataclasses
import json
import time

import pytest

from rungs.conformance import PythonChess
from rungs.errors import ConfigurationError
from rungs_course import bench
from rungs_course.cli import main
from rungs_course.pages import bench as bench_page
from rungs_course.peers.ours import OUTPUTS, OurChess


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


def result(name="mine"):
    """A result in which the environment takes 10 times as long as each of ours."""
    times = [
        {"racer": racer, "num_envs": 8, "repeat": i, "plies": 1000, "seconds": seconds}
        for racer, seconds in {name: 0.01, **dict.fromkeys(OUTPUTS, 0.001)}.items()
        for i in range(5)
    ]
    facts = {"machine": "a machine", "microarchitecture": "Zen 3", "gpu": None, "cores": 2}
    facts |= {"cpu_vendor": "AuthenticAMD", "cpu_family": 25, "cpu_model": 1, "cpu_stepping": 1}
    facts |= {"clock_mhz": 2000, "commit": "abc", "rungs": "0.2.0"}
    return {
        **{"schema": bench.SCHEMA, "name": name, "version": "1.0", "step": {}, "disturbed": []},
        "facts": facts | {"date": "2026-11-25T00:00:00+00:00"},
        "times": times,
        "bytes_per_ply": {name: 0.0, **dict.fromkeys(OUTPUTS, 1000.0)},
        "writing_seconds_per_ply": dict.fromkeys(OUTPUTS, 5e-7),
        "conformance": {"suite": 1, "passes": 90, "not_offered": 6, "failed": ["dead-kings"]},
    }


def test_a_row_says_what_was_measured_and_what_follows():
    table, rung = bench.table(result()), "rungs, board + bits"
    assert table.index[-1] == "mine"  # the slowest
    slow, rung_row = table.loc["mine"], table.loc[rung]
    assert slow["rate"] == pytest.approx(1e5)
    assert [slow[name].middle for name in OUTPUTS] == pytest.approx([10] * len(OUTPUTS))
    # 1e6 plies in 2e9 cycles; half of a microsecond's ply is writing.
    assert rung_row["per_kilocycle"] == pytest.approx(0.5)
    assert rung_row["share"] == pytest.approx(0.5)
    assert slow[["bytes_per_ply", "share"]].isna().all()
    without_clock = result() | {"facts": result()["facts"] | {"clock_mhz": None}}
    assert bench.table(without_clock)["per_kilocycle"].isna().all()


def test_what_is_written_is_read_and_stands_on_the_page(tmp_path):
    folder = tmp_path / "data" / "bench"
    path = bench.write(result("My Chess"), folder)
    assert path.name == "amd-zen3-2-cores-my-chess.json"
    assert bench.read(path) == result("My Chess")
    bench.write(result("other"), folder)
    foreign = folder / "amd-zen3-2-cores-mine.json"
    foreign.write_text("precious")
    with pytest.raises(ConfigurationError, match=r"mine\.json"):
        bench.write(result("mine"), folder)
    assert foreign.read_text() == "precious"
    foreign.unlink()
    mine, other = (line for line in bench_page.benched(tmp_path).splitlines() if "Zen 3" in line)
    assert "other 1.0" in other
    for cell in ("My Chess 1.0", "100 k/s", "10× (10 to 10), 8 boards", "90 of 91", "`dead-kings`"):
        assert cell in mine


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"schema": 2}, "2"),
        ({"name": "<script>"}, "<script>"),
        ({"times": []}, "times"),
        ({"times": [{"racer": "mine"}]}, "num_envs"),
        ({"times": [row | {"seconds": 0} for row in result()["times"]]}, "0"),
        ({"facts": {"machine": "m"}}, "cores"),
        ({"facts": result()["facts"] | {"system": "| a |"}}, r"\| a \|"),
        ({"writing_seconds_per_ply": {"x": 1.0}}, "'x'"),
    ],
)
def test_a_file_that_is_no_result_is_named(change, named, tmp_path):
    path = tmp_path / "some.json"
    path.write_text(json.dumps(result() | change))
    with pytest.raises(ConfigurationError, match=rf"some\.json .*{named}"):
        bench.read(path)


@pytest.mark.parametrize(
    ("name", "boards", "repeats", "named"),
    [("Fritz", [1], 1, "Fritz"), ("cpp", [], 1, "boards"), ("cpp", [1], 0, "repeats")],
)
def test_what_can_not_be_raced_is_refused(name, boards, repeats, named):
    with pytest.raises(ConfigurationError, match=named):
        bench.measure(name, boards=boards, repeats=repeats, seed=0)


@pytest.mark.system
def test_a_slow_environment_is_found_slow(tmp_path):
    measured = bench.measure(f"{__name__}:SlowChess", boards=[64], repeats=5, seed=0)
    table = bench.table(measured)
    slow = table.loc["SlowChess"]
    assert slow["rate"] < 64 / 0.002
    assert all(slow[name].middle > 1 for name in OUTPUTS if name != "rungs, planes + bool")
    # As many bytes as ours, of which it is the same.
    assert slow["bytes_per_ply"] == table.loc["rungs, board + bool", "bytes_per_ply"] > 4672
    assert 0 < slow["share"] < 1
    assert bench.read(bench.write(measured, tmp_path)) == measured


@pytest.mark.system
def test_a_wrong_environment_is_found_wrong(tmp_path, capsys):
    command = ["bench", f"{__name__}:NoStalemate", "--boards", "2", "--repeats", "2"]
    assert main([*command, "--out", str(tmp_path), "--quiet"]) == 1
    (path,) = tmp_path.glob("*-nostalemate.json")
    measured = bench.read(path)
    assert measured["bytes_per_ply"]["NoStalemate"] == 0
    assert "stalemate-of-black" in measured["conformance"]["failed"]
    assert "Rules: " in capsys.readouterr().out
