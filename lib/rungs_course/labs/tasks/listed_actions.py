"""Lab 17d: a list of the legal actions, without unpredictable branches."""

import itertools

import numpy as np

from rungs.chess import NUM_PLANES
from rungs_course.labs.arrays import compare
from rungs_course.labs.harness import for_case
from rungs_course.labs.inside.guards import guarded, guarded_empty
from rungs_course.labs.lab import Lab, Unit
from rungs_course.labs.positions import random_steps

_BOARDS = 2048  # too many for a branch predictor to memorise
_ROOM = 256  # actions that a board's list can hold
_LEGAL = 30  # actions of a board of the race, about
_PADDED = -(-NUM_PLANES // 8) * 8  # planes, rounded up to a multiple of eight


def _judge(submission, _):
    _, masks, fens = random_steps(8, 20, seed=23)
    planes, positions = masks.reshape(-1, NUM_PLANES).copy(), list(itertools.chain(*fens))
    planes[1] = 0  # a game that is over
    positions[1] = None
    bits = np.unpackbits(planes.view(np.uint8), axis=1, bitorder="little")
    for count in (1, len(planes)):
        lists = guarded_empty((count, _ROOM), np.int16)
        counts = guarded_empty(count, np.int32)
        submission.list_legal(guarded(planes[:count]), lists, counts, count)
        expected = bits[:count].sum(axis=1).astype(np.int32)
        words = "the number of legal actions of position {}".format
        yield compare(counts, expected, words, exact=True, fen=positions.__getitem__)
        for i in range(count):
            actions = np.flatnonzero(bits[i]).astype(np.int16)
            label = f"number {{}} of the legal actions of position {i}".format
            fen = lambda _, i=i: positions[i]  # noqa: E731
            yield compare(lists[i, : expected[i]], actions, label, exact=True, fen=fen)


LAB = Lab(
    "17d",
    ("list_legal",),
    _judge,
    target=0.6,
    cause="bad speculation",
    **for_case(f"""
struct Case {{
  std::uint64_t masks[{NUM_PLANES} * {_BOARDS} + 8];
  std::int16_t lists[{_ROOM * _BOARDS}];
  std::int32_t counts[{_BOARDS}];
  std::vector<std::uint64_t> pool;
  // Boards that were drawn once, in another order, and each with its squares rotated by another
  // number: as quick as a copy, and nobody knows what is legal on which.
  void make(std::uint64_t seed) {{
    if (pool.empty()) draw(seed);
    for (int i = 0; i < {_BOARDS}; ++i) {{
      const std::uint64_t random = mixed(seed + i), by = random >> 58;
      const std::uint64_t* from = pool.data() + {_PADDED} * (random % {_BOARDS});
      for (int plane = 0; plane < {NUM_PLANES}; plane += 8) {{
        harness::Words words;
        __builtin_memcpy(&words, from + plane, 64);
        words = words << by | words >> (63 & -by);
        // What is too much lies where the next board comes.
        __builtin_memcpy(masks + {NUM_PLANES} * i + plane, &words, 64);
      }}
    }}
  }}
  // Half of the actions are on eight planes, as in games.
  void draw(std::uint64_t seed) {{
    pool.resize({_PADDED * _BOARDS});
    for (int i = 0; i < {_BOARDS}; ++i)
      for (int n = 0; n < {_LEGAL}; ++n) {{
        const std::uint64_t random = mixed(seed - 64 * i - n);
        const int plane = (random >> 33) % (random >> 32 & 1 ? 8 : {NUM_PLANES});
        pool[{_PADDED} * i + plane] |= 1ULL << (random & 63);
      }}
  }}
  void run() {{ list_legal(masks, lists, counts, {_BOARDS}); }}
  std::uint64_t digest() const {{
    std::uint64_t all = 0;
    for (int i = 0; i < {_BOARDS}; ++i) {{
      const int count = counts[i] & {_ROOM - 1};  // also where nothing has been written
      all = std::rotl(all, 7) + harness::digest(lists + {_ROOM} * i, 2 * count) + count;
    }}
    return all;
  }}
}};
"""),
    per=Unit("board", _BOARDS),
)
