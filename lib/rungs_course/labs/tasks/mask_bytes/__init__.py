"""Lab 03d: the mask's bytes, where planes have changed."""

import functools
from pathlib import Path

import numpy as np

from rungs.chess import NUM_PLANES
from rungs_course.labs import guarded
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
    out = guarded.copy(_bytes(before))
    functions.run(guarded.copy(before), guarded.copy(now), out, len(now))
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
    return before[chosen], now[chosen], guarded.copy(_bytes(before[chosen]))


def _work(functions):
    before, now, out = _raced()

    def there_and_back():
        functions.run(before, now, out, _RACED)
        functions.run(now, before, out, _RACED)

    return timed(there_and_back)


LAB = Lab(
    name="03d",
    title="a mask's bytes, where planes change",
    notebook="03_cpp",
    minutes=25,
    goal="""A `bool` mask is 4672 bytes of 0 or 1: byte `64 * plane + square` is bit `square` of
bitboard `plane`, of 73. To write them all at every ply costs more than to find the legal moves. Yet
most planes are the same as a ply before, and most of those are empty. Write a function that is
given the 73 bitboards `before` and `now`, and `mask`, which holds the bytes of `before`: make them
those of `now`. Leave alone what stays, and be fast at the 64 bytes of a plane that does not.""",
    defines=("update_mask",),
    hints=(
        "Compare two words and skip 64 bytes where they are equal. For a plane that has changed, "
        "take its bits off one by one: `std::countr_zero(changed)` is the lowest, `changed &= "
        "changed - 1` removes it.",
        "A branch that goes now one way, now the other costs more than the bytes. Find out which "
        "planes differ without any: `changed |= std::uint64_t{before[i] != now[i]} << i`, and then "
        "go through those bits. And write the 64 bytes of a plane at once, with a vector: "
        "`expand_bits_to_bytes` in `cpp/env/mask.hpp` sends each byte the eight bits it is among.",
    ),
    judge=_judge,
    work=_work,
    target=0.5,
    folder=Path(__file__).parent,
    harness=f"""
void run(const std::uint64_t* before, const std::uint64_t* now, std::uint8_t* mask,
         std::int64_t count) {{
  const int planes = {NUM_PLANES};
  for (std::int64_t i = 0; i < count; ++i)
    update_mask(before + planes * i, now + planes * i, mask + 64 * planes * i);
}}
""",
)
