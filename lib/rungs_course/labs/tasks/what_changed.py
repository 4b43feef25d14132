"""Lab 02: only changes are sent through a pipe."""

import functools
import itertools

import numpy as np

from rungs_course.labs.arrays import compare
from rungs_course.labs.lab import Difference, Lab, apart, require
from rungs_course.labs.positions import random_steps

_BOARDS, _STEPS = 32, 22


@functools.cache
def _observations(seed: int = 9) -> tuple[np.ndarray, list[list[str]]]:
    """Returns (T + 1, N, 72) int8 of random games, some of which end and begin, and FENs."""
    settings = {"max_plies": 17, "opening_plies": (0, 8)}
    observations, _, fens = random_steps(_BOARDS, _STEPS, seed, **settings)
    return observations, fens


def _judge(submission, _):
    yield from _differences(submission, _encode_all(submission))


def _encode_all(functions, seed: int = 9) -> list[bytes]:
    observations, _ = _observations(seed)
    return [functions.encode(*pair) for pair in itertools.pairwise(observations)]


def _differences(functions, messages: list[bytes], seed: int = 9):
    """Yields what is wrong with the bytes sent, and with what another process decodes of them."""
    observations, fens = _observations(seed)
    _, receiver = apart(functions, 2)
    for step, data in reversed(list(enumerate(messages))):
        if not isinstance(data, bytes):
            yield Difference(f"what is sent at step {step}", "bytes", type(data).__name__)
        yield compare(
            np.asarray(receiver.decode(observations[step], data)),
            observations[step + 1],
            lambda board, field, step=step: (
                f"step {step}, board {board}: number {field} of its observation"
            ),
            array_label=f"what is decoded at step {step}",
            exact=True,
            fen=lambda board, _, step=step: fens[step + 1][board],
        )


def _count(functions, seed: int) -> float:
    messages = _encode_all(functions, seed)
    require(_differences(functions, messages, seed))
    return sum(map(len, messages)) / (_BOARDS * _STEPS)


LAB = Lab(
    "02",
    ("encode", "decode"),
    _judge,
    target=0.7,
    cause="exercise",
    language="python",
    unit="bytes per board and step",
    count=_count,
)
