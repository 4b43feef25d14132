"""Lab 16b: walks down many trees, whose nodes are prefetched."""

import numpy as np

from rungs_course.labs.arrays import compare
from rungs_course.labs.harness import for_case
from rungs_course.labs.inside.guards import guarded, guarded_empty
from rungs_course.labs.lab import Lab, Unit

_NODES, _WALKS, _DEPTH = 1 << 22, 1 << 14, 16  # 64 MB of nodes: more than caches hold
_COUNTS = (1, 15, 16, 17, 1000)


def _forest(rng: np.random.Generator, nodes: int) -> np.ndarray:
    """Returns (nodes, 2) uint64: a node's next, or itself where a walk ends, and its value."""
    order = rng.permutation(nodes)
    following = np.empty(nodes, np.uint64)
    following[order[:-1]] = order[1:]
    following[order[-1]] = order[-1]
    ends = rng.random(nodes) < 0.1
    following[ends] = np.flatnonzero(ends)
    return np.stack([following, rng.integers(0, 1000, nodes, dtype=np.uint64)], axis=1)


def _judge(submission, _):
    rng = np.random.default_rng(26)
    forest = _forest(rng, 5000)
    following = forest[:, 0].astype(int)
    for count in _COUNTS:
        roots = rng.integers(0, len(forest), count).astype(np.int32)
        leaves, sums = guarded_empty(count, np.int32), guarded_empty(count, np.uint64)
        submission.walk(guarded(forest), guarded(roots), leaves, sums, count)
        at, total = roots.astype(int), forest[roots, 1].copy()
        while (following[at] != at).any():
            goes_on = following[at] != at
            at = following[at]
            total += np.where(goes_on, forest[at, 1], 0).astype(np.uint64)
        words = f"the leaf of walk {{}} of {count}".format
        yield compare(leaves, at.astype(np.int32), words, exact=True)
        yield compare(sums, total, f"the sum of walk {{}} of {count}".format, exact=True)


LAB = Lab(
    "16b",
    ("walk",),
    _judge,
    target=0.5,
    cause="memory bound",
    **for_case(f"""
struct Case {{
  std::vector<std::uint64_t> nodes;
  std::vector<std::int32_t> roots, leaves;
  std::vector<std::uint64_t> sums;
  std::uint64_t planted = 0, changed = {_NODES};
  std::uint64_t value(std::uint64_t node, std::uint64_t seed) const {{
    return mixed(node + seed) >> 54;
  }}
  // Every 256th node gets another value, so that no walk's sum is known from before: to say which
  // sums those change takes longer than to walk.
  void make(std::uint64_t seed) {{
    if (nodes.empty()) plant(seed);
    for (std::uint64_t i = changed; i < {_NODES}; i += 256) nodes[2 * i + 1] = value(i, planted);
    changed = seed % 256;
    for (std::uint64_t i = changed; i < {_NODES}; i += 256) nodes[2 * i + 1] = value(i, seed);
    for (std::uint64_t i = 0; i < {_WALKS}; ++i) roots[i] = mixed(seed + i) % {_NODES};
  }}
  // Once, as it takes long: a node's next is anywhere, and trees are some {_DEPTH} deep.
  void plant(std::uint64_t seed) {{
    nodes.resize(2 * {_NODES});
    roots.resize({_WALKS});
    leaves.resize({_WALKS});
    sums.resize({_WALKS});
    planted = mixed(seed) | 3;  // odd increment: one cycle through all nodes
    for (std::uint64_t i = 0; i < {_NODES}; ++i) {{
      const bool ends = (mixed(i - planted) & {_DEPTH - 1}) == 0;
      nodes[2 * i] = ends ? i : (i * 5 + (planted >> 1)) * 0x9E3779B1 % {_NODES};
      nodes[2 * i + 1] = value(i, planted);
    }}
  }}
  void run() {{ walk(nodes.data(), roots.data(), leaves.data(), sums.data(), {_WALKS}); }}
  std::uint64_t digest() const {{
    std::uint64_t all = 0;
    for (int i = 0; i < {_WALKS}; ++i) all = std::rotl(all, 7) + leaves[i] + sums[i];
    return all;
  }}
}};
"""),
    per=Unit("walk", _WALKS),
)
