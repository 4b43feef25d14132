"""Lab 08b: a state's layout, by what a loop reads of it."""

import numpy as np

from rungs_course.labs.arrays import compare
from rungs_course.labs.harness import for_case
from rungs_course.labs.inside.guards import guarded, guarded_empty
from rungs_course.labs.lab import Difference, Lab, Unit

_WORDS = 16  # of a board: 128 bytes
_GAMES, _PLIES = 1 << 15, 1024  # 4 MB of boards, which a core's own caches do not hold
_BEGINNINGS = 4096  # offsets into `moved`, at one of which a ply's flags begin
_COUNTS = (1, 63, 64, 1000)


def _judge(submission, _):
    rng = np.random.default_rng(24)
    for count in _COUNTS:
        boards = rng.integers(0, 2**63, (count, _WORDS), dtype=np.uint64)
        clocks = rng.integers(0, 110, count).astype(np.uint64)
        boards[:, 0] = clocks
        memory = guarded_empty(_WORDS * count, np.uint64)
        submission.pack(guarded(boards), memory, count)
        for ply in range(3):
            moved = rng.integers(0, 2, count).astype(np.uint8)
            clocks = np.where(moved, 0, clocks + 1).astype(np.uint64)
            over = submission.tick(memory, guarded(moved), count)
            if over != (clocks >= 100).sum():
                output = f"how many of {count} clocks are 100 or more, after ply {ply}"
                yield Difference(output, str((clocks >= 100).sum()), str(over))
        unpacked = guarded_empty(boards.shape, np.uint64)
        submission.unpack(guarded(memory), unpacked, count)
        boards[:, 0] = clocks
        word = f"board {{}} of {count}, after three plies: word {{}}".format
        clock = f"board {{}} of {count}, after three plies: word 0, its clock".format
        unpacked_clocks, expected_clocks = (
            words[:, 0].astype(np.int64) for words in (unpacked, boards)
        )
        yield compare(unpacked_clocks, expected_clocks, clock, exact=True)
        yield compare(unpacked, boards, word, exact=True)


LAB = Lab(
    "08b",
    ("pack", "tick", "unpack"),
    _judge,
    target=0.3,
    cause="memory bound",
    **for_case(f"""
struct Case {{
  std::vector<std::uint64_t> boards, memory;
  std::vector<std::uint8_t> moved;
  std::uint64_t seed, over;
  void make(std::uint64_t from) {{
    const std::int64_t count = {_GAMES};
    seed = from;
    over = 0;
    boards.resize({_WORDS} * count);
    memory.resize({_WORDS} * count);
    moved.resize(count + {_BEGINNINGS});
    harness::Random random(seed);
    for (std::int64_t i = 0; i < {_WORDS} * count; i += 8) {{
      harness::Words words = random.next();
      if (i % {_WORDS} == 0) words[0] %= 110;
      __builtin_memcpy(boards.data() + i, &words, 64);
    }}
    // An eighth moves: many clocks are counted at first, a few later, and none passes 255.
    random.fill(moved.data(), count + {_BEGINNINGS});
    for (std::uint8_t& flag : moved) flag = flag < 32;
    pack(boards.data(), memory.data(), count);
  }}
  // Each ply's count is mixed with those before: none can be said later, or for several.
  void run() {{
    for (int ply = 0; ply < {_PLIES}; ++ply) {{
      const std::uint8_t* now = moved.data() + mixed(seed + ply) % {_BEGINNINGS};
      over = std::rotl(over, 7) + tick(memory.data(), now, {_GAMES});
    }}
  }}
  std::uint64_t digest() {{
    unpack(memory.data(), boards.data(), {_GAMES});
    return over + harness::digest(boards.data(), 8 * boards.size());
  }}
}};
"""),
    per=Unit("clock", _GAMES * _PLIES, 3, "L2"),
)
