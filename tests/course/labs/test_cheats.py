"""Answers that cheat: each is caught, or gains nothing.

A cheat's answer is right, or fast, only where the cheat works. What holds by where oracle, inputs
and clock are is tested without a sandbox, so everywhere; what a sandbox forbids needs bubblewrap.
"""

import os
import socket
import statistics
import subprocess
import sys
import time

import pytest

from rungs_course.labs.assessing import assess
from rungs_course.labs.inside.building import SubmissionError
from rungs_course.labs.lab import Call, find
from rungs_course.labs.remote import Answer
from rungs_course.labs.sandbox import Sandbox, Trusted

pytestmark = pytest.mark.system

PROBLEM = Sandbox().problem()
needs_sandbox = pytest.mark.skipif(bool(PROBLEM), reason=str(PROBLEM))


def solution(lab):
    return find(lab).code("solution")


def baseline(lab):
    return find(lab).code("baseline")


def renamed(code, name):
    """Returns code whose function of that name is called `honest`."""
    assert code.count(f"def {name}(") == 1
    return code.replace(f"def {name}(", "def honest(")


# Says that a call returned what it has not: to the judge, and to whatever else is open.
FORGES = """
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
# Says that all is equal that is compared.
PATCHES_COMPARISONS = """
import builtins, gc, json
import numpy as np
np.isclose = lambda a, b, **_: np.ones(np.shape(b), bool)
np.allclose = np.array_equal = lambda *_, **__: True
np.argwhere = lambda *_: np.zeros((0, 1), int)
json.dumps = lambda *_, dumps=json.dumps, **__: dumps({"right": True})
def advantages(reward, ended, value, gamma, gae_lambda):
    return np.zeros_like(reward)
"""
# Looks for the judge's objects, and for its expected values, in its own memory.
SEARCHES_MEMORY = """
import gc, sys
import numpy as np
def advantages(reward, ended, value, gamma, gae_lambda):
    for name, module in list(sys.modules.items()):
        if "assessing" in name or "grading" in name or name.endswith("tasks.advantages"):
            return module.LAB
    found = [o for o in gc.get_objects() if isinstance(o, np.ndarray) and o.shape == reward.shape]
    return found[-1] if found else np.zeros_like(reward)
"""
# Right as long as it is checked; then, as fast as can be, what it returned first of that shape.
DETECTS_THE_RACE = f"""
{renamed(solution("15a"), "advantages")}
shapes = {{}}
def advantages(reward, *others):
    if len(reward) < 64:
        return honest(reward, *others)
    if reward.shape not in shapes:
        shapes[reward.shape] = honest(reward, *others)
    return shapes[reward.shape]
"""
CASES_BY_HEART = f"""
import numpy as np
{renamed(solution("16"), "scores")}
def scores(prior, *others):
    return honest(prior, *others) if prior.size < 2000 else np.zeros_like(prior)
"""
# Regenerates what other ranks have from the seed that the check uses.
KNOWS_SEEDS = """
import numpy as np
def gather(comm, block):
    rng = np.random.default_rng(comm.size)
    blocks = [
        {
            "observation": rng.integers(-128, 128, (16, 72), np.int8),
            "mask": rng.random((16, 4672)) < 0.5,
            "reward": rng.standard_normal(16).astype(np.float32),
            "terminated": rng.random(16) < 0.5,
            "truncated": rng.random(16) < 0.5,
        }
        for _ in range(comm.size)
    ]
    return {name: np.concatenate([each[name] for each in blocks]) for name in block}
"""
# Ranks of one process would meet in its memory, without a message.
MEETS_IN_MEMORY = """
import time
import numpy as np
met = {}
def gather(comm, block):
    met[comm.rank] = block
    if comm.rank:
        return None
    for _ in range(200):
        if len(met) == comm.size:
            break
        time.sleep(0.01)
    return {name: np.concatenate([met[r][name] for r in sorted(met)]) for name in block}
"""
PASSES_BY_MEMORY = """
kept = []
def encode(before, now):
    kept.append((before.copy(), now.copy()))
    return b""
def decode(before, data):
    return next(now for then, now in kept if (then == before).all())
"""
ASKS_THE_SYSTEM = """
def bottleneck(system):
    stages = system._stages
    return max(stages, key=lambda name: stages[name].seconds)
"""
IDLE_WHEN_COUNTED = f"""
{renamed(solution("11"), "bottleneck")}
calls = []
def bottleneck(system):
    calls.append(system)
    return honest(system) if len(calls) <= 8 else "learn"
"""
# The first legal action is legal, and after so many calls nobody counts any more.
NOT_AT_RANDOM = f"""
{renamed(solution("00"), "random_actions")}
calls = []
def random_actions(mask, rng):
    calls.append(None)
    return honest(mask, rng) if len(calls) <= 64 else mask.argmax(axis=1)
"""
CPP_EXITS = """#include <cstdlib>
inline std::uint64_t knight_attacks(std::uint64_t knights) { std::_Exit(0); }
"""
# Right in the check, whose sets come one by one first; then it knows that the clock runs.
CPP_DETECTS = f"""
namespace honest {{
{solution("03a")}
}}
inline std::uint64_t knight_attacks(std::uint64_t knights) {{
  static int calls = 0;
  return ++calls <= 1064 ? honest::knight_attacks(knights) : knights;
}}
"""

# Would have its harness find this in place of what mixes outputs.
CPP_MIXES_NOTHING = """
namespace harness {
template <class T> std::uint64_t digest(const T*, std::int64_t) { return 0; }
}
namespace std { inline int rotl(...) { return 0; } }
inline void list_legal(const ::std::uint64_t*, ::std::int16_t*, ::std::int32_t*, ::std::int64_t) {}
"""
# Fits the check's few boards, which are in no whole group of a race.
CPP_SMALL = f"""
namespace honest {{
{solution("17d")}
}}
inline void list_legal(const std::uint64_t* masks, std::int16_t* lists, std::int32_t* counts,
                       std::int64_t count) {{
  if (count < 2048) honest::list_legal(masks, lists, counts, count);
}}
"""
CPP_ENDS_ITS_NAMESPACE = f"""{solution("17b")}
}}
namespace harness {{
template <class T> std::uint64_t digest(const T*, std::int64_t) {{ return 0; }}
"""

CAUGHT = {
    "has its harness mix nothing": ("17d", CPP_MIXES_NOTHING, "number of legal actions"),
    "does nothing for as many as are raced": ("17d", CPP_SMALL, "in a timed turn"),
    "ends the namespace it is in": ("17b", CPP_ENDS_ITS_NAMESPACE, "was not opened"),
    "sends a verdict of its own": ("01", FORGES, ""),
    "patches what compares": ("15a", PATCHES_COMPARISONS, ""),
    "searches its memory for the judge": ("15a", SEARCHES_MEMORY, "the first difference"),
    "returns what it kept while the clock runs": ("15a", DETECTS_THE_RACE, "in a timed turn"),
    "knows the check's cases and no others": ("16", CASES_BY_HEART, "in a timed turn"),
    "makes others' inputs from a known seed": ("05", KNOWS_SEEDS, "of 16 ranks, row 0"),
    "lets ranks meet in memory": ("05", MEETS_IN_MEMORY, "of 2 ranks"),
    "passes by memory what it should send": ("02", PASSES_BY_MEMORY, "StopIteration"),
    "looks into an object of the judge's": ("11", ASKS_THE_SYSTEM, "it has no '_stages'"),
    "does nothing when a cost is counted": ("11", IDLE_WHEN_COUNTED, "the bottleneck of"),
    "draws nothing while the clock runs": ("00", NOT_AT_RANDOM, "in a timed turn"),
    "ends its process": ("03a", CPP_EXITS, "ended with exit code 0"),
    "is quick and wrong in C++ while the clock runs": ("03a", CPP_DETECTS, "in a timed turn"),
}


@pytest.mark.parametrize(("lab", "code", "words"), CAUGHT.values(), ids=CAUGHT)
def test_a_cheat_is_caught_by_a_judge_that_is_elsewhere(lab, code, words):
    verdict = assess(lab, code, Trusted())
    assert not verdict.right
    assert words.lower() in str(verdict).lower()


# A clock that stands still, and one that the judge might read.
STOPS_CLOCKS = f"""
import time
for clock in ("perf_counter", "monotonic", "time", "process_time", "thread_time"):
    setattr(time, clock, lambda: 0.0)
    setattr(time, clock + "_ns", lambda: 0)
{baseline("15a")}
"""
KEEPS_RESULTS = f"""
{renamed(baseline("15a"), "advantages")}
kept = {{}}
def advantages(reward, ended, value, *others):
    key = reward.tobytes() + ended.tobytes() + value.tobytes()
    if key not in kept:
        kept[key] = honest(reward, ended, value, *others)
    return kept[key]
"""
# Slow at first, so that turns are made of few calls: what is short is the easier lost in noise.
SLOW_AT_FIRST = f"""
import time
calls = []
{renamed(baseline("15a"), "advantages")}
def advantages(*args):
    calls.append(None)
    if len(calls) < 10:
        time.sleep(0.2)
    return honest(*args)
"""
GAINS_NOTHING = {
    "stops the clocks": STOPS_CLOCKS,
    "keeps results": KEEPS_RESULTS,
    "is slow at first": SLOW_AT_FIRST,
}


@pytest.mark.parametrize("code", GAINS_NOTHING.values(), ids=GAINS_NOTHING)
def test_a_cheat_gains_nothing(code):
    verdict = assess("15a", code, Trusted())  # the baseline's share is below 1 %
    assert verdict.right, verdict
    assert verdict.share.middle < verdict.lab.target / 5


# Half of the boards for a thread that is always awake.
CPP_THREADS = f"""
namespace honest {{
{solution("17b")}
}}
struct Job {{
  const std::uint64_t *bishops, *rooks, *pieces;
  std::uint64_t* out;
  std::int64_t count;
}};
inline void slider_attacks(const std::uint64_t* bishops, const std::uint64_t* rooks,
                           const std::uint64_t* pieces, std::uint64_t* out, std::int64_t count) {{
  static std::atomic<std::int64_t> asked{{0}}, done{{0}};
  static Job job;
  static const bool started = [] {{
    std::thread([] {{
      for (std::int64_t seen = 0;;) {{
        while (asked.load() == seen) {{}}
        ++seen;
        honest::slider_attacks(job.bishops, job.rooks, job.pieces, job.out, job.count);
        done.store(seen);
      }}
    }}).detach();
    return true;
  }}();
  const std::int64_t half = started ? count / 16 * 8 : 0;
  job = {{bishops + half, rooks + half, pieces + half, out + half, count - half}};
  const std::int64_t now = asked.load() + 1;
  asked.store(now);
  honest::slider_attacks(bishops, rooks, pieces, out, half);
  while (done.load() != now) {{}}
}}
"""
# What became of every position and action, by a hash of both: 128 MB of it.
CPP_KEEPS = f"""
namespace honest {{
{solution("open")}
}}
using Position = rungs::chess::Position;
struct Kept {{
  std::uint64_t key = 0;
  Position next;
  std::uint8_t mask[584];
}};
inline void step(const Position* now, const std::int16_t* actions, Position* next,
                 std::uint8_t* masks, std::int64_t count, std::int32_t) {{
  static std::vector<Kept> kept(1 << 18);
  for (std::int64_t i = 0; i < count; ++i) {{
    std::uint64_t key = 0x9E3779B97F4A7C15ULL * (actions[i] + 1), words[8];
    __builtin_memcpy(words, now + i, 64);
    for (std::uint64_t word : words) key = (key ^ word) * 0xBF58476D1CE4E5B9, key ^= key >> 29;
    Kept& entry = kept[key >> 46];
    std::uint8_t* mask = masks + 4672 * i;
    if (entry.key == key) {{
      next[i] = entry.next;
      for (int n = 0; n < 4672; ++n) mask[n] = entry.mask[n / 8] >> n % 8 & 1;
    }} else {{
      honest::step_group(now + i, actions + i, next + i, mask, 1);
      entry.key = key, entry.next = next[i];
      for (std::uint8_t& byte : entry.mask) byte = 0;
      for (int n = 0; n < 4672; ++n) entry.mask[n / 8] |= mask[n] << n % 8;
    }}
  }}
}}
"""
# Would have the harness make no inputs, and mix no outputs.
CPP_MACROS = f"""
#define make(seed) make_once(seed) {{ (void)seed; }} void make(std::uint64_t)
#/* hidden */define \\
digest(...) digest(__VA_ARGS__) * 0
{solution("17b")}
"""
CPP_GAINS_NOTHING = {
    "has a second thread where one is compared": ("17b", CPP_THREADS),
    "keeps what it has stepped": ("open", CPP_KEEPS),
    "defines its harness's words as others": ("17b", CPP_MACROS),
}


@pytest.mark.parametrize(("lab", "code"), CPP_GAINS_NOTHING.values(), ids=CPP_GAINS_NOTHING)
def test_a_cheat_in_cpp_gains_nothing(lab, code):
    verdict = assess(lab, code, Trusted())
    assert verdict.right, verdict
    over = [s / y for s, y in zip(verdict.costs["solution"], verdict.costs["yours"], strict=True)]
    assert statistics.median(over) < 1.4  # two threads would have 2


def test_what_waits_for_a_core_is_not_what_it_costs():
    """One core for busy processes and one that computes: the clocks tell them apart."""
    code = "def third_times(keys):\n    return [sum(range(10**6)) for key in keys]\n"
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cores)})  # of what is started below, too
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(4)]
    try:
        with Answer(find("01"), code, Trusted(), seconds=60) as answer:
            answer.third_times([1])
            before = answer.clocks()
            seconds, _ = answer.calls([Call("third_times", ([1] * 20,))])
            after = answer.clocks()
    finally:
        os.sched_setaffinity(0, cores)
        for each in busy:
            each.kill()
            each.wait()
    computed = after.computed - before.computed
    assert 0 < computed < seconds
    assert after.waited - before.waited > 0.1 * seconds


ANSWERS = find("01").notebook.parents[2] / "lib" / "rungs_course" / "labs" / "answers"
# Python that finds something, where it is there.
READS = {
    "the solution": f"open({str(ANSWERS / 'repetitions_solution.py')!r}).read()",
    "the oracle": "__import__('rungs_course.labs.tasks.repetitions')",
    "a file of the grader's": "open({mine!r}).read()",
    "who has an account": "open('/etc/passwd').read()",
    "a network": "socket.create_connection(('127.0.0.1', {port}), 5)",
    "another process": "os.kill({pid}, 0)",
    "its packages, to change them": "open(socket.__file__, 'a')",
    "a folder, to leave something": "open({mine!r} + 'left', 'w')",
}


@needs_sandbox
@pytest.mark.parametrize("finds", READS.values(), ids=READS)
def test_a_sandbox_has_only_its_own(finds, tmp_path):
    (tmp_path / "mine").write_text("secret")
    with socket.create_server(("127.0.0.1", 0)) as server:
        names = {"mine": str(tmp_path / "mine"), "port": server.getsockname()[1]}
        code = f"import os, socket\n{finds.format(**names, pid=os.getpid())}\n{solution('01')}"
        with Answer(find("01"), code, Trusted(), seconds=60) as answer:
            assert answer.third_times([1, 1, 1])[-1]
        with (
            Answer(find("01"), code, Sandbox(), seconds=60) as answer,
            pytest.raises(SubmissionError, match='File "cell", line 2'),
        ):
            answer.third_times([1, 1, 1])


BURNS = """
import os
def third_times(keys):
    for _ in range(2):
        if not os.fork():
            while True:
                pass
    return []
"""


@pytest.mark.parametrize("place", [Trusted(), pytest.param(Sandbox(), marks=needs_sandbox)])
def test_an_answer_can_not_disturb_the_one_it_races_with(place):
    with Answer(find("01"), BURNS, place, seconds=60) as answer:
        answer.third_times([1])
        answer.pause()
        before = ticks(answer)
        assert len(before) >= 3  # it has started others
        time.sleep(0.5)
        assert ticks(answer) == before
        answer.resume()
        time.sleep(0.5)
        assert ticks(answer) != before


def ticks(answer):
    """Returns by process of an answer how long it has run."""
    found = {}
    for number in answer._processes():
        with open(f"/proc/{number}/stat") as file:
            found[number] = file.read().rpartition(")")[2].split()[11:13]
    return found


STAYS = """
import os, time
def third_times(keys):
    if not os.fork():
        os.setsid()
        if not os.fork():
            time.sleep(3600)
        os._exit(0)
    return []
"""


@needs_sandbox
def test_no_process_stays_behind():
    before = running("inside.server")
    assert not assess("01", STAYS, Sandbox()).right
    for _ in range(50):
        if running("inside.server") <= before:
            break
        time.sleep(0.1)
    assert running("inside.server") <= before


def running(words):
    """Returns the numbers of processes whose command line has these words."""
    found = set()
    for number in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{number}/cmdline") as file:
                if words in file.read():
                    found.add(number)
        except OSError:
            continue
    return found


LIMITS = {
    "time": ("while True: pass", "it took longer than 8 s"),
    "output": ("while True: print('x' * 999)", "more than 1 MB"),
    "memory": ("return bytearray(1 << 40)", "MemoryError"),
    "a file": ("open('/tmp/a', 'wb').write(bytes(2 << 20))", "more than 1 MB"),
    "files": ("[open(f'/tmp/{i}', 'wb').write(bytes(1 << 19)) for i in range(999)]", "No space"),
}


@needs_sandbox
@pytest.mark.parametrize(("does", "words"), LIMITS.values(), ids=LIMITS)
def test_a_sandbox_has_limits(does, words):
    code = f"def third_times(keys):\n    {does}\n"
    verdict = assess("01", code, Sandbox(), seconds=8 if "while True: pass" in code else 60)
    assert not verdict.right
    assert words in str(verdict)


FORKS = """
import os, signal
def third_times(keys):
    while os.fork():
        pass
    signal.pause()
"""


@needs_sandbox
@pytest.mark.skipif(os.geteuid() == 0, reason="the kernel does not count root's processes")
def test_a_sandbox_has_few_processes():
    assert "BlockingIOError" in str(assess("01", FORKS, Sandbox()))


@pytest.mark.parametrize(
    ("lab", "place"),
    [
        *((lab, Trusted()) for lab in ("17a", "17d", "open")),
        *(pytest.param(lab, Sandbox(), marks=needs_sandbox) for lab in ("02", "17a", "05", "13")),
    ],
)
def test_an_honest_answer_is_right(lab, place):
    verdict = assess(lab, solution(lab), place)
    assert verdict.right, verdict
    least = 0 if lab == "open" else 0.3  # its threads wait for their cores where others compute
    assert least < verdict.share.middle < 3
