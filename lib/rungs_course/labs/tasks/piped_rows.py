"""Lab 05b: how large a message should be, and how it is put together again."""

import numpy as np

from rungs_course.labs.arrays import compare
from rungs_course.labs.harness import for_case
from rungs_course.labs.inside.guards import guarded, guarded_empty
from rungs_course.labs.lab import Lab, Unit

_ROW, _ROWS = 72, 1 << 15  # bytes of an observation; rows of a race
_COUNTS = (1, 2, 910, 911, 5000)  # a pipe holds 65,536 bytes, some 910 rows


def _judge(submission, _):
    rng = np.random.default_rng(28)
    for count in _COUNTS:
        rows = rng.integers(0, 256, (count, _ROW), np.uint8)
        out = guarded_empty(rows.shape, np.uint8)
        submission.transfer(guarded(rows), out, count)
        yield compare(out, rows, f"row {{}} of {count}, byte {{}}".format, exact=True)


LAB = Lab(
    "05b",
    ("send_rows", "receive_rows"),
    _judge,
    target=0.6,
    cause="latency and bandwidth",
    **for_case(f"""
// Sends rows through a pipe from a thread of their own.
inline void transfer(const std::uint8_t* rows, std::uint8_t* out, std::int64_t count) {{
  int ends[2];
  if (::pipe(ends)) return;
  std::thread sender([&] {{
    send_rows(ends[1], rows, count);
    ::close(ends[1]);
  }});
  receive_rows(ends[0], out, count);
  ::close(ends[0]);
  sender.join();
}}
struct Case {{
  std::vector<std::uint8_t> rows, out;
  void make(std::uint64_t seed) {{
    rows.resize({_ROW * _ROWS});
    out.resize({_ROW * _ROWS});
    harness::Random(seed).fill(rows.data(), rows.size());
  }}
  void run() {{ transfer(rows.data(), out.data(), {_ROWS}); }}
  std::uint64_t digest() const {{
    return harness::digest(out.data(), out.size());
  }}
}};
"""),
    per=Unit("row", _ROWS, 2 * _ROW, "L2"),
)
