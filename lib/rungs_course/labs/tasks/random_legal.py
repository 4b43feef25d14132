"""Lab 00: any legal action for every board, without a loop over boards."""

import functools
import itertools

import numpy as np
from scipy.special import chdtrc  # chi-squared's tail; scipy.stats takes long to import

from rungs.chess import NUM_ACTIONS
from rungs_course.labs.arrays import fixed
from rungs_course.labs.lab import Call, Difference, Lab
from rungs_course.labs.positions import random_steps

_BOARDS, _STEPS, _RACED = 32, 12, 256
# For the test of frequencies: positions, copies of each, and calls.
_POSITIONS, _COPIES, _CALLS = 8, 32, 60
# Chance alone fails a right answer less often than once in this many checks.
_RARE = 1e12


@functools.cache
def _masks() -> tuple[np.ndarray, list[str | None]]:
    """Returns (N, 4672) bool masks of random games, then some made up, and the former's FENs."""
    _, bits, fens = random_steps(_BOARDS, _STEPS, seed=10, opening_plies=(0, 20))
    masks = np.unpackbits(bits.view(np.uint8), axis=2, bitorder="little").reshape(-1, NUM_ACTIONS)
    corners = np.zeros((4, NUM_ACTIONS), bool)  # one action, the first or the last; both; all
    corners[[0, 2], 0] = corners[[1, 2], -1] = corners[3] = True
    all_masks = fixed(np.concatenate([masks, corners]), bool)
    return all_masks, [*itertools.chain(*fens), *[None] * len(corners)]


def _judge(submission, _):
    rng = np.random.default_rng(11)
    masks, fens = _masks()
    boards = np.arange(len(masks))
    for chosen in (boards, boards[:1], boards[::-1], boards[-4:]):
        mask = masks[chosen]
        actions = np.asarray(submission.random_actions(mask, rng))
        shape, integer = (len(chosen),), np.issubdtype(actions.dtype, np.integer)
        if actions.shape != shape or not integer:
            output = f"the actions of {len(chosen)} boards"
            got = f"an array {actions.shape} of {actions.dtype}"
            yield Difference(output, f"an array {shape} of integers", got)
        inside = (actions >= 0) & (actions < NUM_ACTIONS)
        legal = inside & mask[np.arange(len(mask)), np.where(inside, actions, 0)]
        for row in np.flatnonzero(~legal):
            yield Difference(
                f"the action of board {row} of {len(mask)}",
                f"one of its {mask[row].sum()} legal ones",
                f"{actions[row]}, which is not legal",
                fens[chosen[row]],
            )
    yield from _frequency_differences(submission, rng)


def _frequency_differences(submission, rng: np.random.Generator):
    """Yields actions that are chosen too often or too rarely, by Pearson's chi-squared test."""
    masks, fens = _masks()
    boards = np.linspace(0, _BOARDS * _STEPS, _POSITIONS, dtype=int)
    mask = np.repeat(masks[boards], _COPIES, axis=0)
    rows = np.repeat(np.arange(_POSITIONS), _COPIES)
    counts = np.zeros((_POSITIONS, NUM_ACTIONS), int)
    for _ in range(_CALLS):
        np.add.at(counts, (rows, submission.random_actions(mask, rng)), 1)
    for board, chosen in zip(boards, counts, strict=True):
        legal = np.flatnonzero(masks[board])
        even = _COPIES * _CALLS / len(legal)
        off = chosen[legal] - even
        if chdtrc(len(legal) - 1, (off**2 / even).sum()) < 1 / (_POSITIONS * _RARE):
            action = legal[np.abs(off).argmax()]
            yield Difference(
                f"how often action {action} is chosen, one of {len(legal)} legal ones, in "
                f"{_COPIES * _CALLS} draws of {_CALLS} calls",
                f"about {even:.0f} times",
                f"{chosen[action]} times",
                fens[board],
            )


def _race(rng):
    masks, _ = _masks()
    chosen = rng.integers(len(masks) - 4, size=_RACED)
    return [Call("random_actions", (fixed(masks[chosen], bool), rng))]


def _agrees(calls, got, _):
    """Returns whether actions are legal, and a board's early and late ones are equally likely."""
    rng, places = np.random.default_rng(), []
    for call, actions in zip(calls, got, strict=True):
        mask, boards = call.args[0], np.arange(_RACED)
        integers = isinstance(actions, np.ndarray) and np.issubdtype(actions.dtype, np.integer)
        if not integers or actions.shape != (_RACED,) or not mask[boards, actions].all():
            return False
        before = mask.cumsum(axis=1)[boards, actions] - 1
        places.append((before + rng.random(_RACED)) / mask.sum(axis=1))
    counts = np.histogram(np.concatenate(places), 16, (0, 1))[0]
    even = counts.mean()
    return chdtrc(len(counts) - 1, ((counts - even) ** 2 / even).sum()) > 1 / _RARE


LAB = Lab(
    "00",
    ("random_actions",),
    _judge,
    target=0.5,
    cause="core bound",
    language="python",
    race=_race,
    agrees=_agrees,
)
