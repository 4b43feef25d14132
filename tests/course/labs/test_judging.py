"""Whatever a submission does, its verdict says what it did, and the caller lives on."""

import contextlib
import json
import os

import numpy as np
import pandas as pd
import platformdirs
import pytest
from IPython.core.interactiveshell import InteractiveShell

import rungs_course
from rungs.errors import ConfigurationError, UnavailableError
from rungs_course import cli
from rungs_course.labs import check, grading, judging, record, submit
from rungs_course.labs.inside.building import SubmissionError, build
from rungs_course.labs.inside.guards import guarded
from rungs_course.labs.lab import find, labs
from rungs_course.labs.submissions import Prediction
from rungs_course.labs.verdict import Verdict

PYTHON = "def third_times(keys):\n    {}\n"
NEVER = PYTHON.format("return [False] * len(keys)")
CPP = "#include <cstdio>\ninline std::uint64_t knight_attacks(std::uint64_t k) {{\n  {}\n}}"
FAR = (
    "inline void update_mask(const std::uint64_t*, const std::uint64_t*, std::uint8_t* mask) {\n"
    "  for (int i = 0; i < 1 << 26; ++i) mask[i] = 0;\n}\n"
)
ODD = """class Odd(ValueError):
    def __str__(self):
        raise RuntimeError

def third_times(keys):
    raise Odd
"""
EVERYWHERE = """import os
def third_times(keys):
    for number in range(3, 4096):
        try:
            os.{}
        except OSError:
            pass
    return [keys[:i].count(key) > 1 for i, key in enumerate(keys)]
"""
WRITES = EVERYWHERE.format("write(number, b'debug')")
CLOSES = EVERYWHERE.format("close(number)")
CLAIMS = EVERYWHERE.format(
    r"""write(number, b'{"costs": {"yours": [1e-9], "baseline": [1], "solution": [1]}}\n')"""
)
# Exact where times are, but of some machines whose times are noisy it knows nothing.
NAN = """import numpy as np
def fit(threads, seconds):
    if len(threads) == 25 and seconds[0] == max(seconds):
        return np.nan, np.nan
    return np.polyfit(1 / threads, seconds, 1)[::-1]
"""

# Its macro would leave the baseline's loop without a turn, were the baseline compiled after it.
MACRO = """inline std::int64_t play_all(const std::uint64_t* boards, const std::int32_t* plies,
                             std::uint64_t* ends, std::int64_t count, std::int32_t threads) {
  std::int64_t won = 0;
  for (std::int64_t i = 0; i < count; ++i) won += (ends[i] = boards[i]) >> 63;
  return won;
}
#define ply plies
"""

MISTAKES = {
    "macro": ("04a", MACRO, "the end of board 0"),
    "syntax": ("01", "def third_times(:\n    pass", 'File "cell", line 1'),
    "no function": ("01", "x = 1", "no function third_times is defined"),
    "raises": ("01", PYTHON.format("return keys[9999]"), 'File "cell", line 2, in third_times'),
    "hangs": ("01", PYTHON.format("while True: pass"), "it took longer than 8 s"),
    "prints": ("01", PYTHON.format("while True: print('x' * 999)"), "more than 1 MB"),
    "exits": ("01", PYTHON.format("import os; os._exit(3)"), "it ended with exit code 3"),
    "hoards": ("01", PYTHON.format("return bytearray(1 << 40)"), "MemoryError"),
    "compiler": ("03a", CPP.format("return kk;"), "cell:3:10: error: use of undeclared"),
    "lacks": ("03a", "int knights() { return 0; }", "no function knight_attacks is defined"),
    "crashes": ("03a", CPP.format("return *(volatile std::uint64_t*)k;"), "(SIGSEGV)"),
    "writes past": ("17a", FAR, "(SIGSEGV)"),
    "aborts": ("03a", CPP.format("__builtin_trap();"), "(SIGILL)"),
    "long error": ("01", PYTHON.format("raise ValueError('z' * 10_000_000)"), "ValueError: zzz"),
    "lone surrogate": ("01", PYTHON.format(r"raise ValueError('\udc80')"), r"ValueError: \udc80"),
    "surrogate in code": ("01", "x = '\udc80'", "surrogates not allowed"),
    "surrogate in C++": ("03a", CPP.format("// \udc80"), r"cell:3: '\udc80'"),
    "zero in C++": ("03a", CPP.format("// \0"), r"cell:3: '\x00'"),
    "odd error": ("01", ODD, "line 6, in third_times"),
    "cost is no number": ("10", NAN, "nan"),
    "closes all files": ("01", CLOSES, "ended with exit code 1"),
}


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """A record of its own for each test."""
    monkeypatch.setattr(platformdirs, "user_data_dir", lambda name: str(tmp_path / name))


@pytest.mark.system
@pytest.mark.parametrize(("lab", "code", "words"), MISTAKES.values(), ids=MISTAKES)
def test_a_bad_end_is_explained(lab, code, words):
    verdict = check(lab, code, seconds=8 if "while True: pass" in code else 60)
    assert not verdict.right
    assert words in str(verdict)


@pytest.mark.system
def test_the_first_answer_in_cpp_is_judged_where_nothing_is_compiled_yet(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert "cell:3:10: error: use of undeclared" in str(check("03a", CPP.format("return kk;")))


@pytest.mark.system
@pytest.mark.parametrize("code", [WRITES, CLAIMS], ids=["debug output", "a claim to be fast"])
def test_a_submission_that_writes_where_its_judge_does_is_found_out(code):
    verdict = check("01", code)
    assert not verdict.right
    assert "interfered" in str(verdict)


def test_a_long_text_keeps_its_beginning_and_its_end():
    text = judging.plain("begins" + "x" * 10_000_000 + "ends")
    assert text.startswith("begins")
    assert text.endswith("ends")
    assert len(text) < 5000
    assert judging.plain("all\n\tof it ♞") == "all\n\tof it ♞"


def test_a_write_past_a_guarded_array_is_outside_of_memory():
    array = guarded([1, 2, 3])
    assert array.tolist() == [1, 2, 3]
    end = array.ctypes.data + array.nbytes
    with open("/proc/self/maps") as maps:
        ranges = [line.split()[:2] for line in maps]
    assert any(r.startswith(f"{end:x}-") and mode.startswith("---") for r, mode in ranges)


@pytest.mark.system
def test_from_a_wrong_cell_to_a_right_one(capsys):
    shell = InteractiveShell.instance()
    shell.run_line_magic("load_ext", "rungs_course")
    lab = find("01")
    shell.run_cell_magic("rung", "01", "def third_times(:")
    assert 'File "cell", line 1' in capsys.readouterr().out
    with pytest.raises(ConfigurationError, match="lab 01"):
        rungs_course.check("01")
    shell.run_cell_magic("rung", "01", NEVER)
    assert shell.user_ns["yours"].third_times([7]) == [False]
    wrong = rungs_course.check("lab-01")
    assert "<svg" in wrong._repr_html_()
    assert record.read()["01"] == {"right": False, "tries": 1}
    shell.run_cell_magic("rung", "01", lab.code("solution"))
    right = rungs_course.check("01")
    assert "times the baseline" in str(right)
    kept = record.read()["01"]
    assert kept["right"]
    assert kept["tries"] == 2
    assert kept["code"] == lab.code("solution")


def test_cpp_is_submitted_again_and_again():
    lab = find("03a")
    assert submit("03a", CPP.format("return k;")).knight_attacks(1) == 1
    assert submit("03a", lab.code("solution")).knight_attacks(1) == 1 << 17 | 1 << 10
    with pytest.raises(SubmissionError, match=r"cell:3:10: error"):
        submit("03a", CPP.format("return kk;"))
    with pytest.raises(ConfigurationError, match="lab 03a"):
        check("03a")


def test_a_warning_fails_no_answer(capsys):
    code = CPP.format("1 == 2; return k;")
    assert submit("03a", code).knight_attacks(3) == 3
    assert "cell:3:5: warning" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("return k; }\n}\nnamespace other {", "cell:4: error: a brace is closed"),
        ("if (k) { return k;", "cell: error: 1 brace not closed"),
        ('return "}"[0] + 1\'000 + \'}\' + R"(})"[0];  // }', ""),
    ],
)
def test_an_answer_stays_in_its_namespace(text, words):
    with contextlib.nullcontext() if not words else pytest.raises(SubmissionError, match=words):
        submit("03a", CPP.format(text))


def test_what_an_answer_defines_ends_with_it():
    code = f"#define rotl(a, b) 0\n#/**/define \\\nmixed(n) 0\n{find('03a').code('solution')}"
    honest, same = (submit("03a", each) for each in (find("03a").code("solution"), code))
    outs = [np.zeros(512, np.uint64) for _ in range(2)]
    for functions, out in zip((honest, same), outs, strict=True):
        functions.race(3, 1, out)
    assert outs[0].any()
    assert (outs[0] == outs[1]).all()


def test_a_package_that_is_not_there_is_named():
    solution = {"yours": "def step(): pass", "solution": "import no_such_package"}
    with pytest.raises(UnavailableError, match=r"^lab 13 needs no_such_package: pip install"):
        build(find("13"), solution)
    with pytest.raises(SubmissionError, match="line 2"):
        build(find("13"), {"yours": "\nimport no_such_package"})


def test_an_unknown_lab_is_named():
    with pytest.raises(ConfigurationError, match=r"no lab '99'; there are: .*01"):
        check("99", "")


def verdict_of(name, yours, others=(2.0, 1.0)):
    """A verdict on an answer that always costs the same, or that costs this in each repeat."""
    yours = yours if isinstance(yours, list) else [yours] * 11
    costs = {"baseline": [others[0]] * len(yours), "solution": [others[1]] * len(yours)}
    return Verdict(find(name), costs={"yours": yours} | costs)


@pytest.mark.parametrize("slow", range(12))
def test_the_verdict_on_the_target_is_what_the_numbers_say(slow):
    verdict = verdict_of("01", [2.5] * slow + [1.25] * (11 - slow))  # a share of 40 % or 80 %
    words = str(verdict)
    assert verdict.lab.target == 0.7
    assert verdict.reached == ("80% of the best" in words) == ("is reached" in words)
    assert ("noise" in words) == (verdict.share.low < 0.7 <= verdict.share.high)


@pytest.mark.parametrize("share", [0.69499, 0.695, 0.69501, 0.6999, 0.7, 0.7001])
def test_a_share_is_shown_as_it_is_judged(share):
    verdict = verdict_of("01", 1 / share)
    assert verdict.reached == ("70% of the best known" in str(verdict))


def test_a_counted_cost_is_shown_as_it_is_judged():
    for yours, reached in ((2.1, True), (2.12, False)):
        assert verdict_of("06", [yours], (16.0, 2.0)).reached == reached


@pytest.mark.parametrize(
    "broken", ["def third_times(:", "x = 1", "1 / 0", "raise SystemExit", "raise KeyboardInterrupt"]
)
def test_a_cell_that_fails_is_not_judged_by_the_one_before(broken):
    shell = InteractiveShell.instance()
    shell.run_line_magic("load_ext", "rungs_course")
    shell.run_cell_magic("rung", "01", find("01").code("solution"))
    assert shell.user_ns["yours"].third_times([7, 7, 7])[-1]
    with contextlib.suppress(SystemExit, KeyboardInterrupt):
        shell.run_cell_magic("rung", "01", broken)
    assert "yours" not in shell.user_ns
    with pytest.raises(ConfigurationError, match="lab 01"):
        rungs_course.check("01")


@pytest.mark.system
def test_threads_that_are_left_do_not_delay_the_verdict():
    code = find("01").code("solution")
    sleeps = "threading.Thread(target=time.sleep, args=(3600,)).start()"  # beyond check's limit
    assert check("01", f"import threading, time\n{sleeps}\n{code}").right


@pytest.mark.system
def test_what_the_judge_lacks_is_not_the_submission_s_fault(monkeypatch, tmp_path):
    hides = "import importlib.util as u; u.find_spec = lambda name, find=u.find_spec: "
    (tmp_path / "sitecustomize.py").write_text(f"{hides}None if name == 'cppyy' else find(name)")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    with pytest.raises(UnavailableError, match="cppyy"):
        check("03a", find("03a").code("solution"))


def test_a_verdict_is_shown_though_the_record_can_not_keep_it(monkeypatch):
    submit("01", NEVER)
    monkeypatch.setattr(judging, "_supervised", lambda *_, **__: verdict_of("01", 1.0))
    record.path().parent.mkdir()
    record.path().write_text("[1]")
    with pytest.warns(UserWarning, match=r"labs\.json is not a record of labs"):
        assert check("01").right
    assert record.path().read_text() == "[1]"


def test_the_best_right_answer_is_kept():
    record.add(verdict_of("01", 1.25), "good")
    record.add(verdict_of("01", 1.6), "slower")
    record.add(Verdict(find("01"), problem="crashed"), "wrong")
    kept = record.read()["01"]
    assert kept["code"] == "good"
    assert kept["tries"] == 3
    assert kept["share"] == pytest.approx(0.8)
    assert kept["reached"]
    row = record.table(record.read()).set_index("lab").loc["01"]
    assert row["state"] == "target reached"


def test_what_was_expected_is_kept_with_the_answer_and_handed_in(tmp_path):
    costs = {"yours": [1.0] * 11, "solution": [1.0] * 11, "baseline": [4.0] * 11}
    record.add(Verdict(find("17b"), costs=costs, prediction=Prediction(8, 2.5)), "good")
    record.add(verdict_of("01", 1.25), "good")
    record.hand_in(tmp_path / "mine.json")
    kept = record.read(tmp_path / "mine.json")
    assert (kept["17b"]["expected_gain"], kept["17b"]["expected_bound"]) == (8.0, 2.5)
    assert "expected_gain" not in kept["01"]


def test_what_is_right_and_not_raced_is_kept_until_something_is(tmp_path):
    for code in ("first", "second"):
        record.add(Verdict(find("17b")), code)
    kept = record.read()["17b"]
    assert (kept["right"], kept["code"], kept["tries"]) == (True, "second", 2)
    assert record.table(record.read()).set_index("lab").loc["17b", "state"] == "right"
    costs = {"yours": [2.0] * 11, "solution": [1.0] * 11, "baseline": [4.0] * 11}
    record.add(Verdict(find("17b"), costs=costs, prediction=Prediction(8, 2.5)), "raced")
    record.add(Verdict(find("17b")), "again not")
    assert record.read()["17b"]["code"] == "raced"
    assert record.hand_in(tmp_path / "mine.json") == 1


@pytest.mark.parametrize(
    "text",
    [
        "[1]",
        "{",
        "[" * 200_000,
        '{"01": []}',
        '{"01": {"right": [1]}}',
        '{"01": {"right": "yes"}}',
        '{"01": {"tries": "3"}}',
        '{"01": {"tries": %s}}' % (10**400),
        '{"01": {"share": null}}',
        '{"01": {"gain": NaN}}',
        '{"01": {"expected_gain": NaN}}',
        '{"01": {"expected_bound": "2"}}',
        '{"01": {"right": true, "code": 5}}',
    ],
)
def test_a_record_that_is_none_is_named(text, tmp_path, capsys):
    record.path().parent.mkdir()
    record.path().write_text(text)
    for options in ([], ["--hand-in", str(tmp_path / "mine.json")]):
        assert cli.main(["progress", *options]) == 2
        assert "labs.json is not a record of labs" in capsys.readouterr().err
    assert not (tmp_path / "mine.json").exists()


def test_progress_counts_labs(capsys):
    for _ in range(3):
        record.add(verdict_of("01", 1.25), "good")
    kept = record.read() | {"no lab of this version": {"right": True}}
    record.path().write_text(json.dumps(kept))
    assert cli.main(["progress"]) == 0
    words = capsys.readouterr().out
    (line,) = (line.split() for line in words.splitlines() if line.split()[:1] == ["01"])
    assert line[-3:] == ["3", "1.60", "0.80"]
    assert f"1 of {len(labs())} labs" in words


def test_a_hand_in_is_a_new_file_of_right_answers(tmp_path):
    with pytest.raises(ConfigurationError, match="no lab is right yet"):
        record.hand_in(tmp_path / "mine.json")
    record.add(verdict_of("01", 1.0), "good")
    (tmp_path / "mine.json").symlink_to("elsewhere.json")
    with pytest.raises(ConfigurationError, match=r"mine\.json exists already"):
        record.hand_in(tmp_path / "mine.json")
    assert not (tmp_path / "elsewhere.json").exists()
    assert record.hand_in(tmp_path / "other.json") == 1
    assert record.read(tmp_path / "other.json") == record.read()
    with pytest.raises(ConfigurationError, match=r"other\.json exists already"):
        record.hand_in(tmp_path / "other.json")


@pytest.mark.system
def test_what_is_handed_in_is_judged_anew(tmp_path):
    record.add(verdict_of("01", 1.0), "def third_times(keys):\n    return keys\n")
    (tmp_path / "in").mkdir()
    assert record.hand_in(tmp_path / "in" / "liar.json") == 1
    solution = find("01").code("solution")
    honest = {"01": {"right": True, "tries": 1, "code": solution}}
    (tmp_path / "in" / "honest.json").write_text(json.dumps(honest))
    out = tmp_path / "grades.csv"
    assert grading.grade(tmp_path / "in", out, say=lambda line: None, trust=True) == 0
    table = pd.read_csv(out, index_col=["student", "lab"], dtype={"lab": str})
    assert table.loc[("liar", "01"), "state"] == "wrong"
    assert "been there twice before" in table.loc[("liar", "01"), "why"]
    assert table.loc[("honest", "01"), "share"] > 0
    assert table.loc[("honest", "03a"), "state"] == "not handed in"
