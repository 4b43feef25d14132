"""Lab 08c: a rollout written by time, read by game."""

import numpy as np

from rungs_course.labs.arrays import compare
from rungs_course.labs.harness import for_case
from rungs_course.labs.inside.guards import guarded, guarded_empty
from rungs_course.labs.lab import Lab, Unit

_STEPS, _GAMES = 2048, 2048  # 16 MB each way
_SHAPES = ((1, 1), (5, 3), (16, 16), (17, 33), (64, 100), (130, 7))


def _judge(submission, _):
    rng = np.random.default_rng(25)
    for steps, games in _SHAPES:
        values = rng.integers(-1000, 1000, (steps, games)).astype(np.float32)
        out = guarded_empty((games, steps), np.float32)
        submission.by_game(guarded(values), out, steps, games)
        label = f"game {{}}, step {{}}, of {games} games of {steps} steps".format
        yield compare(out, np.ascontiguousarray(values.T), label, exact=True)


LAB = Lab(
    "08c",
    ("by_game",),
    _judge,
    target=0.6,
    cause="memory bound",
    **for_case(f"""
struct Case {{
  std::vector<float> values, out;
  void make(std::uint64_t seed) {{
    values.resize({_STEPS * _GAMES});
    out.resize({_STEPS * _GAMES});
    // Below 2: no exponent is that of what is no number.
    harness::Random random(seed);
    const harness::Words numbers = harness::Words{{}} + 0x3FFFFFFF3FFFFFFFULL;
    for (std::size_t i = 0; i < values.size(); i += 16) {{
      const harness::Words words = random.next() & numbers;
      __builtin_memcpy(values.data() + i, &words, 64);
    }}
  }}
  void run() {{ by_game(values.data(), out.data(), {_STEPS}, {_GAMES}); }}
  std::uint64_t digest() const {{
    return harness::digest(out.data(), sizeof(float) * out.size());
  }}
}};
"""),
    per=Unit("number", _STEPS * _GAMES, 8),
)
