"""Lab 17c: how many actions are legal, without a table."""

import numpy as np

from rungs.chess import NUM_PLANES
from rungs_course.labs.arrays import compare
from rungs_course.labs.harness import for_case
from rungs_course.labs.inside.guards import guarded, guarded_empty
from rungs_course.labs.lab import Lab, Unit

_BOARDS = 256  # whose masks a core's own cache holds
_COUNTS = (1, 3, 257)


def _masks(count: int) -> np.ndarray:
    """Returns (count, 73) uint64: all bits of a plane, one bit of each, then at random."""
    rng = np.random.default_rng(22)
    masks = rng.integers(0, 2**64, (count, NUM_PLANES), dtype=np.uint64)
    masks &= rng.integers(0, 2**64, masks.shape, dtype=np.uint64)
    masks[0] = np.uint64(1) << np.arange(NUM_PLANES, dtype=np.uint64) % np.uint64(64)
    if count > 1:
        masks[1] = np.uint64(2**64 - 1)
    return masks


def _judge(submission, _):
    for count in _COUNTS:
        masks, out = _masks(count), guarded_empty(count, np.int32)
        submission.count_legal(guarded(masks), out, count)
        expected = np.unpackbits(masks.view(np.uint8), axis=1).sum(axis=1).astype(np.int32)
        label = f"the number of legal actions of board {{}} of {count}".format
        yield compare(out, expected, label, exact=True)


LAB = Lab(
    "17c",
    ("count_legal",),
    _judge,
    target=0.6,
    cause="core bound",
    **for_case(f"""
struct Case {{
  alignas(64) std::uint64_t masks[{NUM_PLANES * _BOARDS}];
  std::int32_t out[{_BOARDS}];
  void make(std::uint64_t seed) {{
    harness::Random(seed).fill(masks, sizeof masks);
  }}
  void run() {{ count_legal(masks, out, {_BOARDS}); }}
  std::uint64_t digest() const {{
    return harness::digest(out, sizeof out);
  }}
}};
"""),
    per=Unit("board", _BOARDS),
)
