"""Whatever a submission does, it is told what it did, and the caller lives on."""

import json

import platformdirs
import pytest
from IPython.core.interactiveshell import InteractiveShell

import rungs
from rungs.errors import ConfigurationError
from rungs.labs import catalogue, check, handing_in, hint, pages, record, submit
from rungs.labs.building import SubmissionError
from rungs.labs.verdict import Verdict

PYTHON = "def third_times(keys):\n    {}\n"
CPP = "#include <cstdio>\ninline std::uint64_t knight_attacks(std::uint64_t k) {{\n  {}\n}}"
FAR = (
    "inline void update_mask(const std::uint64_t*, const std::uint64_t*, std::uint8_t* mask) {\n"
    "  for (int i = 0; i < 1 << 26; ++i) mask[i] = 0;\n}\n"
)

MISTAKES = {
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
    "writes past": ("03d", FAR, "(SIGSEGV)"),
    "aborts": ("03a", CPP.format("__builtin_trap();"), "(SIGILL)"),
}


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """A record of its own for each test."""
    monkeypatch.setattr(platformdirs, "user_data_dir", lambda name: str(tmp_path / name))


@pytest.mark.system
@pytest.mark.parametrize(("lab", "code", "said"), MISTAKES.values(), ids=MISTAKES)
def test_a_bad_end_is_explained(lab, code, said):
    verdict = check(lab, code, seconds=8 if "while True: pass" in code else 60)
    assert not verdict.right
    assert said in str(verdict)


def test_a_write_past_a_guarded_array_is_outside_of_memory():
    from rungs.labs import guarded

    array = guarded.copy([1, 2, 3])
    assert array.tolist() == [1, 2, 3]
    end = array.ctypes.data + array.nbytes
    with open("/proc/self/maps") as maps:
        ranges = [line.split()[:2] for line in maps]
    assert any(r.startswith(f"{end:x}-") and mode.startswith("---") for r, mode in ranges)


@pytest.mark.system
def test_from_a_wrong_cell_to_a_right_one(capsys):
    shell = InteractiveShell.instance()
    shell.run_line_magic("load_ext", "rungs")
    lab = catalogue.find("01")
    shell.run_cell_magic("rung", "01", "def third_times(:")
    assert 'File "cell", line 1' in capsys.readouterr().out
    with pytest.raises(ConfigurationError, match="nothing was submitted for lab 01"):
        rungs.check("01")
    shell.run_cell_magic("rung", "01", lab.code("stub"))
    assert shell.user_ns["yours"].third_times([7]) == [False]
    wrong = rungs.check("lab-01")
    assert "<svg" in wrong._repr_html_()
    assert record.read()["01"] == {"right": False, "tries": 1}
    shell.run_cell_magic("rung", "01", lab.code("solution"))
    right = rungs.check("01")
    assert "times the baseline" in str(right)
    kept = record.read()["01"]
    assert kept["right"]
    assert kept["tries"] == 2
    assert kept["code"] == lab.code("solution")


def test_cpp_is_submitted_again_and_again():
    lab = catalogue.find("03a")
    assert submit("03a", lab.code("stub")).knight_attacks(1) == 1 << 17
    assert submit("03a", lab.code("solution")).knight_attacks(1) == 1 << 17 | 1 << 10
    with pytest.raises(SubmissionError, match=r"cell:3:10: error"):
        submit("03a", CPP.format("return kk;"))


def test_hints_end_in_the_solution():
    lab = catalogue.find("01")
    first, second, third, again = (hint("01").data for _ in range(4))
    assert lab.hints[0] in first
    assert lab.hints[1] in second
    assert third == again
    assert lab.code("solution") in third


def test_an_unknown_lab_is_named():
    with pytest.raises(ConfigurationError, match=r"no lab '99'; there are: .*01"):
        check("99", "")


def test_the_notebooks_are_what_the_labs_say():
    import nbformat

    files = {pages.file_of(lab): pages.page(lab) for lab in catalogue.labs().values()}
    assert set(pages.FOLDER.glob("*.ipynb")) == set(files)
    for file, page in files.items():
        assert nbformat.read(file, 4) == page, "make labs writes them"


def told(name, yours, others=(2.0, 1.0)):
    costs = {"yours": [yours] * 11, "baseline": [others[0]] * 11, "solution": [others[1]] * 11}
    return Verdict(catalogue.find(name), costs=costs)


def test_the_best_right_answer_is_kept():
    record.add(told("01", 1.25), "good")
    record.add(told("01", 1.6), "slower")
    record.add(Verdict(catalogue.find("01"), problem="crashed"), "wrong")
    kept = record.read()["01"]
    assert kept["code"] == "good"
    assert kept["tries"] == 3
    assert kept["share"] == pytest.approx(0.8)
    assert kept["reached"]
    row = record.table(record.read()).set_index("lab").loc["01"]
    assert row["state"] == "target reached"


def test_a_record_that_is_none_is_named(tmp_path):
    (tmp_path / "a.json").write_text("[1]")
    with pytest.raises(ConfigurationError, match=r"a\.json is no record of labs"):
        record.read(tmp_path / "a.json")


def test_nothing_right_nothing_to_hand_in(tmp_path):
    with pytest.raises(ConfigurationError, match="no lab is right yet"):
        handing_in.hand_in(tmp_path / "mine.json")


@pytest.mark.system
def test_what_is_handed_in_is_judged_anew(tmp_path):
    record.add(told("01", 1.0), "def third_times(keys):\n    return keys\n")
    (tmp_path / "in").mkdir()
    assert handing_in.hand_in(tmp_path / "in" / "liar.json") == 1
    solution = catalogue.find("01").code("solution")
    honest = {"01": {"right": True, "tries": 1, "code": solution}}
    (tmp_path / "in" / "honest.json").write_text(json.dumps(honest))
    table = handing_in.grade(tmp_path / "in", say=lambda line: None).set_index(["student", "lab"])
    assert table.loc[("liar", "01"), "state"] == "wrong"
    assert "been there twice before" in table.loc[("liar", "01"), "why"]
    assert table.loc[("honest", "01"), "share"] > 0
    assert table.loc[("honest", "03a"), "state"] == "not handed in"
