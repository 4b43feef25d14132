"""Lab 17a: the mask's bytes, where planes have changed."""

import functools
import itertools

import numpy as np

from rungs.chess import NUM_PLANES
from rungs_course.labs.arrays import compare, fixed
from rungs_course.labs.harness import MIXED, RACE
from rungs_course.labs.inside.guards import guarded, guarded_empty
from rungs_course.labs.lab import Call, Lab
from rungs_course.labs.positions import random_steps

_SKIPPED = 4
_RACED = 72  # positions, whose masks fit into a core's own cache
_WORDS = 8 * NUM_PLANES  # of eight bytes each, in a mask of bytes
_CALLED = RACE.format(
    parameters="std::uint64_t seed, std::int64_t times, const std::uint64_t* planes, "
    "std::uint64_t* out",
    arguments="seed, times, planes, out",
)


@functools.cache
def _masks() -> tuple[np.ndarray, np.ndarray, list[str]]:
    """Returns (N, 73) uint64 of positions in random games, of those a step later, and FENs."""
    _, masks, fens = random_steps(24, 24, seed=6)
    before, now = (planes.reshape(-1, NUM_PLANES) for planes in (masks[:-1], masks[1:]))
    first = _SKIPPED * masks.shape[1]
    return before[first:], now[first:], list(itertools.chain(*fens[1:]))[first:]


def _bytes(planes: np.ndarray) -> np.ndarray:
    return np.unpackbits(planes.view(np.uint8), axis=1, bitorder="little")


def _judge(submission, _):
    before, now, fens = _masks()
    bytes_before = _bytes(before)
    out = guarded_empty(bytes_before.shape, np.uint8)
    out[...] = bytes_before
    submission.run(guarded(before), guarded(now), out, len(now))

    def label(case: int, action: int) -> str:
        plane, square = divmod(action, 64)
        state = "changes" if before[case, plane] != now[case, plane] else "stays as it is"
        return (
            f"position {case}: byte {action} of its mask (plane {plane}, from-square {square}; the "
            f"plane {state})"
        )

    yield compare(out, _bytes(now), label, exact=True, fen=lambda case, _: fens[case])


def _race(rng):
    before, *_ = _masks()
    chosen = np.sort(rng.permutation(len(before))[:_RACED])
    out = np.zeros(_WORDS, np.uint64)
    return [Call("race", (int(rng.integers(1 << 62)), 20, fixed(before[chosen], np.uint64), out))]


LAB = Lab(
    "17a",
    ("update_mask",),
    _judge,
    target=0.5,
    cause="bad speculation",
    harness=f"""
void run(const std::uint64_t* before, const std::uint64_t* now, std::uint8_t* mask,
         std::int64_t count) {{
  const int planes = {NUM_PLANES};
  for (std::int64_t i = 0; i < count; ++i)
    update_mask(before + planes * i, now + planes * i, mask + 64 * planes * i);
}}
{MIXED}
// An eighth of the planes change each time, to what others are.
template <bool kIdle>
void play(std::uint64_t seed, std::int64_t times, const std::uint64_t* planes,
          std::uint64_t* out) {{
  constexpr int kPlanes = {_RACED * NUM_PLANES};
  static std::uint64_t both[2][kPlanes], mask[8 * kPlanes];
  for (int i = 0; i < kPlanes; ++i) {{
    both[0][i] = planes[i];
    for (int bit = 0; bit < 64; ++bit)
      reinterpret_cast<std::uint8_t*>(mask)[64 * i + bit] = planes[i] >> bit & 1;
  }}
  for (std::int64_t time = 0; time < times; ++time) {{
    const std::uint64_t* before = both[time % 2];
    std::uint64_t* now = both[1 - time % 2];
    for (int i = 0; i < kPlanes; ++i) {{
      const std::uint64_t random = mixed(seed + kPlanes * time + i);
      now[i] = random & 7 ? before[i] : planes[(random >> 32) * kPlanes >> 32];
    }}
    if constexpr (!kIdle) run(before, now, reinterpret_cast<std::uint8_t*>(mask), {_RACED});
    for (int i = 0; i < {_RACED}; ++i)
      for (int word = 0; word < {_WORDS}; ++word)
        out[word] = std::rotl(out[word], 7) + mask[{_WORDS} * i + word];
  }}
}}
{_CALLED}""",
    race=_race,
    idle="idle",
)
