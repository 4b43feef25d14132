"""The dashboard draws what is saved, names what is missing, and measures only when asked."""

import functools
import json
import subprocess
import sys

import ipywidgets
import pandas as pd
import platformdirs
import pytest

import rungs_course
from rungs._src.machine.describe import describe, slug
from rungs._src.native import gpp, loader
from rungs.errors import ConfigurationError, install_hint
from rungs_course import dashboard, nb10_scaling
from rungs_course.labs.lab import labs
from rungs_course.measure import peaks, results, valgrind
from rungs_course.paths import ROOT

RECORDED = ROOT / "data" / "recorded"
SAVED = ("ladder", "profile", "updates", "chess peers", "CartPole", "nodes", "learning")


@pytest.fixture
def folder(tmp_path):
    """Two tables out of those that the panels draw."""
    times = pd.DataFrame(
        [("cpp", 8, 0, 8, 0.1), ("torch", 8, 0, 8, 0.2), ("cpp", 64, 0, 64, 0.1)],
        columns=["racer", "num_envs", "repeat", "plies", "seconds"],
    )
    results.save(times, tmp_path / "13_times.csv", {"size": "smoke"})
    learnt = pd.DataFrame({"rung": "cpp", "steps": [0, 9], "seconds": [0, 2.0], "score": 0.5})
    learnt = learnt.assign(low=0.4, high=0.6)
    results.save(learnt, tmp_path / "15_evaluations.csv", {"size": "quick"})
    return tmp_path


def parts(shown):
    _, choice, stack, _ = shown.children
    return choice, stack


def chosen(shown, name):
    """What is shown once a panel is chosen: the panel, and below it the origin of its tables."""
    choice, stack = parts(shown)
    choice.value = name
    return stack.children[stack.selected_index].children


def panel(shown, name):
    return chosen(shown, name)[0]


def origin(shown, name):
    return chosen(shown, name)[1].value


def test_a_panel_is_made_when_it_is_chosen_and_kept(folder):
    shown = rungs_course.explore(folder)
    first = panel(shown, "CartPole")
    panel(shown, "learning")
    assert panel(shown, "CartPole") is first
    choice, stack = parts(shown)
    made = zip(choice.options, stack.children, strict=True)
    assert [name for name, frame in made if frame.children] == ["ladder", "CartPole", "learning"]


def test_what_is_saved_is_drawn(folder):
    shown = rungs_course.explore(folder)
    (slider,) = panel(shown, "CartPole").children[:1]
    assert slider.options == (8, 64)
    assert panel(shown, "learning").children[0].options == ("steps", "seconds")


def test_what_is_missing_is_named_with_the_notebook_that_makes_it(folder):
    shown = rungs_course.explore(folder)
    for name, table in (("ladder", "07_race.csv"), ("threads", "04_spent.csv")):
        said = panel(shown, name).value
        assert table in said
        assert f"Notebook {table[:2]}" in said
        assert str(folder) in said


def test_the_ladder_needs_the_rest_of_a_batch_too(folder):
    race = pd.DataFrame(
        [(racer, 0, 8, 0.1, "bool", 8) for racer in ("python", "cpp")],
        columns=["racer", "repeat", "plies", "seconds", "mask", "num_envs"],
    )
    results.save(race, folder / "07_race.csv", {"size": "smoke"})
    assert "07_ladder.csv" in panel(rungs_course.explore(folder), "ladder").value
    results.save(race, folder / "07_ladder.csv", {"size": "smoke", "rest_of_batch_seconds": 0.5})
    assert isinstance(panel(rungs_course.explore(folder), "ladder"), ipywidgets.interactive)


def test_labs_that_are_right_are_listed(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(platformdirs, "user_data_dir", lambda name: str(tmp_path / name))
    (tmp_path / "rungs").mkdir()
    kept = {"03a": {"right": True, "tries": 4, "gain": 2.5, "share": 0.5}}
    (tmp_path / "rungs" / "labs.json").write_text(json.dumps(kept))
    shown = panel(rungs_course.explore(folder), "labs").value
    assert "2.50×" in shown
    assert shown.count(">right<") == 1
    assert shown.count(">to do<") == len(labs()) - 1


def test_threads_are_drawn_as_the_model_was_fitted(folder):
    ways = {"alone": 3e-5, "alone, one call": 2e-5, "apart": 1e-5, "meeting, one call": 2e-5}
    ways["meeting"] = 2.1e-5
    rows = [(64, 0, *way) for way in ways.items()]
    spent = pd.DataFrame(rows, columns=["num_envs", "repeat", "way", "seconds"])
    results.save(spent, folder / "04_spent.csv", {"size": "smoke", "threads": 2})
    boards, threads, meeting, _ = panel(rungs_course.explore(folder), "threads").children
    assert (boards.value, threads.value, meeting.value) == (64, 2, 10)


def test_it_says_where_results_come_from(folder):
    said = origin(rungs_course.explore(folder), "CartPole")
    facts = results.load(folder / "13_times.csv").attrs["provenance"]
    for fact in (facts["machine"], facts["date"][:10], "size smoke", str(folder)):
        assert fact in said
    assert "size quick" in origin(rungs_course.explore(folder), "learning")
    assert len(chosen(rungs_course.explore(folder), "a game")) == 1
    run = folder / "run"  # which has its results in a folder of their own
    (run / "results").mkdir(parents=True)
    (folder / "13_times.csv").rename(run / "results" / "13_times.csv")
    assert str(run / "results") in origin(rungs_course.explore(run), "CartPole")


def test_a_folder_without_results_is_refused(tmp_path):
    with pytest.raises(ConfigurationError, match=r"nowhere.*holds no tables"):
        rungs_course.explore(tmp_path / "nowhere")


def test_numbers_of_unknown_origin_are_not_drawn(tmp_path):
    (tmp_path / "07_race.csv").write_text("racer,seconds\ncpp,1\n")
    (said,) = chosen(rungs_course.explore(tmp_path), "ladder")
    assert "07_race.csv" in said.value


@pytest.mark.parametrize("machine", sorted(path.name for path in RECORDED.iterdir()))
def test_what_was_recorded_is_drawn(machine):
    if not dashboard._has_tables(RECORDED / machine):
        pytest.skip("nothing recorded that a panel draws")
    shown = rungs_course.explore(RECORDED / machine)
    drawn = [panel(shown, name) for name in SAVED]
    for each in drawn:  # what wasn't recorded there is named
        assert isinstance(each, ipywidgets.interactive) or "No table: no" in each.value, each.value
    assert any(isinstance(each, ipywidgets.interactive) for each in drawn)


def test_tables_of_the_last_run_come_first_then_this_machines_then_any(
    tmp_path, folder, monkeypatch
):
    monkeypatch.setattr(dashboard, "ROOT", tmp_path / "tree")
    table = (folder / "13_times.csv").read_text()

    def add(*path):
        target = (tmp_path / "tree" / "data").joinpath(*path)
        target.mkdir(parents=True)
        (target / "13_times.csv").write_text(table)
        return origin(rungs_course.explore(), "CartPole")

    assert "none is here" in panel(rungs_course.explore(), "CartPole").value
    assert "data/recorded/a" in add("recorded", "a")
    assert f"data/recorded/{slug()}" in add("recorded", slug())
    assert "data/run/results" in add("run", "results")
    (tmp_path / "tree" / "data" / "recorded" / "a" / "15_evaluations.csv").write_text(
        (folder / "15_evaluations.csv").read_text()
    )
    assert "data/recorded/a" in origin(rungs_course.explore(), "learning")


def test_without_any_results_a_game_and_live_panels_work(tmp_path, monkeypatch):
    monkeypatch.setattr(dashboard, "ROOT", tmp_path)
    monkeypatch.setattr(dashboard, "_PAPER", tmp_path / "none.csv")
    measure, brief = nb10_scaling.strong, {"seed": 0, "steps": 2, "repeats": 2, "warmup": 0}
    monkeypatch.setattr(
        nb10_scaling,
        "strong",
        lambda boards, threads, mask, **_: measure(16, threads, mask=mask, **brief),
    )
    shown = rungs_course.explore()
    for name in SAVED:
        assert "none is here" in panel(shown, name).value
    (slider, _) = panel(shown, "a game").children
    assert (slider.min, slider.value) == (1, slider.max)
    *_, guessing, _ = panel(shown, "scaling, live").children
    assert guessing.children[1].disabled


def test_live_panels_are_drawn_over_what_this_machine_measured(folder, monkeypatch):
    rows = [(threads, 512, 0, 1 / threads) for threads in (1, 2, 3)]
    strong = pd.DataFrame(rows, columns=["threads", "num_envs", "repeat", "seconds"])
    results.save(strong, folder / "10_strong.csv", {"size": "smoke"})

    def threads():
        return panel(rungs_course.explore(folder), "scaling, live").children[2].options

    monkeypatch.setattr(dashboard, "_strong", lambda cores: strong.query("threads < 3"))
    assert threads() == (1, 2, 3)
    text = (folder / "10_strong.csv").read_text()
    cores = describe()["cores"]
    other = text.replace(f"# cores: {cores}\n", f"# cores: {cores + 1}\n")
    (folder / "10_strong.csv").write_text(other)
    assert threads() == (1, 2)


def test_the_roofline_needs_valgrind(folder, monkeypatch):
    monkeypatch.setattr(valgrind, "have_valgrind", lambda: False)
    assert "apt-get install valgrind" in panel(rungs_course.explore(folder), "roofline, live").value


def briefly_measured(measure, threads, *, repeats, seconds):
    return measure(threads, repeats=1, seconds=seconds / 100)


def test_the_roofline_is_measured_where_no_table_is_of_this_machine(folder, monkeypatch):
    for measure in (peaks.measure_compute, peaks.measure_bandwidth):
        briefly = functools.partial(briefly_measured, measure)
        monkeypatch.setattr(peaks, measure.__name__, briefly)
    monkeypatch.setattr(peaks, "working_sets", lambda threads: {"L1": 2**14, "memory": 2**22})
    work = dict.fromkeys(("operations", "instructions", "bytes"), 1000.0)
    monkeypatch.setattr(valgrind, "have_valgrind", lambda: True)
    monkeypatch.setattr(valgrind, "work_per_ply", lambda boards, steps, mask: work)
    # What valgrind can run is compiled for it alone.
    monkeypatch.setattr(gpp, "load", lambda march: loader.load())
    *_, guessing, _ = panel(rungs_course.explore(folder), "roofline, live").children
    assert guessing.children[1].disabled


@pytest.mark.system
@pytest.mark.parametrize("package", ["ipywidgets", "pandas", "matplotlib", "torch"])
def test_a_missing_package_is_named_with_its_extra(package):
    code = f"""
import sys, rungs_course

class Absent:
    def find_spec(name, path=None, target=None):
        if name.split(".")[0] == {package!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Absent)
rungs_course.explore()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stderr.splitlines()[-1] == (
        f"rungs.errors.UnavailableError: rungs_course.explore() needs {package}: "
        f"{install_hint('course')}"
    )
