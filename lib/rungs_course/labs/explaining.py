"""Explains a race between kernels: instructions, a loop's stalls, bytes per second.

An answer, the baseline and the best known solution are compiled once more, each to a program that
calls it once, for processors with AVX2: valgrind 3.19 does not support AVX-512.
"""

import contextlib
import re
import shutil
import statistics
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from rungs.devel import run_program, temporary_dir
from rungs.errors import CompilerError, UnavailableError
from rungs_course.labs.inside.building import included
from rungs_course.labs.lab import Lab
from rungs_course.measure import machine_code, peaks, valgrind

_FLAGS = ["-O3", f"-march={valgrind.MACHINE}", "-std=c++20", "-g", "-pthread", "-w"]
_SECONDS = 30
_MAIN = """
static Case measured_case;
extern "C" __attribute__((noinline)) void measured() { measured_case.run(); }
int main() {
  measured_case.make(1);
  measured();
}
"""
# A program's functions other than the kernel: they make inputs, or start it.
_NOT_KERNEL = re.compile(
    r"4Case(4make|6digest|C\d)|7harness|_GLOBAL_|__cxx_global|^(main|idle|race)$"
)
_LABEL = re.compile(r"^(\.L\w+|[A-Za-z_]\w*):")
_JUMP = re.compile(r"^\s+j[a-z]+\s+(\.L\w+)")


def explain(lab: Lab, code: str, nanoseconds: Mapping[str, float]) -> list[str]:
    """Returns sentences on why a kernel is as fast as it is, from each racer's time per unit."""
    assert lab.per
    codes = {"yours": code} | {name: lab.code(name) for name in ("baseline", "solution")}
    with temporary_dir() as folder:
        return [*_explain_counts(lab, codes, Path(folder)), *_explain_bandwidth(lab, nanoseconds)]


def compilers() -> list[str]:
    """Returns the installed compilers: first Clang, on which Cling is based, then g++."""
    installed = [name for name in ("clang++", "g++") if shutil.which(name)]
    if not installed:
        raise CompilerError("neither clang++ nor g++ is installed: apt-get install clang")
    return installed


def _run(*command: str) -> str:
    try:
        done = run_program(command, _SECONDS, install=f"apt-get install {command[0]}")
    except UnavailableError as error:
        raise CompilerError(str(error)) from None
    if done.returncode:
        raise CompilerError(f"{command[0]} failed: {done.stderr.strip()[-300:]}")
    return done.stdout


def _explain_counts(lab: Lab, codes: dict[str, str], folder: Path) -> Iterator[str]:
    for name, code in codes.items():
        text = f"{included(lab.headers)}{code}\n{lab.harness}\n{_MAIN}"
        (folder / f"{name}.cpp").write_text(text)
    totals: dict[str, dict[str, int]] = {}
    try:
        totals = _count_calls(codes, folder)
        yield _comparison(lab, "Instructions", ("instructions",), totals, "callgrind, AVX2")
        words = "Mispredicted branches"
        yield _comparison(lab, words, ("mispredicted branches",), totals, "callgrind's predictor")
        words = "Loads and stores, of which spilled registers are a part,"
        yield _comparison(lab, words, ("loads", "stores"), totals, "callgrind")
    except CompilerError as error:
        yield f"Instructions were not counted: {error}."
    for name, words in (("yours", "your answer"), ("solution", "the best known solution")):
        try:
            yield _explain_loop(lab, folder / name, words, totals.get(name))
        except (CompilerError, UnavailableError) as error:
            yield f"What limits a loop is not known: {error}."
            return


def _count_calls(names: Iterable[str], folder: Path) -> dict[str, dict[str, int]]:
    """Returns callgrind's totals for a call of each, compiled by Clang or, if that fails, by g++.

    valgrind 3.19 does not decode every instruction that Clang 14 emits.
    """
    *others, last = compilers()
    for compiler in others:
        with contextlib.suppress(CompilerError):
            return {name: _totals(compiler, folder / name) for name in names}
    return {name: _totals(last, folder / name) for name in names}


def _totals(compiler: str, program: Path) -> dict[str, int]:
    report = program.with_suffix(".callgrind")
    _run(compiler, *_FLAGS, f"{program}.cpp", "-o", str(program))
    _run(
        "valgrind",
        "--tool=callgrind",
        "--branch-sim=yes",
        "--cache-sim=yes",
        "--collect-atstart=no",
        "--toggle-collect=measured",
        f"--callgrind-out-file={report}",
        str(program),
    )
    return valgrind.totals(report.read_text())


def _comparison(
    lab: Lab,
    words: str,
    events: tuple[str, ...],
    totals: dict[str, dict[str, int]],
    method: str,
) -> str:
    assert lab.per
    count = lab.per.count
    per_unit = {name: sum(of[event] for event in events) / count for name, of in totals.items()}
    return (
        f"{words} per {lab.per.name} ({method}): yours {per_unit['yours']:.3g}, the baseline "
        f"{per_unit['baseline']:.3g}, the best known solution {per_unit['solution']:.3g}."
    )


def _explain_loop(lab: Lab, program: Path, words: str, totals: Mapping[str, int] | None) -> str:
    """Returns in words what llvm-mca reports for a program's longest innermost loop: cycles per
    unit of the lab by the program's counted instructions, if it spends them all in such loops.
    """
    assert lab.per
    assembly = program.with_suffix(".s")
    _run(compilers()[0], *_FLAGS, "-g0", "-S", f"{program}.cpp", "-o", str(assembly))
    lines = innermost_loop(assembly.read_text())
    if not lines:
        return f"What limits a loop is not known: {words} has no loop."
    cycles, _, waits = machine_code.simulate(lines, machine_code.host_model())
    text = (
        f"The longest inner loop of {words}, {len(lines)} instructions, takes {cycles:.3g} cycles "
        f"an iteration, if all it reads is in the first cache; it waits for {waits} (llvm-mca)."
    )
    if totals:
        per_unit = cycles / len(lines) * totals["instructions"] / lab.per.count
        text += f" At this rate all its instructions take {per_unit:.3g} cycles per {lab.per.name}."
    return text


def innermost_loop(assembly: str) -> list[str]:
    """Returns the longest innermost loop in a compiler's output for x86, without its jumps."""
    loops: list[list[str]] = []
    labels: dict[str, int] = {}
    body: list[str] = []
    in_kernel = False
    for line in assembly.splitlines():
        label, jump = _LABEL.match(line), _JUMP.match(line)
        if label and not label[1].startswith(".L"):
            in_kernel, labels, body = not _NOT_KERNEL.search(label[1]), {}, []
        elif label:
            labels[label[1]] = len(body)
        elif jump and in_kernel and jump[1] in labels:
            begin = labels[jump[1]]
            loops.append(body[begin:])
            labels = {name: at for name, at in labels.items() if at > begin}
        elif in_kernel and line.startswith("\t") and not re.match(r"\s+(\.|j|call|ret|#)", line):
            body.append(line.partition("#")[0].rstrip())
    return max(loops, key=len, default=[])


def _explain_bandwidth(lab: Lab, nanoseconds: Mapping[str, float]) -> Iterator[str]:
    assert lab.per
    if not lab.per.num_bytes:
        return
    words = f"At {lab.per.num_bytes:,g} bytes per {lab.per.name}, which must be moved, yours moves "
    words += f"{lab.per.num_bytes / nanoseconds['yours']:.3g} GB/s, the best known solution "
    words += f"{lab.per.num_bytes / nanoseconds['solution']:.3g}"
    try:
        table = peaks.measure_bandwidth(
            [1], repeats=3, seconds=0.01, levels=[lab.per.level], streams=["copy"]
        )
    except CompilerError as error:
        yield f"{words}; what this machine's {lab.per.level} gives is not measured: {error}."
        return
    if table.empty:
        yield f"{words}; this machine has no {lab.per.level}."
        return
    best = statistics.median(table["per_second"])
    yield f"{words}; one thread copies {best / 1e9:.3g} GB/s in {lab.per.level}."
