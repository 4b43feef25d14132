"""What a disturbed run of a notebook shows, and what it may conclude."""

import pandas as pd
import pytest

from rungs_course import notebook
from rungs_course.measure import results
from rungs_course.measure.noise import factor
from rungs_course.notebook import NotebookRun
from rungs_course.plots import axes

FASTER, SLOWER = factor([1.5, 1.4, 1.6, 1.5, 1.5]), factor([0.5, 0.4, 0.6, 0.5, 0.5])
NOISE, FEW = factor([1.1, 0.9, 1.3, 1.1, 1.1]), factor([2.0, 2.0])
FRAME = pd.DataFrame({"boards": [1, 2], "seconds": [3.0, 4.0]})


@pytest.fixture
def shown(monkeypatch):
    """What is displayed, in order: texts and figures."""
    found = []
    monkeypatch.setattr(notebook, "display", found.append)
    monkeypatch.setattr(notebook, "say", found.append)
    monkeypatch.setattr(notebook, "live", lambda: found.append)
    return found


@pytest.fixture
def found(monkeypatch):
    """What disturbs measurements."""
    reasons = {}
    monkeypatch.setattr(notebook, "disturbances", lambda *_, **how: dict(reasons))
    return reasons


def drawn(frame):
    figure, ax = axes()
    ax.plot(frame["boards"], frame["seconds"])
    return figure


def judged(run, of):
    return run.judge(of, larger="faster", smaller="slower")


def test_a_sentence_follows_the_measurement(shown, found):
    run = NotebookRun("07")
    assert judged(run, FASTER) == "faster"
    assert judged(run, SLOWER) == "slower"
    assert run.judge(FASTER, larger="more", smaller="fewer", than=2.0) == "fewer"


def test_within_noise_nothing_is_claimed(shown, found):
    run = NotebookRun("07")
    for of in (NOISE, FEW):
        text = judged(run, of)
        assert "faster" not in text
        assert "slower" not in text
        assert "tell" in text


def test_a_disturbed_run_concludes_nothing_and_says_so_at_the_top(shown, found, tmp_path):
    run = NotebookRun("07", tmp_path)
    found["other programs used {:.0%}"] = 0.4
    text = judged(run, FASTER)
    assert "faster" not in text
    assert "disturbed" in text
    found["other programs used {:.0%}"] = 0.3
    assert run.disturbed
    assert "disturbed" in shown[-1]
    assert "40%" in shown[-1]
    assert "30%" not in shown[-1]


def test_an_undisturbed_figure_stands_alone(shown, found, tmp_path):
    figure = NotebookRun("07", tmp_path).figure("race", drawn, FRAME)
    assert shown == [figure]


def test_a_disturbed_figure_is_marked_and_the_recorded_one_is_below(shown, found, tmp_path):
    path = tmp_path / "data" / "recorded" / "a-machine" / "07_race.csv"
    results.save(FRAME.assign(seconds=1.0), path, {"size": "full"})
    run = NotebookRun("07", tmp_path)
    found["other programs used {:.0%}"] = 0.4
    figure = run.figure("race", drawn, FRAME)
    own, why, source, recorded = shown[-4:]
    assert own is figure
    assert [each.get_text() for each in own.texts] == ["disturbed run"]
    assert "40%" in why
    assert "full" in source
    assert list(recorded.axes[0].lines[0].get_ydata()) == [1.0, 1.0]
    assert not recorded.texts


def test_a_figure_of_several_tables_is_recorded_with_all_of_them(shown, found, tmp_path):
    def both(race, roof):
        figure = drawn(race)
        figure.axes[0].axhline(roof["peak"][0])
        return figure

    roof = pd.DataFrame({"peak": [5.0]})
    folder = tmp_path / "data" / "recorded" / "a-machine"
    run = NotebookRun("07", tmp_path)
    found["other programs used {:.0%}"] = 0.4
    results.save(FRAME, folder / "07_race.csv", {"size": "full"})
    run.figure("race", both, FRAME, roof=roof)
    assert "No run" in shown[-1]
    results.save(roof.assign(peak=7.0), folder / "07_roof.csv", {"size": "full"})
    run.figure("race", both, FRAME, roof=roof)
    assert list(shown[-1].axes[0].lines[1].get_ydata()) == [7.0, 7.0]


def test_a_record_of_another_form_is_not_drawn(shown, found, tmp_path):
    path = tmp_path / "data" / "recorded" / "a-machine" / "07_race.csv"
    results.save(FRAME.drop(columns="boards"), path, {"size": "full"})
    run = NotebookRun("07", tmp_path)
    found["other programs used {:.0%}"] = 0.4
    run.figure("race", drawn, FRAME)
    assert "No run" in shown[-1]


def test_what_comes_after_a_disturbed_figure_is_measured_anew(shown, found, tmp_path, monkeypatch):
    run = NotebookRun("07", tmp_path)
    found["other programs used {:.0%}"] = 0.4
    run.figure("race", drawn, FRAME)
    found.clear()
    assert run.disturbed  # what is written below the figure is about the same measurement
    monkeypatch.setattr(notebook, "_MEASURING", -1.0)
    assert not run.disturbed
    assert judged(run, FASTER) == "faster"


def test_threads_that_share_cores_by_design_are_known(shown, tmp_path, monkeypatch):
    asked = []
    monkeypatch.setattr(
        notebook,
        "disturbances",
        lambda *_, threads_share_cores: asked.append(threads_share_cores) or {},
    )
    run = NotebookRun("07", tmp_path)
    with run.crowded():
        pass
    assert run.disturbed is False
    assert asked == [False, True, False]


def test_a_record_that_cannot_be_drawn_so_ends_nothing(shown, found, tmp_path):
    folder = tmp_path / "data" / "recorded" / "a-machine"
    results.save(FRAME.assign(boards=64), folder / "07_race.csv", {"size": "full"})

    def of_one_board(frame):
        return drawn(frame.set_index("boards").loc[[1]].reset_index())

    run = NotebookRun("07", tmp_path)
    found["other programs used {:.0%}"] = 0.4
    run.figure("race", of_one_board, FRAME)
    assert "can't be drawn" in shown[-1]
