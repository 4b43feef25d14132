"""What notebooks call: source code on pages, guesses, and what a disturbed run may conclude."""

import json
import re

import pandas as pd
import pytest

from rungs.errors import ConfigurationError
from rungs_course import notebook, paths
from rungs_course.measure import results
from rungs_course.measure.noise import factor
from rungs_course.notebook import Guesses, NotebookRun, in_words, source
from rungs_course.plots import axes

FASTER, SLOWER = factor([1.5, 1.4, 1.6, 1.5, 1.5]), factor([0.5, 0.4, 0.6, 0.5, 0.5])
NOISE, FEW = factor([1.1, 0.9, 1.3, 1.1, 1.1]), factor([2.0, 2.0])
OTHERS = {"other programs used {:.0%}": 0.4}
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


@pytest.fixture
def run(shown, found, tmp_path):
    return NotebookRun("07", tmp_path)


@pytest.fixture
def folder(tmp_path):
    """Where a machine's results are recorded."""
    return tmp_path / "data" / "recorded" / "a-machine"


def drawn(frame):
    figure, ax = axes()
    ax.plot(frame["boards"], frame["seconds"])
    return figure


def judged(run, of):
    return run.judge(of, larger="faster", smaller="slower")


def test_a_sentence_follows_the_measurement(run, shown, found):
    assert judged(run, FASTER) == "faster"
    assert judged(run, SLOWER) == "slower"
    assert run.judge(FASTER, larger="more", smaller="fewer", than=2.0) == "fewer"


@pytest.mark.parametrize("of", [NOISE, FEW])
def test_within_noise_nothing_is_claimed(run, shown, found, of):
    text = judged(run, of)
    assert "faster" not in text
    assert "slower" not in text


def test_verdicts_are_a_table_whose_rows_are_judged_one_by_one(run, shown, found):
    factors = {("a", "b"): FASTER, ("c", "d"): SLOWER, ("e", "f"): NOISE}
    titles = ["first", "second", "speed"]
    run.verdicts(factors, titles, larger="faster", smaller="slower")
    head, _, *rows = shown[-1].splitlines()
    assert head == "| first | second | speed | verdict |"
    assert [row.split(" | ")[-1].removesuffix(" |") for row in rows] == [
        judged(run, each) for each in (FASTER, SLOWER, NOISE)
    ]
    assert rows[0].startswith("| a | b | ")


def test_a_disturbed_run_concludes_nothing_and_says_so_at_the_top(run, shown, found):
    found.update(OTHERS)
    text = judged(run, FASTER)
    assert "faster" not in text
    assert "disturbed" in text
    found.update(dict.fromkeys(OTHERS, 0.3))
    assert run.disturbed
    assert "disturbed" in shown[-1]
    assert "40%" in shown[-1]
    assert "30%" not in shown[-1]


def test_an_undisturbed_figure_stands_alone(run, shown, found):
    figure = run.figure("race", drawn, FRAME)
    assert shown == [figure]


def test_a_disturbed_figure_is_marked_and_the_recorded_one_is_below(run, shown, found, folder):
    results.save(FRAME.assign(seconds=1.0), folder / "07_race.csv", {"size": "full"})
    found.update(OTHERS)
    figure = run.figure("race", drawn, FRAME)
    own, why, source, recorded = shown[-4:]
    assert own is figure
    assert [each.get_text() for each in own.texts] == ["disturbed run"]
    assert "40%" in why
    assert "full" in source
    assert list(recorded.axes[0].lines[0].get_ydata()) == [1.0, 1.0]
    assert not recorded.texts


def test_a_figure_of_several_tables_is_recorded_with_all_of_them(run, shown, found, folder):
    def both(race, roof):
        figure = drawn(race)
        figure.axes[0].axhline(roof["peak"][0])
        return figure

    roof = pd.DataFrame({"peak": [5.0]})
    found.update(OTHERS)
    results.save(FRAME, folder / "07_race.csv", {"size": "full"})
    run.figure("race", both, FRAME, roof=roof)
    assert "No run" in shown[-1]
    results.save(roof.assign(peak=7.0), folder / "07_roof.csv", {"size": "full"})
    run.figure("race", both, FRAME, roof=roof)
    assert list(shown[-1].axes[0].lines[1].get_ydata()) == [7.0, 7.0]


@pytest.mark.parametrize(
    ("record", "said"),
    [
        (FRAME.drop(columns="boards"), "No run"),  # of another form
        (FRAME.assign(boards=64), "can't be drawn"),
    ],
)
def test_a_record_that_cannot_be_drawn_ends_nothing(run, shown, found, folder, record, said):
    def of_one_board(frame):
        return drawn(frame.set_index("boards").loc[[1]].reset_index())

    results.save(record, folder / "07_race.csv", {"size": "full"})
    found.update(OTHERS)
    run.figure("race", of_one_board, FRAME)
    assert said in shown[-1]


def test_what_comes_after_a_disturbed_figure_is_measured_anew(run, shown, found, monkeypatch):
    found.update(OTHERS)
    run.figure("race", drawn, FRAME)
    found.clear()
    assert run.disturbed  # what is written below the figure is about the same measurement
    monkeypatch.setattr(notebook, "_MIN_MEASUREMENT", -1.0)
    assert not run.disturbed
    assert judged(run, FASTER) == "faster"


def test_threads_that_share_cores_by_design_are_known(shown, tmp_path, monkeypatch):
    asked = []

    def disturbances(*_, threads_share_cores):
        asked.append(threads_share_cores)
        return {}

    monkeypatch.setattr(notebook, "disturbances", disturbances)
    run = NotebookRun("07", tmp_path)
    with run.crowded():
        pass
    assert run.disturbed is False
    assert asked == [False, True, False]


LOOPS = "cpp/rungs/cpu_loops.hpp"


def code(file, *names):
    shown = source(file, *names).data
    assert shown.endswith(f"*[{file}](../{file})*")
    return shown.split("```")[1].split("\n", 1)[1]


@pytest.mark.parametrize(
    ("file", "name", "start", "end"),
    [
        # A function from its comment to its last brace.
        (LOOPS, "openmp.step", "// As serial::step.", " - illegal : ended;\n}\n"),
        # A template, a kernel, a method at the left margin, one of an aligned struct.
        (LOOPS, "openmp.detail.share", "// Within a parallel region:", "}\n"),
        ("cpp/rungs/cuda.hpp", "rungs_chess_step", "// Plays actions that are all legal", "}\n"),
        ("cpp/course/mpi_calls.cpp", "noted", "template <class Call>\nint noted(", "}\n"),
        ("cpp/chess/position.hpp", "Position.occupied", "Bitboard occupied() const {", "\n}\n"),
        ("cpp/course/step_planes.hpp", "memory.Board.write_legal", "// `mask` begins on", "}\n"),
        ("lib/rungs_course/plots.py", "axes", "def axes(", "\n"),
        ("lib/rungs_course/nb14_cost_model.py", "Update", "@dataclasses.dataclass(", "\n"),
        ("lib/rungs_course/nb14_cost_model.py", "Update.compute", "def compute(self, pos", "\n"),
    ],
)
def test_the_code_that_a_page_shows_is_the_files(file, name, start, end):
    shown = code(file, name)
    assert shown.startswith(start)
    assert shown.endswith(end)
    lines = [line.strip() for line in (paths.ROOT / file).read_text().splitlines()]
    assert all(line.strip() in lines for line in shown.splitlines())
    last = name.rpartition(".")[2]
    assert re.search(rf"\b{last}\b", shown)
    assert "MPI_" not in shown  # a call that has braces is no part of what it calls


def test_several_parts_and_whole_files_are_in_the_order_of_the_page():
    shown = code(LOOPS, "openmp.LoopSettings", "openmp.Schedule")
    assert shown.index("struct LoopSettings {") < shown.index("enum class Schedule")
    assert code(LOOPS) == (paths.ROOT / LOOPS).read_text()


@pytest.mark.parametrize(
    ("file", "names", "wrong"),
    [
        ("cpp/none.hpp", (), r"no C\+\+ or Python file 'cpp/none.hpp'"),
        ("README.md", (), r"no C\+\+ or Python file 'README.md'"),
        (LOOPS, ("accepts",), "defines no 'accepts'"),  # only declared, and called
        ("lib/rungs_course/plots.py", ("axes.nothing",), r"plots.py defines no 'axes.nothing'"),
    ],
)
def test_what_is_no_code_is_named(file, names, wrong):
    with pytest.raises(ConfigurationError, match=wrong):
        source(file, *names)


@pytest.fixture
def file(tmp_path):
    return tmp_path / "user" / "guesses.json"


def typed(asked, text):
    """Types into what `ask` returned; returns what it answers."""
    number, answer = asked.children[1].children
    number.value = text
    return answer.value


def test_a_guess_stands_beside_what_came_out(file):
    guesses = Guesses("07", file)
    assert "Kept" in typed(guesses.ask("gain", "How many times?", "×"), "1,000")
    typed(guesses.ask("share", "Which share?", "%"), "50")
    guesses.ask("rate", "How fast?", "plies/s")
    table = guesses.table(gain=250, share=62.5, rate=12345).set_index("question")
    assert table.loc["How many times?"].tolist() == ["1,000×", "250×", "4× too high"]
    assert table.loc["Which share?"].tolist() == ["50%", "62.5%", "12.5 points too low"]
    assert table.loc["How fast?"].tolist() == ["no guess", "12,345 plies/s", ""]
    assert "62.5%" in guesses.beside(gain=250, share=62.5, rate=12345).data


def test_a_guess_is_kept_for_the_next_time_and_each_notebook_has_its_own(file):
    typed(Guesses("07", file).ask("gain", "How many times?", "×"), "30")
    typed(Guesses("08", file).ask("gain", "How many times?", "×"), "2")
    again = Guesses("07", file).ask("gain", "How many times?", "×")
    assert again.children[1].children[0].value == "30"


@pytest.mark.parametrize("text", ["many", "", "1..2", "inf", "nan"])
def test_what_is_no_number_is_said_and_not_kept(file, text):
    asked = Guesses("07", file).ask("gain", "How many times?", "×")
    typed(asked, "3")
    assert typed(asked, text) == f"{text!r} is not a number"
    assert json.loads(file.read_text())["07"]["gain"]["guess"] == 3


def test_what_was_asked_must_be_measured(file):
    guesses = Guesses("07", file)
    guesses.ask("gain", "How many times?", "×")
    for measured in ({}, {"gain": 1, "loss": 2}):
        with pytest.raises(ConfigurationError, match="loss" if measured else "gain"):
            guesses.beside(**measured)


@pytest.mark.parametrize("text", ["[]", "nothing", '{"07": 3}', '{"07": {"gain": {"guess": "x"}}}'])
def test_a_file_of_something_else_is_refused(file, text):
    file.parent.mkdir()
    file.write_text(text)
    with pytest.raises(ConfigurationError, match="holds no guesses"):
        Guesses("07", file)


def test_a_factor_claims_no_more_than_its_noise_allows():
    assert in_words(factor([1.5, 1.4, 1.6, 1.5, 1.5])) == "1.5× (1.4 to 1.6)"
    noise = in_words(factor([1.1, 0.9, 1.3, 1.1, 1.1]))
    assert noise == "1.1× (0.9 to 1.3), within the noise of this run"
    few = in_words(factor([2, 2]))
    assert few == "2× (2 to 2), too few repeats to tell noise"
