"""A verdict names a submission's failure, and the caller survives it."""

import contextlib
import json
import re

import numpy as np
import platformdirs
import pytest
from IPython.core.interactiveshell import InteractiveShell

import rungs_course
from rungs.errors import ConfigurationError, UnavailableError
from rungs_course import cli
from rungs_course.labs import check, judging, record, submit
from rungs_course.labs.inside.building import SubmissionError, build, plain
from rungs_course.labs.lab import Lab, find, labs
from rungs_course.labs.sandbox import Trusted
from rungs_course.labs.submissions import Prediction
from rungs_course.labs.verdict import Verdict

PYTHON = "def third_times(keys):\n    {}\n"
NEVER = PYTHON.format("return [False] * len(keys)")
CPP = "#include <cstdio>\ninline std::uint64_t knight_attacks(std::uint64_t k) {{\n  {}\n}}"
WRITES_PAST_ITS_ARRAY = """
inline void update_mask(const std::uint64_t*, const std::uint64_t*, std::uint8_t* mask) {
  mask[73 * 64] = 0;
}
"""
RAISES_WHAT_CAN_NOT_BE_SHOWN = """class Odd(ValueError):
    def __str__(self):
        raise RuntimeError

def third_times(keys):
    raise Odd
"""
# Exact where times are, but NaN for the noisy times of some machines.
NAN = """import numpy as np
def fit(threads, seconds):
    if len(threads) == 25 and seconds[0] == max(seconds):
        return np.nan, np.nan
    return np.polyfit(1 / threads, seconds, 1)[::-1]
"""

# By a submission's failure: its lab, its code, and a text of its verdict.
FAILURES = {
    "hangs": ("01", PYTHON.format("while True: pass"), "8 s"),
    "prints": ("01", PYTHON.format("while True: print('x' * 999)"), "1 MB"),
    "exits": ("01", PYTHON.format("import os; os._exit(3)"), "code 3"),
    "hoards": ("01", PYTHON.format("return bytearray(1 << 40)"), "MemoryError"),
    "writes past its array": ("17a", WRITES_PAST_ITS_ARRAY, "SIGSEGV"),
    "raises what can't be shown": ("01", RAISES_WHAT_CAN_NOT_BE_SHOWN, "line 6, in third_times"),
    "costs no number": ("10", NAN, "nan"),
    "closes all files": ("01", PYTHON.format("import os; os.closerange(3, 4096)"), "code 1"),
}


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """A record of its own for each test."""
    monkeypatch.setattr(platformdirs, "user_data_dir", lambda name: str(tmp_path / name))


@pytest.mark.system
@pytest.mark.parametrize(("lab", "code", "names"), FAILURES.values(), ids=FAILURES)
def test_a_bad_end_is_explained(lab, code, names):
    verdict = check(lab, code, seconds=8 if "while True: pass" in code else 60)
    assert not verdict.right
    assert names in verdict.problem


@pytest.mark.parametrize(
    ("lab", "code", "names"),
    [
        ("01", "def third_times(:\n    pass", "line 1"),
        ("01", "x = 1", "third_times"),
        ("01", "x = '\udc80'", "surrogates"),
        ("03a", CPP.format("return kk;"), "cell:3:10"),
        ("03a", "int knights() { return 0; }", "knight_attacks"),
        ("03a", CPP.format("// \udc80"), r"cell:3: '\\udc80'"),
        ("03a", CPP.format("// \0"), r"cell:3: '\\x00'"),
        ("03a", CPP.format("return k; }\n}\nnamespace other {"), "cell:4"),
        ("03a", CPP.format("if (k) { return k;"), "1 brace"),
    ],
)
def test_code_that_can_not_be_compiled_names_the_place(lab, code, names):
    with pytest.raises(SubmissionError, match=names):
        submit(lab, code)


def test_the_first_errors_of_many_are_shown_and_the_others_counted():
    with pytest.raises(SubmissionError, match=r"(?s)'k1'.*'k2'.*'k3'.*\n.* 2 ") as raised:
        submit("03a", CPP.format("return k1 + k2 + k3 + k4 + k5;"))
    assert "'k4'" not in str(raised.value)


@pytest.mark.system
def test_the_first_answer_in_cpp_is_judged_where_nothing_is_compiled_yet(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert "cell:3:10" in check("03a", CPP.format("return kk;")).problem


def test_a_long_text_keeps_its_beginning_and_its_end():
    assert re.fullmatch(r"beginsx+ .{,9} x{,2500}ends", plain("begins" + "x" * 10_000 + "ends"))
    assert plain("all\n\tof it ♞") == "all\n\tof it ♞"


@pytest.fixture
def shell():
    shell = InteractiveShell.instance()
    shell.run_line_magic("load_ext", "rungs_course")
    return shell


@pytest.mark.system
def test_from_a_wrong_cell_to_a_right_one(shell):
    solution = find("01").code("solution")
    shell.run_cell_magic("rung", "01", NEVER)
    assert shell.user_ns["yours"].third_times([7]) == [False]
    assert "<svg" in rungs_course.check("lab-01")._repr_html_()
    assert record.read()["01"] == {"right": False, "tries": 1}
    shell.run_cell_magic("rung", "01", solution)
    right = rungs_course.check("01")
    assert f"{right.gain.middle:.2f} times" in str(right)
    entry = record.read()["01"]
    assert (entry["right"], entry["tries"], entry["code"]) == (True, 2, solution)


@pytest.mark.parametrize(
    ("broken", "printed"), [("def third_times(:", "line 1"), ("raise SystemExit", "")]
)
def test_a_cell_that_fails_is_not_judged_by_the_one_before(broken, printed, shell, capsys):
    shell.run_cell_magic("rung", "01", find("01").code("solution"))
    assert shell.user_ns["yours"].third_times([7, 7, 7])[-1]
    with contextlib.suppress(SystemExit):
        shell.run_cell_magic("rung", "01", broken)
    assert printed in capsys.readouterr().out
    assert "yours" not in shell.user_ns
    with pytest.raises(ConfigurationError, match="01") as raised:
        rungs_course.check("01")
    shell.run_cell("import rungs_course; rungs_course.check('01')")
    shown = capsys.readouterr().out
    assert str(raised.value) in shown
    assert "Traceback" not in shown
    assert "line" not in shown


def test_cpp_is_submitted_again_and_again(capsys):
    submit("03a", CPP.format('return "}"[0] + 1\'000 + \'}\' + R"(})"[0];  // }'))
    assert submit("03a", CPP.format("1 == 2; return k;")).knight_attacks(3) == 3
    assert "cell:3:5: warning" in capsys.readouterr().out
    solution = submit("03a", find("03a").code("solution"))
    assert solution.knight_attacks(1) == 1 << 17 | 1 << 10
    with pytest.raises(SubmissionError, match="cell:3:10"):
        submit("03a", CPP.format("return kk;"))
    with pytest.raises(ConfigurationError, match="03a"):
        check("03a")


def test_what_an_answer_defines_ends_with_it():
    solution = find("03a").code("solution")
    macros = "#define rotl(a, b) 0\n#/**/define \\\nmixed(n) 0\n"
    outs = [np.zeros(512, np.uint64) for _ in range(3)]
    for code, out in zip((solution, macros + solution, CPP.format("return k;")), outs, strict=True):
        submit("03a", code).race(3, 1, out)
    assert (outs[0] == outs[1]).all()
    assert (outs[0] != outs[2]).all()


def test_a_package_that_is_not_there_is_named():
    answers = {"yours": "def step(): pass", "solution": "import no_such_package"}
    with pytest.raises(UnavailableError, match=r"13.* no_such_package"):
        build(find("13"), answers)
    with pytest.raises(SubmissionError, match="line 2"):
        build(find("13"), {"yours": "\nimport no_such_package"})


def verdict_of(name, cost, other_costs=(2.0, 1.0), **fields):
    """A verdict on an answer that always costs the same, or that costs this in each repeat."""
    cost = cost if isinstance(cost, list) else [cost] * 11
    costs = {"baseline": [other_costs[0]] * len(cost), "solution": [other_costs[1]] * len(cost)}
    return Verdict(find(name), costs={"yours": cost} | costs, **fields)


@pytest.mark.parametrize("share", [0.69499, 0.695, 0.69501, 0.6999, 0.7, 0.7001])
def test_a_share_is_shown_as_it_is_judged(share):
    verdict = verdict_of("01", 1 / share)
    assert verdict.lab.target == 0.7
    assert verdict.reached == ("70% of the best known" in str(verdict))


@pytest.mark.parametrize(("slow", "busy"), [(1, False), (5, True), (10, False)])
def test_turns_that_disagree_are_told(slow, busy):
    assert verdict_of("01", [2.5] * slow + [1.25] * (11 - slow)).turns_disagree == busy


class NoProcess(contextlib.nullcontext):
    """Stands for an answer that is right, and runs nothing."""

    def start(self):
        pass

    def printed(self):
        return ""


def test_a_time_below_the_bound_is_refused(monkeypatch):
    """Of the lab that has a bound, by which it is scored, raced by a clock that lies."""
    monkeypatch.setattr(judging, "Answer", lambda *_: NoProcess(NoProcess()))
    monkeypatch.setattr(Lab, "first_difference", lambda *_: None)
    turns = {"baseline": [8.0], "solution": [2.0], "bound": [1.0]}
    for seconds, right in ((0.9, False), (4.0, True)):
        costs = {name: values * 11 for name, values in ({"yours": [seconds]} | turns).items()}
        monkeypatch.setattr(judging, "_race", lambda *_, costs=costs: costs)
        verdict = judging.assess("open", "", Trusted())
        assert verdict.right == bool(verdict.costs) == verdict.reached == right
    assert verdict.share.middle == pytest.approx(0.25)


@pytest.mark.system
def test_threads_that_are_left_do_not_delay_the_verdict():
    code = find("01").code("solution")
    sleeps = "threading.Thread(target=time.sleep, args=(3600,)).start()"  # beyond check's limit
    assert check("01", f"import threading, time\n{sleeps}\n{code}").right


def write_record(text):
    record.path().parent.mkdir()
    record.path().write_text(text)


def test_a_verdict_is_shown_though_the_record_can_not_keep_it(monkeypatch):
    submit("01", NEVER)
    monkeypatch.setattr(judging, "assess", lambda *_, **__: verdict_of("01", 1.0))
    write_record("[1]")
    with pytest.warns(UserWarning, match=r"labs\.json"):
        assert check("01").right
    assert record.path().read_text() == "[1]"


def test_the_best_right_answer_is_kept_and_counted(capsys):
    record.add(verdict_of("01", 1.25), "good")
    record.add(verdict_of("01", 1.6), "slower")
    record.add(Verdict(find("01"), problem="crashed"), "wrong")
    entries = record.read()
    assert entries["01"]["code"] == "good"
    record.path().write_text(json.dumps(entries | {"no lab of this version": {"right": True}}))
    assert cli.main(["progress"]) == 0
    words = capsys.readouterr().out
    (line,) = (line.split() for line in words.splitlines() if line.split()[:1] == ["01"])
    assert line[-5:] == ["target", "reached", "3", "1.60", "0.80"]
    assert f"1 of {len(labs())}" in words


def test_a_right_answer_that_was_not_raced_is_kept_until_one_is(tmp_path):
    for code in ("first", "second"):
        record.add(Verdict(find("17b")), code)
    entry = record.read()["17b"]
    assert (entry["right"], entry["code"], entry["tries"]) == (True, "second", 2)
    assert record.table(record.read()).set_index("lab").loc["17b", "state"] == "right"
    record.add(verdict_of("17b", 2.0, prediction=Prediction(8, 2.5)), "raced")
    record.add(Verdict(find("17b")), "not raced")
    record.add(verdict_of("01", 1.25), "good")
    assert record.hand_in(tmp_path / "mine.json") == 2
    entries = record.read(tmp_path / "mine.json")
    assert entries["17b"]["code"] == "raced"
    assert (entries["17b"]["expected_gain"], entries["17b"]["expected_bound"]) == (8.0, 2.5)
    assert "expected_gain" not in entries["01"]


NO_ENTRIES = ["[]", '{"right": [1]}', '{"tries": %s}' % (10**400), '{"expected_gain": NaN}']


@pytest.mark.parametrize("entry", [*NO_ENTRIES, '{"share": null}', '{"code": 5}'])
def test_a_file_that_is_no_record_is_named(entry, tmp_path, capsys):
    write_record(f'{{"01": {entry}}}')
    for options in ([], ["--hand-in", str(tmp_path / "mine.json")]):
        assert cli.main(["progress", *options]) == 2
        assert "labs.json" in capsys.readouterr().err
    assert not (tmp_path / "mine.json").exists()


def test_a_hand_in_is_a_new_file_of_right_answers(tmp_path):
    with pytest.raises(ConfigurationError, match="right"):
        record.hand_in(tmp_path / "mine.json")
    record.add(verdict_of("01", 1.0), "good")
    (tmp_path / "mine.json").symlink_to("elsewhere.json")
    with pytest.raises(ConfigurationError, match=r"mine\.json"):
        record.hand_in(tmp_path / "mine.json")
    assert not (tmp_path / "elsewhere.json").exists()
    assert record.hand_in(tmp_path / "other.json") == 1
    assert record.read(tmp_path / "other.json") == record.read()
    with pytest.raises(ConfigurationError, match=r"other\.json"):
        record.hand_in(tmp_path / "other.json")
