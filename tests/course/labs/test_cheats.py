"""Answers that cheat: each is caught, or gains nothing.

Protection by the place of oracle, inputs and clock is tested without a sandbox, so everywhere;
protection by a sandbox needs bubblewrap.
"""

import os
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from rungs_course.labs import judging, sandbox
from rungs_course.labs.judging import assess
from rungs_course.labs.lab import Call, find
from rungs_course.labs.remote import Answer, Clocks
from rungs_course.labs.sandbox import Sandbox, Trusted
from tests.processes import poll

pytestmark = pytest.mark.system

needs_sandbox = pytest.mark.needs("bwrap")
SANDBOX = pytest.param(Sandbox(), marks=needs_sandbox, id="sandbox")
LAUNCHERS = [pytest.param(Trusted(), id="trusted"), SANDBOX]


@pytest.fixture(autouse=True)
def short_races(monkeypatch):
    monkeypatch.setattr(judging, "_REPEATS", 5)


def solution(lab):
    return find(lab).code("solution")


def renamed(code, name):
    """Returns code whose function of that name is called `honest`."""
    assert code.count(f"def {name}(") == 1
    return code.replace(f"def {name}(", "def honest(")


# Writes the replies of a right and fast answer to the judge's socket, and to whatever else is open.
FORGES_REPLIES = """
import json, os, struct
def third_times(keys):
    for value in ([True] * len(keys), {"right": True}, {"costs": {"yours": [1e-9]}}):
        text = json.dumps({"dict": [["value", [value]]]}).encode()
        for number in range(3, 64):
            try:
                os.write(number, struct.pack("<QQ", len(text), 0) + text)
            except OSError:
                pass
    return [False] * len(keys)
"""


# Right, but for its replies.
REPLIES_WITH_A_NUMBER = f"""
import json
json.dumps = lambda *_, **__: '{{"dict": [["value", 1]]}}'
{solution("01")}
"""
# Makes comparisons succeed, and looks for the judge and for its expected values, in its own memory.
CHANGES_ITS_PROCESS = """
import gc, sys
import numpy as np
np.isclose = lambda a, b, **_: np.ones(np.shape(b), bool)
np.allclose = np.array_equal = lambda *_, **__: True
np.argwhere = lambda *_: np.zeros((0, 1), int)
def advantages(reward, ended, value, gamma, gae_lambda):
    for name, module in list(sys.modules.items()):
        if "judging" in name or "grading" in name or name.endswith("tasks.advantages"):
            return module.LAB
    arrays = [o for o in gc.get_objects() if isinstance(o, np.ndarray) and o.shape == reward.shape]
    return arrays[-1] if arrays else np.zeros_like(reward)
"""
# Right while it is checked; then returns what it returned first for arrays of that shape.
RETURNS_FIRST_RESULTS = f"""
{renamed(solution("15a"), "advantages")}
results = {{}}
def advantages(reward, *others):
    if len(reward) < 64:
        return honest(reward, *others)
    if reward.shape not in results:
        results[reward.shape] = honest(reward, *others)
    return results[reward.shape]
"""
# Messages of no use tell rank 0 that the other ranks have written to the memory of their process.
RANKS_MEET_IN_MEMORY = """
import numpy as np
blocks = {}
def gather(comm, block):
    blocks[comm.rank] = block
    if comm.rank:
        return comm.send(0, np.zeros(1))
    for rank in range(1, comm.size):
        comm.recv(rank)
    return {name: np.concatenate([blocks[r][name] for r in sorted(blocks)]) for name in block}
"""
DECODES_FROM_MEMORY = """
kept = []
def encode(before, now):
    kept.append((before.copy(), now.copy()))
    return b""
def decode(before, data):
    return next(now for then, now in kept if (then == before).all())
"""
READS_THE_JUDGES_OBJECT = """
def bottleneck(system):
    return max(system._stages, key=lambda name: system._stages[name].seconds)
"""
IDLE_WHEN_COUNTED = f"""
{renamed(solution("11"), "bottleneck")}
calls = []
def bottleneck(system):
    calls.append(system)
    return honest(system) if len(calls) <= 8 else "learn"
"""
# Does nothing for as many boards as are raced.
CPP_RIGHT_FOR_FEW = f"""
namespace honest {{
{solution("17d")}
}}
inline void list_legal(const std::uint64_t* masks, std::int16_t* lists, std::int32_t* counts,
                       std::int64_t count) {{
  if (count < 2048) honest::list_legal(masks, lists, counts, count);
}}
"""

# The lab, the answer, and a name in the verdict: races and checks name their functions differently,
# so that these show which of them caught a cheat.
CAUGHT = [
    ("01", FORGES_REPLIES, "game 0"),
    ("01", REPLIES_WITH_A_NUMBER, "interfered"),
    ("15a", CHANGES_ITS_PROCESS, "the advantage of"),
    ("15a", RETURNS_FIRST_RESULTS, "advantages"),
    ("05", RANKS_MEET_IN_MEMORY, "of 2 ranks"),
    ("02", DECODES_FROM_MEMORY, "StopIteration"),
    ("11", READS_THE_JUDGES_OBJECT, "_stages"),
    ("11", IDLE_WHEN_COUNTED, "'learn'"),
    ("17d", CPP_RIGHT_FOR_FEW, "race"),
]


@pytest.mark.parametrize(("lab", "code", "names"), CAUGHT)
def test_a_cheat_is_caught_by_a_judge_that_is_elsewhere(lab, code, names):
    verdict = assess(lab, code, Trusted())
    assert not verdict.right
    assert names in (verdict.problem or verdict.difference.output + verdict.difference.got)


# Stops every clock that a judge might read, keeps results, and is slow at first, so that turns have
# few calls.
GAINS_NOTHING = f"""
import time
for clock in ("perf_counter", "monotonic", "time", "process_time", "thread_time"):
    setattr(time, clock, lambda: 0.0)
    setattr(time, clock + "_ns", lambda: 0)
{renamed(find("15a").code("baseline"), "advantages")}
results, calls = {{}}, []
def advantages(reward, ended, value, *others):
    calls.append(None)
    if len(calls) < 10:
        time.sleep(0.2)
    key = reward.tobytes() + ended.tobytes() + value.tobytes()
    if key not in results:
        results[key] = honest(reward, ended, value, *others)
    return results[key]
"""


def test_clocks_and_kept_results_gain_nothing():
    verdict = assess("15a", GAINS_NOTHING, Trusted())  # the baseline's share is below 1 %
    assert verdict.right, verdict
    assert verdict.share.middle < verdict.lab.target / 5


def test_a_race_on_one_core_counts_the_computing_of_all_threads(monkeypatch):
    hours = iter(range(1 << 30))
    monkeypatch.setattr(Answer, "clocks", lambda self: Clocks(3600.0 * next(hours), 0.0))
    verdict = assess("15a", find("15a").code("baseline"), Trusted())
    assert verdict.lab.on_one_core
    assert verdict.share.middle == pytest.approx(1)


def test_the_time_that_answer_and_judge_wait_for_a_core_is_subtracted(monkeypatch):
    clocks = iter([Clocks(1.0, 5.0), Clocks(2.0, 7.0)])
    monkeypatch.setattr(Answer, "clocks", lambda self: next(clocks))
    waited = iter([10.0, 14.0])
    monkeypatch.setattr(judging, "waited", lambda process: next(waited))
    answer = Answer(find("01"), "", Trusted(), 60)
    seconds, value = judging._seconds_alone(answer, lambda: (10.0, "value"))
    assert (seconds, value) == (pytest.approx(10 - 2 - 4), "value")


TWO_THREADS = """
import threading, time
def compute():
    end = time.thread_time() + 0.2
    while time.thread_time() < end:
        pass
def third_times(keys):
    thread = threading.Thread(target=compute)
    thread.start()
    compute()
    thread.join()
    return []
"""


def test_clocks_tell_computing_from_waiting():
    """Several processes share a core, one of which computes for an answer by two threads."""
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cores)})  # and that of the processes below
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2)]
    try:
        with Answer(find("01"), TWO_THREADS, Trusted(), seconds=60) as answer:
            answer.calls([])
            before = answer.clocks()
            seconds, _ = answer.calls([Call("third_times", ([1],))])
            after = answer.clocks()
    finally:
        os.sched_setaffinity(0, cores)
        for process in busy:
            process.kill()
            process.wait()
    assert 0.39 < after.computed - before.computed < seconds
    assert after.waited > before.waited


TRIES = """
import os, socket
def third_times(expressions):
    return [tried(expression) for expression in expressions]
def tried(expression):
    try:
        eval(expression)
        return True
    except Exception:
        return False
"""
ANSWERS = find("01").notebook.parents[2] / "lib" / "rungs_course" / "labs" / "answers"


@pytest.mark.parametrize("launcher", LAUNCHERS)
def test_a_sandbox_has_nothing_of_the_graders(launcher, tmp_path):
    (tmp_path / "mine").write_text("secret")
    with socket.create_server(("127.0.0.1", 0)) as server:
        reachable = {
            "the solution": f"open({str(ANSWERS / 'repetitions_solution.py')!r}).read()",
            "the oracle": "__import__('rungs_course.labs.tasks.repetitions')",
            "a file": f"open({str(tmp_path / 'mine')!r}).read()",
            "accounts": "open('/etc/passwd').read()",
            "a network": f"socket.create_connection({server.getsockname()!r}, 5)",
            "a process": f"os.kill({os.getpid()}, 0)",
            "packages, to change them": "open(socket.__file__, 'a')",
            "a folder, to write to": f"open({str(tmp_path / 'left')!r}, 'w')",
        }
        with Answer(find("01"), TRIES, launcher, seconds=60) as answer:
            succeeded = answer.third_times(["len('it works')", *reachable.values()])
    assert succeeded.pop(0)
    assert dict(zip(reachable, succeeded, strict=True)) == dict.fromkeys(
        reachable, isinstance(launcher, Trusted)
    )


@needs_sandbox
def test_a_sandbox_sees_an_installation_that_lies_below_its_own_temporary_folder(monkeypatch):
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        Path(folder, "rungs").mkdir()
        Path(folder, "rungs", "here").write_text("yes")
        monkeypatch.setattr(sandbox, "_LIB", Path(folder))
        command = Sandbox().command(f"print(open({folder + '/rungs/here'!r}).read())")
        done = subprocess.run(command, capture_output=True, text=True)
    assert done.stdout == "yes\n", done.stderr


FILLS_ITS_FOLDER = "[open(f'/tmp/{i}', 'wb').write(bytes(1 << 19)) for i in range(999)]"
STARTS_MANY = "import os, signal\n    while os.fork(): pass\n    signal.pause()"
not_root = pytest.mark.skipif(os.geteuid() == 0, reason="the kernel counts no processes of root")


@needs_sandbox
@pytest.mark.parametrize(
    ("statement", "names"),
    [(FILLS_ITS_FOLDER, "No space"), pytest.param(STARTS_MANY, "BlockingIOError", marks=not_root)],
)
def test_a_sandbox_has_limits(statement, names):
    verdict = assess("01", f"def third_times(keys):\n    {statement}\n", Sandbox())
    assert not verdict.right
    assert names in verdict.problem


STARTS_TWO = """
import os
def third_times(keys):
    for _ in range(2):
        if not os.fork():
            while True:
                pass
    return []
"""


@pytest.mark.parametrize("launcher", LAUNCHERS)
def test_all_processes_of_a_paused_answer_are_stopped(launcher):
    with Answer(find("01"), STARTS_TWO, launcher, seconds=60) as answer:
        answer.third_times([1])
        assert len(states(answer)) >= 3
        answer.pause()
        poll(lambda: set(states(answer)) == {"T"})
        answer.resume()
        poll(lambda: "T" not in states(answer))


def states(answer):
    """Returns the state of each process of an answer, "T" of one that is stopped."""
    stats = [Path(f"/proc/{number}/stat").read_text() for number in answer._processes()]
    return [stat.rpartition(")")[2].split()[0] for stat in stats]


LEAVES_A_PROCESS = """
import os, time
def third_times(keys):
    child = os.fork()
    if child:
        os.waitpid(child, 0)
        return []
    os.setsid()
    if not os.fork():
        time.sleep(3600)
    os._exit(0)
"""


@needs_sandbox
def test_no_process_stays_behind():
    with Answer(find("01"), LEAVES_A_PROCESS, Sandbox(), seconds=60) as answer:
        answer.third_times([1])
        processes = answer._processes()
        assert len(processes) == 1 + Sandbox.started_by + 1
    poll(lambda: not any(os.path.exists(f"/proc/{number}") for number in processes))


@needs_sandbox
@pytest.mark.parametrize("lab", ["05", "13"])  # of ranks, and by Numba
def test_an_honest_answer_is_right_in_a_sandbox(lab):
    assert assess(lab, solution(lab), Sandbox()).right
