"""Lab 02: through a pipe goes only what has changed."""

import functools
import itertools

import numpy as np

from rungs_course.labs.lab import Difference, Lab

_BOARDS, _STEPS, _MAX_PLIES = 32, 22, 17


@functools.cache
def _observations() -> tuple[np.ndarray, list[list[str]]]:
    """Returns (T + 1, N, 72) int8 of random games, some of which end and begin, and FENs."""
    import rungs
    from rungs.chess import random_actions

    env = rungs.make(
        "chess", "python", _BOARDS, seed=9, max_plies=_MAX_PLIES, opening_plies=(0, 8), mask="bits"
    )
    rng = np.random.default_rng(9)
    observation, info = env.reset()
    rows, fens = [observation.copy()], [env.fens()]
    for _ in range(_STEPS):
        observation, *_, info = env.step(random_actions(info["action_mask"], rng))
        rows.append(observation.copy())
        fens.append(env.fens())
    seen = np.array(rows)
    seen.flags.writeable = False
    return seen, fens


def _judge(functions):
    seen, fens = _observations()
    sent = [functions.encode(*pair) for pair in itertools.pairwise(seen)]
    for step, data in reversed(list(enumerate(sent))):
        if not isinstance(data, bytes):
            return Difference(f"what is sent at step {step}", "bytes", type(data).__name__)
        expected = seen[step + 1]
        found = np.asarray(functions.decode(seen[step], data))
        if (found.shape, found.dtype) != (expected.shape, expected.dtype):
            what = f"what is decoded at step {step}"
            should, got = (f"an array {a.shape} of {a.dtype}" for a in (expected, found))
            return Difference(what, should, got)
        if not np.array_equal(found, expected):
            board, field = (int(i) for i in np.argwhere(found != expected)[0])
            return Difference(
                f"step {step}, board {board}: number {field} of its observation",
                str(expected[board, field]),
                str(found[board, field]),
                fens[step + 1][board],
            )
    return None


def _work(functions):
    seen, _ = _observations()

    def sent() -> float:
        pairs = itertools.pairwise(seen)
        return sum(len(functions.encode(*pair)) for pair in pairs) / (_BOARDS * _STEPS)

    return sent


LAB = Lab(
    name="02",
    defines=("encode", "decode"),
    judge=_judge,
    work=_work,
    target=0.7,
    language="python",
    unit="bytes per board and step",
)
