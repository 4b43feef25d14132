"""Lab 00: any legal action for every board, without a loop over boards."""

import functools

import numpy as np

from rungs.chess import NUM_ACTIONS
from rungs_course.labs.lab import Difference, Lab, timed

_BOARDS, _STEPS = 32, 12
# The frequencies' test: copies of each of some positions, and calls.
_POSITIONS, _COPIES, _CALLS = 8, 32, 60
# Chance alone fails a right answer less often than once in this many checks.
_RARE = 1e12


@functools.cache
def _masks() -> tuple[np.ndarray, list[str | None]]:
    """Returns (N, 4672) bool masks of random games, then some made up, and the former's FENs."""
    import rungs

    env = rungs.make("chess", "python", _BOARDS, seed=10, opening_plies=(0, 20), mask="bool")
    rng = np.random.default_rng(10)
    _, info = env.reset()
    masks, fens = [info["action_mask"].copy()], env.fens()
    for _ in range(_STEPS):
        actions = np.array([rng.choice(np.flatnonzero(row)) for row in masks[-1]])
        *_, info = env.step(actions)
        masks.append(info["action_mask"].copy())
        fens += env.fens()
    corners = np.zeros((4, NUM_ACTIONS), bool)  # one action, the first or the last; both; all
    corners[[0, 2], 0] = corners[[1, 2], -1] = corners[3] = True
    whole = np.concatenate([*masks, corners])
    whole.flags.writeable = False
    return whole, [*fens, *[None] * len(corners)]


def _judge(functions):
    rng = np.random.default_rng(11)
    return _illegal(functions, rng) or _uneven(functions, rng)


def _illegal(functions, rng: np.random.Generator) -> Difference | None:
    masks, fens = _masks()
    boards = np.arange(len(masks))
    for chosen in (boards, boards[:1], boards[::-1], boards[-4:]):
        mask = masks[chosen]
        actions = np.asarray(functions.random_actions(mask, rng))
        shape, integer = (len(chosen),), np.issubdtype(actions.dtype, np.integer)
        if actions.shape != shape or not integer:
            what = f"the actions of {len(chosen)} boards"
            got = f"an array {actions.shape} of {actions.dtype}"
            return Difference(what, f"an array {shape} of integers", got)
        inside = (actions >= 0) & (actions < NUM_ACTIONS)
        legal = inside & mask[np.arange(len(mask)), np.where(inside, actions, 0)]
        if not legal.all():
            row = int(np.flatnonzero(~legal)[0])
            return Difference(
                f"the action of board {row} of {len(mask)}",
                f"one of its {mask[row].sum()} legal ones",
                f"{actions[row]}, which is not legal",
                fens[chosen[row]],
            )
    return None


def _uneven(functions, rng: np.random.Generator) -> Difference | None:
    """Counts what is chosen in copies of some positions; Pearson's test says if that is chance."""
    from scipy.stats import chi2

    masks, fens = _masks()
    boards = np.linspace(0, _BOARDS * _STEPS, _POSITIONS, dtype=int)
    mask = np.repeat(masks[boards], _COPIES, axis=0)
    rows = np.repeat(np.arange(_POSITIONS), _COPIES)
    counts = np.zeros((_POSITIONS, NUM_ACTIONS), int)
    for _ in range(_CALLS):
        np.add.at(counts, (rows, functions.random_actions(mask, rng)), 1)
    for board, chosen in zip(boards, counts, strict=True):
        legal = np.flatnonzero(masks[board])
        even = _COPIES * _CALLS / len(legal)
        off = chosen[legal] - even
        if chi2.sf((off**2 / even).sum(), len(legal) - 1) < 1 / (_POSITIONS * _RARE):
            action = legal[np.abs(off).argmax()]
            return Difference(
                f"how often action {action} is chosen, one of {len(legal)} legal ones, in "
                f"{_COPIES * _CALLS} draws of {_CALLS} calls",
                f"about {even:.0f} times",
                f"{chosen[action]} times",
                fens[board],
            )
    return None


def _work(functions):
    masks, _ = _masks()
    mask, rng = masks[:256], np.random.default_rng(12)
    return timed(lambda: functions.random_actions(mask, rng))


LAB = Lab(
    name="00",
    defines=("random_actions",),
    judge=_judge,
    work=_work,
    target=0.5,
    language="python",
)
