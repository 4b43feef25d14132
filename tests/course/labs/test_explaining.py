"""An explanation counts correctly, and names everything that it can't count."""

import re

import numpy as np
import pytest

from rungs.errors import ConfigurationError
from rungs_course.labs import check, predict, submissions
from rungs_course.labs.explaining import explain, innermost_loop
from rungs_course.labs.inside.building import build
from rungs_course.labs.lab import find

NANOSECONDS = {"yours": 4.0, "baseline": 16.0, "solution": 2.0}
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


@pytest.mark.parametrize(("compiles", "tool"), [(False, "clang++"), (True, "valgrind")])
def test_a_tool_that_is_not_here_is_named(compiles, tool, monkeypatch, tmp_path):
    if compiles:
        (tmp_path / "clang++").write_text("#!/bin/sh\nfor out; do :; done; : > $out\n")
        (tmp_path / "clang++").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert tool in explain(LAB, LAB.code("baseline"), NANOSECONDS)[0]


@pytest.mark.system
@pytest.mark.needs("clang++", "valgrind", "llvm-mca")
def test_the_baseline_is_counted_as_itself():
    for counted in explain(LAB, LAB.code("baseline"), NANOSECONDS)[:3]:
        count, baseline_count, _ = re.findall(r" ([\d.e+]+)[,.]", counted.partition("):")[2])
        assert count == baseline_count


@pytest.fixture(autouse=True)
def no_prediction(monkeypatch):
    monkeypatch.setattr(submissions, "_predictions", {})


def test_a_prediction_is_a_pair_of_positive_numbers():
    predict("17b", gain=3)
    assert submissions.prediction_of(LAB) is None
    for gain, bound in ((0, 1), (float("nan"), 1), ("3", 1), (3, -1)):
        with pytest.raises(ConfigurationError, match=str(bound if bound < 0 else gain)):
            predict("17b", gain=gain, bound=bound)
    predict("lab-17b", gain=3, bound=1.5)
    assert submissions.prediction_of(LAB) == (3, 1.5)
    predict("17b")
    assert submissions.prediction_of(LAB) is None
    with pytest.raises(ConfigurationError, match="01"):
        predict("01", gain=3, bound=1)


@pytest.mark.system
def test_nothing_is_raced_before_a_prediction():
    verdict = check("17b", LAB.code("solution"))
    assert verdict.right
    assert not verdict.reached
    with pytest.raises(ConfigurationError, match="17b"):
        _ = verdict.share


@pytest.mark.system
def test_inputs_differ_and_a_digest_depends_on_every_byte_and_its_place():
    harness = build(LAB, {"yours": LAB.code("solution")})["yours"].harness
    first, again, other = arrays = np.zeros((3, 203), np.uint8)
    for seed, array in zip((1, 1, 2), arrays, strict=True):
        harness.Random(seed).fill(array, 200)
    assert (first == again).all()
    assert not (first == other).all()
    assert not first[200:].any()
    assert 0.4 < np.unpackbits(first[:200]).mean() < 0.6
    changed = [*(first ^ np.eye(200, 203, dtype=np.uint8))]
    changed.append(np.concatenate([first[64:128], first[:64], first[128:]]))
    assert harness.digest(first, 200) not in [harness.digest(each, 200) for each in changed]


@pytest.mark.system
def test_a_race_of_the_open_lab_repeats_few_steps():
    lab = find("open")
    functions = build(lab, {"yours": lab.code("solution")})["yours"]
    steps = set()
    for seed in range(0, 64 * 512, 512):  # 512 boards of other numbers each
        case = functions.only_case()
        case.make(seed)
        positions = np.array(case.now).reshape(-1, 8).tolist()
        steps |= {(action, *words) for action, words in zip(case.actions, positions, strict=True)}
    assert len(steps) > 0.8 * 64 * 512


@pytest.mark.system
def test_every_walk_down_a_tree_ends():
    lab = find("16b")
    case = build(lab, {"yours": lab.code("solution")})["yours"].only_case()
    for seed in (5, 79195):  # with an even increment, the second has walks without end
        case.plant(seed)
        following = np.frombuffer(case.nodes.data(), np.uint64, case.nodes.size())[::2]
        after = following.astype(np.int64)
        for _ in range(12):
            after = after[after]  # twice as many steps
        assert (following[after] == after).all(), seed
