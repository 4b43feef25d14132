"""Tries all mutants, or some, by words of areas or faults: `python -m tests.proof.mutants pawn`.

Each is put into a copy of the source tree, one at a time, and the tests that cover it are run there
until one fails. Then it is killed; else it survived, and a test is missing. Where the tests take
too long nothing is shown, as a busy machine does that, too, unless the fault is one that `hangs`.
"""

import argparse
import asyncio
import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from rungs._src.machine.cpu import usable_cores
from tests.proof.mutants import MUTANTS, TIERS, Mutant

ROOT = Path(__file__).parents[3]
SECONDS = 600  # after which a run of tests counts as hanging; ten times as long for all tests
KILLED, SURVIVED, TIMED_OUT, BROKEN = "killed", "survived", "timed out", "broken"


class Copy:
    """A copy of the source tree, in which one run of tests goes on at a time.

    Args:
        folder: where it will be.
        cache: where compiled things are kept, for all copies.
        threads: that PyTorch may use, as copies share the cores.
    """

    def __init__(self, folder: Path, cache: Path, threads: int):
        self.folder = folder
        listed = ["git", "-C", ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        for name in subprocess.check_output(listed, text=True).split("\0"):
            if (ROOT / name).is_file() or (ROOT / name).is_symlink():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, folder / name, follow_symlinks=False)
        # No bytecode: a file may change and be changed back within its resolution of time.
        ours = {"PYTHONPATH": str(folder / "lib"), "PYTHONDONTWRITEBYTECODE": "1"}
        ours |= {"XDG_CACHE_HOME": str(cache), "OMP_NUM_THREADS": str(threads)}
        self.environment = os.environ | ours
        self.compiler = "g++"
        command = [sys.executable, "-c", "import rungs; print(rungs.__file__)"]
        used = subprocess.check_output(command, cwd=folder, env=self.environment, text=True)
        assert Path(used.strip()) == folder / "lib" / "rungs" / "__init__.py", used

    async def run(self, tests, tier: str, seconds: float, *options: str) -> tuple[int | None, str]:
        """Runs tests; pytest's exit status, None where they took too long, and its output."""
        command = [sys.executable, "-m", "pytest", "-q", "-o", "addopts=", "-p", "no:cacheprovider"]
        command += ["-m", TIERS[tier], "--tb=line", "-rfE", *options, *tests]
        with tempfile.TemporaryFile("w+") as output:
            process = await asyncio.create_subprocess_exec(
                *command,
                cwd=self.folder,
                env=self.environment | {"RUNGS_COMPILER": self.compiler},
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
            try:
                status = await asyncio.wait_for(process.wait(), seconds)
            except TimeoutError:
                status = None
            finally:  # also where we are interrupted, and of all that it started
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                await process.wait()
            output.seek(0)
            return status, output.read()

    async def judge(self, mutant: Mutant) -> tuple[str, str]:
        """What became of a mutant, and by which test."""
        file = self.folder / mutant.file
        intact = file.read_text()
        file.write_text(mutant.changed(self.folder))
        # In one process Cling takes less time than g++, which is there for all that follow.
        self.compiler = "cling" if mutant.file.startswith("cpp/") else "g++"
        try:
            status, output = await self.run(mutant.tests, mutant.tier, SECONDS, "-x")
        finally:
            file.write_text(intact)
        if status is None:
            return (KILLED if mutant.hangs else TIMED_OUT), f"after {SECONDS} s"
        if status < 0:
            return KILLED, f"crashed ({signal.Signals(-status).name})"
        failed = re.search(r"^(?:FAILED|ERROR) (\S+)", output, re.MULTILINE)
        if status in (1, 2, 3) and failed:
            return KILLED, failed[1]
        return (SURVIVED, "") if status == 0 else (BROKEN, output)


async def main(mutants: list[Mutant], jobs: int) -> int:
    """Judges mutants; returns 1 if any is not killed, else 0."""
    for mutant in mutants:
        mutant.changed(ROOT)
    with tempfile.TemporaryDirectory() as folder:
        shared = Path(folder) / "cache", max(1, usable_cores() // jobs)
        copies = asyncio.Queue()
        for number in range(jobs):
            copies.put_nowait(Copy(Path(folder) / f"copy-{number}", *shared))
        if not await _all_pass(mutants, copies):
            return 1
        outcomes = await _judge_all(mutants, copies)
    killed = [mutant.tier for mutant, outcome in outcomes.items() if outcome == KILLED]
    by_default = killed.count("default")
    print(f"\n{len(killed)} of {len(outcomes)} are killed, {by_default} of them by `make test`")
    return int(len(killed) < len(outcomes))


async def _all_pass(mutants: list[Mutant], copies: asyncio.Queue) -> bool:
    """Whether all tests pass where nothing is wrong; else a failure would say nothing."""
    tiers = {test: mutant.tier for mutant in mutants for test in mutant.tests}
    tiers |= {test: "system" for one in mutants if one.tier == "system" for test in one.tests}
    jobs = copies.qsize()
    shares = [
        (tier, tests)
        for tier in TIERS
        for number in range(jobs)
        if (tests := [test for test, its in tiers.items() if its == tier][number::jobs])
    ]
    print(f"{len(mutants)} mutants; without any, {len(tiers)} files or tests that cover them:")

    async def run(tier, tests):
        copy = await copies.get()
        start = time.perf_counter()
        status, output = await copy.run(tests, tier, 10 * SECONDS)
        copies.put_nowait(copy)
        last = output.strip().rpartition("\n")[2] if status == 0 else output
        print(f"{last} ({tier}, {time.perf_counter() - start:.0f} s)", flush=True)
        return status == 0

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(run(*share)) for share in shares]
    return all(task.result() for task in tasks)


async def _judge_all(mutants: list[Mutant], copies: asyncio.Queue) -> dict[Mutant, str]:
    """What became of each; says it as soon as it is known."""
    outcomes = {}

    async def judge(mutant):
        copy = await copies.get()
        start = time.perf_counter()
        outcome, by = await copy.judge(mutant)
        copies.put_nowait(copy)
        outcomes[mutant] = outcome
        seconds = time.perf_counter() - start
        about = f"{mutant.area}: {mutant.fault} ({mutant.file})"
        print(f"\n{outcome.upper():9}  {seconds:3.0f} s  {about}")
        print(f"           {by}", flush=True)

    async with asyncio.TaskGroup() as group:
        for mutant in mutants:
            group.create_task(judge(mutant))
    return outcomes


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tests.proof.mutants", description=__doc__)
    parser.add_argument("word", nargs="*", help="of an area or a fault; by default all are tried")
    parser.add_argument("--jobs", type=int, default=usable_cores(), help="copies at work at once")
    options = parser.parse_args()
    chosen = [
        each
        for each in MUTANTS
        if any(word in f"{each.area}: {each.fault}" for word in options.word or [""])
    ]
    if not chosen:
        parser.error(f"no mutant is about {' or '.join(options.word)}")
    sys.exit(asyncio.run(main(chosen, options.jobs)))
