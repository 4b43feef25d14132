"""The dashboard draws what is saved, names what is missing, and measures only when asked."""

import json
import shutil
import subprocess
import sys

import ipywidgets
import pandas as pd
import platformdirs
import pytest

import rungs_course
from rungs.errors import ConfigurationError, install_hint
from rungs.machine import describe
from rungs_course import dashboard, plots, widgets
from rungs_course.labs.lab import labs
from rungs_course.machine.naming import slug
from rungs_course.measure import results, valgrind
from rungs_course.paths import ROOT

MACHINES = sorted({path.parent for path in (ROOT / "data" / "recorded").glob("*/*.csv")})
SAVED = ("ladder", "profile", "updates", "chess peers", "CartPole", "nodes", "learning")
SAVED += ("ranks", "a warp")
STRONG = pd.DataFrame({"threads": [1, 2], "num_envs": 512, "repeat": 0, "seconds": [1.0, 0.5]})


@pytest.fixture(autouse=True)
def texts_in_the_place_of_images(monkeypatch):
    monkeypatch.setattr(widgets, "image", plots.alternative)


@pytest.fixture
def folder(tmp_path):
    """Returns a folder with two tables out of those that the panels draw."""
    times = pd.DataFrame({"racer": "cpp", "num_envs": [8, 64], "repeat": 0, "seconds": 0.1})
    results.save(times.assign(plies=8), tmp_path / "13_times.csv", {"size": "smoke"})
    score = pd.DataFrame({"rung": "cpp", "steps": [0, 9], "seconds": [0, 2.0], "score": 0.5})
    score = score.assign(low=0.4, high=0.6)
    results.save(score, tmp_path / "15_evaluations.csv", {"size": "quick"})
    return tmp_path


def chosen(explorer, name):
    """Chooses a panel; returns it and, if it has tables, their origin."""
    _, choice, stack, _ = explorer.children
    choice.value = name
    return stack.children[stack.selected_index].children


def panel(explorer, name):
    return chosen(explorer, name)[0]


def origin(folder, name):
    return chosen(rungs_course.explore(folder), name)[1].value


def test_a_missing_table_program_or_folder_is_named(folder, monkeypatch):
    monkeypatch.setattr(valgrind, "have_valgrind", lambda: False)
    explorer = rungs_course.explore(folder)
    text = panel(explorer, "ladder").value
    assert "07_race.csv" in text
    assert str(folder) in text
    assert "valgrind" in panel(explorer, "roofline, live").value
    with pytest.raises(ConfigurationError, match="nowhere"):
        rungs_course.explore(folder / "nowhere")


def test_labs_that_are_right_are_listed(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(platformdirs, "user_data_dir", lambda name: str(tmp_path / name))
    (tmp_path / "rungs").mkdir()
    progress = {"03a": {"right": True, "tries": 4, "gain": 2.5, "share": 0.5}}
    (tmp_path / "rungs" / "labs.json").write_text(json.dumps(progress))
    table = panel(rungs_course.explore(folder), "labs").value
    assert "2.50×" in table
    assert table.count(">right<") == 1
    assert table.count(">to do<") == len(labs()) - 1


def test_a_panel_shows_where_its_tables_come_from(folder):
    facts = results.load(folder / "13_times.csv").attrs["provenance"]
    for fact in (facts["machine"], facts["date"][:10], "smoke", str(folder)):
        assert fact in origin(folder, "CartPole")
    assert "quick" in origin(folder, "learning")
    assert len(chosen(rungs_course.explore(folder), "a game")) == 1
    run = folder / "run"  # has its results in a folder of their own
    (run / "results").mkdir(parents=True)
    (folder / "13_times.csv").rename(run / "results" / "13_times.csv")
    assert str(run / "results") in origin(run, "CartPole")


@pytest.mark.parametrize("machine", MACHINES, ids=lambda path: path.name)
def test_what_was_recorded_is_drawn(machine):
    """A machine with a GPU may have recorded the tables of few panels."""
    explorer = rungs_course.explore(machine)
    panels = [panel(explorer, name) for name in SAVED]
    drawn = [isinstance(widget, ipywidgets.interactive) for widget in panels]
    assert any(drawn)
    assert all(here or ".csv" in widget.value for here, widget in zip(drawn, panels, strict=True))


def test_tables_of_the_last_run_come_first_then_this_machines_then_any(
    tmp_path, folder, monkeypatch
):
    monkeypatch.setattr(dashboard, "ROOT", tmp_path / "tree")
    for place in ("recorded/a", f"recorded/{slug()}", "run/results"):
        target = tmp_path / "tree" / "data" / place
        target.mkdir(parents=True)
        shutil.copy(folder / "13_times.csv", target)
        assert f"data/{place}" in origin(None, "CartPole")
    (folder / "15_evaluations.csv").rename(tmp_path / "tree/data/recorded/a/15_evaluations.csv")
    assert "data/recorded/a" in origin(None, "learning")


def test_without_any_results_a_game_and_live_panels_work(tmp_path, monkeypatch):
    monkeypatch.setattr(dashboard, "ROOT", tmp_path)
    monkeypatch.setattr(dashboard, "_strong", lambda cores: STRONG)
    explorer = rungs_course.explore()
    assert not any(isinstance(panel(explorer, name), ipywidgets.interactive) for name in SAVED)
    assert isinstance(panel(explorer, "a game"), ipywidgets.interactive)
    *_, guessing, _ = panel(explorer, "scaling, live").children
    assert guessing.children[1].disabled


def test_live_panels_are_drawn_over_what_this_machine_measured(folder, monkeypatch):
    here = pd.concat([STRONG, STRONG.tail(1).assign(threads=3)])
    results.save(here, folder / "10_strong.csv", {"size": "smoke"})
    monkeypatch.setattr(dashboard, "_strong", lambda cores: STRONG)

    def threads():
        return panel(rungs_course.explore(folder), "scaling, live").children[2].options

    assert threads() == (1, 2, 3)
    text = (folder / "10_strong.csv").read_text()
    cores = describe()["cores"]
    other = text.replace(f"# cores: {cores}\n", f"# cores: {cores + 1}\n")
    (folder / "10_strong.csv").write_text(other)
    assert threads() == (1, 2)


@pytest.mark.system
@pytest.mark.parametrize("package", ["ipywidgets", "pandas", "matplotlib", "torch"])
def test_a_missing_package_is_named_with_its_extra(package):
    code = f"import sys, rungs_course; sys.modules[{package!r}] = None; rungs_course.explore()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    error = done.stderr.splitlines()[-1]
    assert "UnavailableError" in error
    assert package in error
    assert install_hint("course") in error
