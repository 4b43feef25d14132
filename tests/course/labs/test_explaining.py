"""What explains a race counts what it says, and names what it can't count."""

import shutil

import numpy as np
import pytest

from rungs.errors import ConfigurationError
from rungs_course.labs import check, predict, submissions
from rungs_course.labs.explaining import bottleneck, explain, innermost_loop
from rungs_course.labs.inside.building import build
from rungs_course.labs.lab import find
from rungs_course.labs.verdict import Verdict

SECONDS = {"yours": 2e-6, "baseline": 8e-6, "solution": 1e-6}
LAB = find("17b")

ASSEMBLY = """
_ZN4Case4makeEm:
.LBB0_1:
	addq	$1, %rax
	addq	$2, %rax
	addq	$3, %rax
	jne	.LBB0_1
	retq
measured:                               # @measured
	.cfi_startproc
	xorl	%eax, %eax
.LBB1_1:                                # the outer loop
	movq	(%rdi), %rcx
.LBB1_2:                                # the inner one
	addq	%rcx, %rdx              # a comment
	popcntq	%rdx, %rdx
	jne	.LBB1_2
	addq	$8, %rdi
	jne	.LBB1_1
	retq
"""


def test_the_inner_loop_of_the_kernel_is_found():
    assert innermost_loop(ASSEMBLY) == ["\taddq\t%rcx, %rdx", "\tpopcntq\t%rdx, %rdx"]
    assert innermost_loop("measured:\n\tretq\n") == []


@pytest.mark.parametrize(
    ("resource", "register", "memory", "words"),
    [
        ("48.07", "0.30", "0.00", "in 48% of the cycles it waits for execution units"),
        (" 4.00", "91.5", "0.00", "in 92% of the cycles it waits for results of other"),
        ("0.00", "0.00", "60.0", "in 60% of the cycles it waits for stores and loads"),
    ],
)
def test_what_llvm_mca_prints_is_read(resource, register, memory, words):
    report = (
        f"Throughput Bottlenecks: \n  Resource Pressure       [ {resource}% ]\n"
        f"  Data Dependencies:      [ 12.0% ]\n  - Register Dependencies [ {register}% ]\n"
        f"  - Memory Dependencies   [ {memory}% ]\n"
    )
    assert bottleneck(report).startswith(words)
    assert "front" in bottleneck("No resource or data dependency bottlenecks discovered.")


@pytest.mark.parametrize(("compiles", "names"), [(False, "clang++"), (True, "valgrind")])
def test_a_tool_that_is_not_here_is_named(compiles, names, monkeypatch, tmp_path):
    if compiles:
        (tmp_path / "clang++").write_text("#!/bin/sh\nfor out; do :; done; : > $out\n")
        (tmp_path / "clang++").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    words = "\n".join(explain(LAB, LAB.code("baseline"), SECONDS))
    assert "not counted" in words
    assert names in words


@pytest.mark.system
def test_the_baseline_is_counted_as_itself():
    for tool in ("clang++", "valgrind", "llvm-mca"):
        if not shutil.which(tool):
            pytest.skip(f"{tool} is not installed")
    words = "\n".join(explain(LAB, LAB.code("baseline"), SECONDS))
    counts = words.partition("yours ")[2].split(", ")
    assert counts[0] == counts[1].removeprefix("the baseline ")
    assert "of your answer" in words
    assert "of the best known solution" in words


@pytest.fixture
def nothing_expected(monkeypatch):
    monkeypatch.setattr(submissions, "_predictions", {})


@pytest.mark.usefixtures("nothing_expected")
def test_what_is_expected_is_a_pair_of_positive_numbers(capsys):
    predict("17b", gain=3)
    assert "how many nanoseconds per board" in capsys.readouterr().out
    assert submissions.prediction_of(LAB) is None
    for gain, bound in ((0, 1), (float("nan"), 1), ("3", 1), (3, -1)):
        with pytest.raises(ConfigurationError, match="not a positive number"):
            predict("17b", gain=gain, bound=bound)
    predict("lab-17b", gain=3, bound=1.5)
    assert submissions.prediction_of(LAB) == (3, 1.5)
    predict("17b")
    assert submissions.prediction_of(LAB) is None
    with pytest.raises(ConfigurationError, match="asks for no prediction"):
        predict("01", gain=3, bound=1)


@pytest.mark.system
@pytest.mark.usefixtures("nothing_expected")
def test_nothing_is_raced_before_something_is_expected():
    verdict = check("17b", LAB.code("solution"))
    assert verdict.right
    assert not verdict.reached
    assert "first enter your prediction" in str(verdict)
    with pytest.raises(ConfigurationError, match="was not raced"):
        _ = verdict.share


@pytest.mark.parametrize(
    ("bound", "faster"), [(1.0, None), (3.0, "The best known solution"), (5.0, "Yours")]
)
def test_a_prediction_stands_next_to_what_was_measured(bound, faster):
    costs = {name: [value] * 11 for name, value in SECONDS.items()}
    expected = submissions.Prediction(2, bound)
    words = str(Verdict(LAB, costs=costs, prediction=expected, counts=("It waits.",)))
    assert "You expected 2 times the baseline; it is 4.00." in words
    assert f"Your bound was {bound:.3g} ns per board; yours takes 3.91" in words
    assert (f"{faster} is faster than your bound" in words) == bool(faster)
    assert ("faster than your bound" in words) == bool(faster)
    assert "It waits." in words


def test_the_open_lab_is_scored_by_its_bound():
    costs = {name: [value] * 11 for name, value in (SECONDS | {"bound": 5e-7}).items()}
    verdict = Verdict(find("open"), costs=costs)
    assert verdict.share.middle == 0.25
    assert verdict.reached
    assert "25% of the bound (25% to 25%). The best known solution reaches 50%." in str(verdict)


@pytest.mark.system
def test_inputs_differ_and_a_digest_sees_every_byte_and_where_it_is():
    functions = build(LAB, {"yours": LAB.code("solution")})["yours"]
    filled = [np.zeros(203, np.uint8) for _ in range(3)]
    for seed, each in zip((1, 1, 2), filled, strict=True):
        functions.harness.Random(seed).fill(each, 200)
    assert (filled[0] == filled[1]).all()
    assert not (filled[0] == filled[2]).all()
    assert not filled[0][200:].any()
    assert 0.4 < np.unpackbits(filled[0][:200]).mean() < 0.6
    of = functions.harness.digest
    expected = of(filled[0], 200)
    for place in range(200):
        changed = filled[0].copy()
        changed[place] ^= 1
        assert of(changed, 200) != expected, place
    swapped = np.concatenate([filled[0][64:128], filled[0][:64], filled[0][128:]])
    assert of(swapped, 200) != expected
