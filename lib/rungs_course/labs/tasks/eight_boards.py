"""Lab 17b: where sliders see on many boards, several boards at a time."""

import chess
import numpy as np

from rungs_course.labs.arrays import compare_bitboards
from rungs_course.labs.harness import for_case
from rungs_course.labs.lab import Lab, Unit
from rungs_course.labs.positions import diagram

_BOARDS = 512  # whose bitboards fit into a core's first cache
_COUNTS = (1, 7, 8, 9, 1003)


def _cases(count: int) -> list[np.ndarray]:
    """Returns bishops, rooks and all pieces of boards: one bishop or rook, then at random."""
    rng = np.random.default_rng(21)
    few = [rng.integers(0, 2**64, count, dtype=np.uint64) for _ in range(6)]
    some = few[0] & few[1]
    bishops, rooks = some & few[2] & few[3], some & few[2] & ~few[3] & few[4]
    pieces = bishops | rooks | some & few[5]
    alone = np.uint64(1) << np.arange(min(count, 128), dtype=np.uint64) % np.uint64(64)
    first = np.arange(len(alone)) < 64
    bishops[: len(alone)], rooks[: len(alone)] = alone * first, alone * ~first
    pieces[: len(alone)] = alone
    return [bishops, rooks, pieces]


def _judge(submission, _):
    for count in _COUNTS:
        cases = _cases(count)
        fens, expected = [], []
        for bishops, rooks, pieces in zip(
            *(bitboards.tolist() for bitboards in cases), strict=True
        ):
            symbols = dict.fromkeys(chess.SquareSet(pieces), "p")
            symbols |= dict.fromkeys(chess.SquareSet(bishops), "B")
            fens.append(diagram(symbols | dict.fromkeys(chess.SquareSet(rooks), "R")))
            board, attacked = chess.Board(fens[-1]), chess.SquareSet()
            for square in chess.SquareSet(bishops | rooks):
                attacked |= board.attacks(square)
            expected.append(int(attacked))
        yield compare_bitboards(
            submission.slider_attacks,
            cases,
            expected,
            fens.__getitem__,
            f"what the sliders of board {{}} of {count} attack".format,
        )


LAB = Lab(
    "17b",
    ("slider_attacks",),
    _judge,
    target=0.7,
    cause="core bound",
    **for_case(f"""
struct Case {{
  alignas(64) std::uint64_t bishops[{_BOARDS}], rooks[{_BOARDS}], pieces[{_BOARDS}],
      out[{_BOARDS}];
  void make(std::uint64_t seed) {{
    harness::Random random(seed);
    for (int i = 0; i < {_BOARDS}; i += 8) {{
      const harness::Words first = random.next();
      const auto r = [&](int n) {{ return harness::rotated(first, 11 * n); }};
      const harness::Words some = first & r(1), pair = some & r(2);
      const harness::Words b = pair & r(3), s = pair & ~r(3) & r(4), all = b | s | (some & r(5));
      __builtin_memcpy(bishops + i, &b, 64);
      __builtin_memcpy(rooks + i, &s, 64);
      __builtin_memcpy(pieces + i, &all, 64);
    }}
  }}
  void run() {{ slider_attacks(bishops, rooks, pieces, out, {_BOARDS}); }}
  std::uint64_t digest() const {{
    return harness::digest(out, sizeof out);
  }}
}};
"""),
    per=Unit("board", _BOARDS),
)
