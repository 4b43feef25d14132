"""Lab 03d: the mask's bytes, where planes have changed."""

import functools

import numpy as np

from rungs.chess import NUM_PLANES
from rungs_course.labs.arrays import guarded
from rungs_course.labs.lab import Difference, Lab, timed

_BOARDS, _STEPS, _SKIPPED = 24, 24, 4
_RACED = 72  # positions, whose masks fit into a core's own cache


@functools.cache
def _masks() -> tuple[np.ndarray, np.ndarray, list[str]]:
    """Returns (N, 73) uint64 of positions in random games, of those a step later, and FENs."""
    import rungs
    from rungs.chess import random_actions

    env = rungs.make("chess", "python", _BOARDS, seed=6, mask="bits")
    rng = np.random.default_rng(6)
    _, info = env.reset()
    masks, fens = [info["action_mask"].copy()], []
    for _ in range(_STEPS):
        _, _, _, _, info = env.step(random_actions(masks[-1], rng))
        masks.append(info["action_mask"].copy())
        fens += env.fens()
    first = _SKIPPED * _BOARDS
    before, now = np.concatenate(masks[:-1]), np.concatenate(masks[1:])
    return before[first:], now[first:], fens[first:]


def _bytes(planes: np.ndarray) -> np.ndarray:
    return np.unpackbits(planes.view(np.uint8), axis=1, bitorder="little")


def _judge(functions):
    before, now, fens = _masks()
    expected = _bytes(now)
    out = guarded(_bytes(before))
    functions.run(guarded(before), guarded(now), out, len(now))
    if np.array_equal(out, expected):
        return None
    case, action = (int(i) for i in np.argwhere(out != expected)[0])
    plane, square = divmod(action, 64)
    state = "changes" if before[case, plane] != now[case, plane] else "stays as it is"
    return Difference(
        f"position {case}: byte {action} of its mask (plane {plane}, from-square {square}; the "
        f"plane {state})",
        str(expected[case, action]),
        str(out[case, action]),
        fens[case],
    )


@functools.cache
def _raced() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Returns the planes of some positions before and now, and bytes: the same for all racers."""
    before, now, _ = _masks()
    chosen = slice(-_RACED, None)
    return before[chosen], now[chosen], guarded(_bytes(before[chosen]))


def _work(functions):
    before, now, out = _raced()

    def there_and_back():
        functions.run(before, now, out, _RACED)
        functions.run(now, before, out, _RACED)

    return timed(there_and_back)


LAB = Lab(
    name="03d",
    defines=("update_mask",),
    judge=_judge,
    work=_work,
    target=0.5,
    harness=f"""
void run(const std::uint64_t* before, const std::uint64_t* now, std::uint8_t* mask,
         std::int64_t count) {{
  const int planes = {NUM_PLANES};
  for (std::int64_t i = 0; i < count; ++i)
    update_mask(before + planes * i, now + planes * i, mask + 64 * planes * i);
}}
""",
)
