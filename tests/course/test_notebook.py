"""What notebooks call: judgements, figures of disturbed runs, source code, guesses."""

import ast
import json
import math
import re
from unittest import mock

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from rungs.errors import ConfigurationError
from rungs_course import notebook, paths
from rungs_course.measure import results
from rungs_course.measure.noise import MIN_REPEATS, factor
from rungs_course.notebook import Guesses, NotebookRun, at_size, source
from rungs_course.outline import numbered
from rungs_course.plots import axes
from tests.course.notebooks import code_of

FASTER, SLOWER = factor([1.5, 1.4, 1.6, 1.5, 1.5]), factor([0.5, 0.4, 0.6, 0.5, 0.5])
NOISE, FEW = factor([1.1, 0.9, 1.3, 1.1, 1.1]), factor([2.0, 2.0])
EQUAL, INFINITE = factor([1.0, 0.97, 1.03, 1.02, 1.01]), factor([math.inf] * 5)
OTHERS = {"other programs used {:.0%}": 0.4}
FRAME = pd.DataFrame({"boards": [1, 2], "seconds": [3.0, 4.0]})
NOTEBOOKS = numbered(paths.ROOT / "notebooks").values()


@pytest.fixture
def displayed(monkeypatch):
    """Returns what is displayed, in order: texts and figures."""
    outputs = []
    monkeypatch.setattr(notebook, "display", outputs.append)
    monkeypatch.setattr(notebook, "say", outputs.append)
    monkeypatch.setattr(notebook, "image", lambda figure: figure)
    monkeypatch.setattr(notebook, "live", lambda: outputs.append)
    return outputs


@pytest.fixture
def reasons(monkeypatch):
    reasons = {}
    monkeypatch.setattr(notebook, "disturbances", lambda *_, **options: dict(reasons))
    return reasons


@pytest.fixture
def run(displayed, reasons, tmp_path):
    return NotebookRun("07", "smoke", 3, tmp_path / "run", tmp_path / "pictures", root=tmp_path)


@pytest.fixture
def record(tmp_path):
    """Returns a function that records a table of a machine."""

    def save(frame, name):
        path = tmp_path / "data" / "recorded" / "a-machine" / name
        results.save(frame, path, {"size": "full"})

    return save


def draw(frame):
    figure, ax = axes()
    ax.plot(frame["boards"], frame["seconds"])
    return figure


def judged(run, factor, than=1.0):
    with mock.patch.object(notebook, "say") as say:
        words = {"larger": "faster", "smaller": "slower"}
        run.verdicts({"it": factor}, ["", "factor"], **words, than=than)
    return say.call_args.args[0].rstrip(" |").rpartition("| ")[2]


def test_a_verdict_follows_the_measurement(run):
    assert judged(run, FASTER) == "faster"
    assert judged(run, SLOWER) == judged(run, FASTER, than=2.0) == "slower"
    assert "3%" in judged(run, EQUAL)


@pytest.mark.parametrize("factor", [NOISE, FEW, INFINITE])
def test_within_noise_nothing_is_claimed(run, factor):
    assert not re.search("faster|slower|%", judged(run, factor))


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_only_verdicts_compare_a_factor(notebook):
    for node in ast.walk(code_of(notebook)):
        if isinstance(node, ast.Attribute):
            assert node.attr not in ("beyond", "judged"), ast.unparse(node)
        if isinstance(node, ast.Compare):
            names = {n.attr for n in ast.walk(node) if isinstance(n, ast.Attribute)}
            assert not names & {"middle", "low", "high"}, ast.unparse(node)


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_every_size_has_enough_repeats_to_judge(notebook):
    assigned = [node for node in code_of(notebook).body if isinstance(node, ast.Assign)]
    assigned = [n for n in assigned if re.match(r"at_size\(|{'smoke'", ast.unparse(n.value))]
    for size in ("smoke", "quick", "full"):
        values = {"at_size": at_size, "size": size}
        exec("\n".join(map(ast.unparse, assigned)), values)
        repeats = [value for name, value in values.items() if "repeats" in name]
        assert repeats
        for number in repeats:  # where by size, the most are judged
            assert max(number.values() if isinstance(number, dict) else [number]) >= MIN_REPEATS


def test_verdicts_are_a_table_whose_rows_are_judged_one_by_one(run, displayed):
    factors = {("a", "b"): FASTER, ("c", "d"): SLOWER, ("e", "f"): NOISE}
    run.verdicts(factors, ["first", "second", "speed"], larger="faster", smaller="slower")
    _, _, *rows = [line.strip("| ").split(" | ") for line in displayed[-1].splitlines()]
    assert [tuple(row[:2]) for row in rows] == [*factors]
    assert [row[-1] for row in rows] == [judged(run, factor) for factor in factors.values()]


def test_a_disturbance_widens_intervals_by_the_share_of_time_that_one_of_the_two_may_have_lost(
    run, displayed, reasons
):
    # Of two with the same speed, one loses 40% of its time in each repeat.
    lost = factor(np.random.default_rng(0).uniform(0.99, 1.01, 9) / (1 - 0.4))
    assert judged(run, lost) == "faster"
    reasons.update(OTHERS)
    assert not re.search("faster|slower|%", judged(run, lost))
    assert judged(run, factor([10.0, 9.0, 11.0, 10.0, 10.0])) == "faster"
    run.verdicts({"a": FASTER}, ["row", "speed"])
    assert "0.84" in displayed[-1]
    assert "2.67" in displayed[-1]


def test_the_worst_disturbance_is_at_the_top(run, displayed, reasons):
    reasons.update(OTHERS)
    assert run.disturbed
    reasons.update(dict.fromkeys(OTHERS, 0.3))
    assert run.was_disturbed
    assert "40%" in displayed[-1]
    assert "30%" not in displayed[-1]


def test_a_figure_saves_its_tables_and_its_picture(run, tmp_path):
    run.figure("race", lambda race, others: draw(race), FRAME, others=FRAME.assign(boards=7))
    folder = tmp_path / "run" / "results"
    race = results.load(folder / "07_race.csv")
    pd.testing.assert_frame_equal(race, FRAME)
    assert set(results.load(folder / "07_others.csv")["boards"]) == {7}
    assert race.attrs["provenance"]["size"] == "smoke"
    assert race.attrs["provenance"]["seed"] == "3"
    assert (tmp_path / "pictures" / "07_race.png").read_bytes()[1:4] == b"PNG"


def figures(outputs):
    return [output for output in outputs if isinstance(output, Figure)]


def test_the_recorded_figure_comes_first_in_the_same_axes_and_a_disturbed_one_is_marked(
    run, displayed, reasons, record
):
    record(FRAME.assign(seconds=[1.0, 40.0]), "07_race.csv")
    reasons.update(OTHERS)
    run.figure("race", draw, FRAME)
    recorded, this = figures(displayed)
    assert "full" in displayed[displayed.index(recorded) - 1]
    assert list(recorded.axes[0].lines[0].get_ydata()) == [1.0, 40.0]
    assert list(this.axes[0].lines[0].get_ydata()) == [3.0, 4.0]
    assert recorded.axes[0].get_ylim() == this.axes[0].get_ylim()
    assert this.axes[0].get_ylim()[1] > 40
    assert (len(recorded.texts), len(this.texts)) == (0, 1)
    assert "40%" in displayed[-2]


def test_a_figure_of_several_tables_is_recorded_with_all_of_them(run, displayed, record):
    def draw_both(race, roof):
        return draw(race.assign(seconds=roof["peak"][0]))

    roof = pd.DataFrame({"peak": [5.0]})
    record(FRAME, "07_race.csv")
    run.figure("race", draw_both, FRAME, roof=roof)
    assert len(figures(displayed)) == 1
    record(roof.assign(peak=7.0), "07_roof.csv")
    run.figure("race", draw_both, FRAME, roof=roof)
    peaks = [figure.axes[0].lines[0].get_ydata()[0] for figure in figures(displayed)]
    assert peaks == [5, 7, 5]


@pytest.mark.parametrize("table", [FRAME.drop(columns="boards"), FRAME.assign(boards=64)])
def test_a_record_that_cannot_be_drawn_ends_nothing(run, displayed, record, table):
    def draw_one_board(frame):
        return draw(frame.set_index("boards").loc[[1]].reset_index())

    record(table, "07_race.csv")
    run.figure("race", draw_one_board, FRAME)
    assert len(figures(displayed)) == 1


def test_what_comes_after_a_disturbed_figure_is_measured_anew(run, reasons, monkeypatch):
    reasons.update(OTHERS)
    run.figure("race", draw, FRAME)
    reasons.clear()
    assert run.disturbed  # what is written below the figure is about the same measurement
    monkeypatch.setattr(notebook, "_MIN_MEASUREMENT", -1.0)
    assert not run.disturbed
    assert judged(run, FASTER) == "faster"


def test_threads_that_share_cores_by_design_are_known(run, monkeypatch):
    arguments = []
    monkeypatch.setattr(notebook, "disturbances", lambda *_, **given: arguments.append(given) or {})
    with run.crowded():
        pass
    assert not run.disturbed
    assert [given["threads_share_cores"] for given in arguments] == [False, True, False]


def test_what_is_not_measured_disturbs_nothing(run, monkeypatch):
    spans = []
    monkeypatch.setattr(notebook, "disturbances", lambda *ends, **_: spans.append(ends) or {})
    with run.unmeasured():
        inside = notebook.usage().at
    assert not run.disturbed
    assert len(spans) == 2
    assert not any(start.at < inside < end.at for start, end in spans)


LOOPS = "cpp/rungs/cpu_loops.hpp"
COST_MODEL = "lib/rungs_course/notebooks/nb14_cost_model.py"


def code(file, *names):
    text = source(file, *names).data
    assert f"](../{file})" in text
    return text.split("```")[1].split("\n", 1)[1]


@pytest.mark.parametrize(
    ("file", "name", "start", "end"),
    [
        (LOOPS, "openmp.step", "//", "}\n"),
        ("cpp/rungs/cuda.hpp", "rungs_chess_step", "//", "}\n"),
        ("cpp/course/mpi_calls.cpp", "noted", "template <class Call>\nint noted(", "}\n"),
        ("cpp/chess/position.hpp", "Position.occupied", "Bitboard occupied() const {", "\n}\n"),
        ("cpp/course/step_lanes.hpp", "memory.Board.write_legal", "//", "}\n"),
        (COST_MODEL, "Update", "@dataclasses.dataclass(", "\n"),
        (COST_MODEL, "Update.compute", "def compute(self, ", "\n"),
    ],
)
def test_the_code_that_a_page_shows_is_the_files(file, name, start, end):
    text = code(file, name)
    assert text.startswith(start)
    assert text.endswith(end)
    lines = {line.strip() for line in (paths.ROOT / file).read_text().splitlines()}
    assert lines.issuperset(line.strip() for line in text.splitlines())
    assert re.search(rf"\b{name.rpartition('.')[2]}\b", text)
    assert "MPI_" not in text  # a call that has braces is no part of what it calls


def test_several_parts_and_whole_files_are_in_the_order_of_the_page():
    text = code(LOOPS, "openmp.LoopSettings", "openmp.Schedule")
    assert text.index("struct LoopSettings {") < text.index("enum class Schedule")
    assert code(LOOPS) == (paths.ROOT / LOOPS).read_text()


@pytest.mark.parametrize(
    "code",
    [
        ("cpp/none.hpp",),
        ("README.md",),
        (LOOPS, "accepts"),  # only declared, and called
        ("lib/rungs_course/plots.py", "axes.nothing"),
    ],
)
def test_what_is_no_code_is_named(code):
    with pytest.raises(ConfigurationError, match=code[-1]):
        source(*code)


@pytest.fixture
def file(tmp_path):
    return tmp_path / "user" / "guesses.json"


def ask(file, notebook="07", unit="×"):
    """Asks for a gain; returns the guesses, and the widgets that take one and answer."""
    guesses = Guesses(notebook, file)
    return guesses, *guesses.ask("gain", "How many times?", unit).children[1].children


def measured(race):
    seconds = race["seconds"].sum()
    return {"gain": seconds, "share": seconds + 12.5}


@pytest.fixture
def guesses(run, file):
    """Returns the guesses of a run that measured 7 seconds; `measured` makes numbers of them."""
    run.figure("race", draw, FRAME)
    guesses, number, _ = ask(file)
    number.value = "28"
    guesses.ask("share", "Which share?", "%")
    return guesses


def test_a_guess_stands_beside_what_came_out(guesses, run):
    table = guesses.table(run, measured, "race").set_index("question")
    assert table["measured"].to_list() == ["7×", "19.5%"]
    assert table["guessed"].to_list() == ["28×", ""]
    gain, share = table["off by"]
    assert (gain[:2], gain[-4:], share) == ("4×", "high", "")
    assert "19.5%" in guesses.beside(run, measured, "race").data


def test_a_guess_is_compared_with_the_record_where_the_run_was_disturbed(
    guesses, run, reasons, record
):
    record(FRAME.assign(seconds=7.0), "07_race.csv")
    reasons.update(OTHERS)
    table = guesses.table(run, measured, "race")
    assert table["recorded"].to_list() == ["14×", "26.5%"]
    assert table["off by"][0].startswith("2×")
    assert all(table["measured"] != ["7×", "19.5%"])  # they are marked


def test_without_guesses_only_numbers_are_shown(run, file):
    guesses, *_ = ask(file, unit="plies/s")
    (row,) = guesses.table(run, lambda: {"gain": 12345}).to_dict("records")
    assert row["measured"] == "12,345 plies/s"
    assert not {"guessed", "off by"} & set(row)


def test_a_guess_is_kept_for_the_next_time_and_each_notebook_has_its_own(file):
    for number, guess in (("07", "30"), ("08", "2")):
        ask(file, number)[1].value = guess
    assert ask(file)[1].value == "30"


@pytest.mark.parametrize("text", ["many", "", "1..2", "inf", "nan"])
def test_what_is_no_number_is_named_and_not_kept(file, text):
    _, number, answer = ask(file)
    number.value = "3"
    number.value = text
    assert repr(text) in answer.value
    assert json.loads(file.read_text())["07"]["gain"]["guess"] == 3


@pytest.mark.parametrize(("numbers", "named"), [({}, "gain"), ({"gain": 1, "loss": 2}, "loss")])
def test_what_was_asked_must_be_measured(run, file, numbers, named):
    guesses, *_ = ask(file)
    with pytest.raises(ConfigurationError, match=named):
        guesses.beside(run, lambda: numbers)


@pytest.mark.parametrize("text", ["[]", "nothing", '{"07": 3}', '{"07": {"gain": {"guess": "x"}}}'])
def test_a_file_of_something_else_is_refused(file, text):
    file.parent.mkdir()
    file.write_text(text)
    with pytest.raises(ConfigurationError, match=file.name):
        Guesses("07", file)
