// Walks from each root to its leaf, a node that is its own next, and adds the values on the way.
inline void walk(const std::uint64_t* nodes, const std::int32_t* roots, std::int32_t* leaves,
                 std::uint64_t* sums, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    std::uint64_t at = roots[i], sum = nodes[2 * at + 1];
    while (nodes[2 * at] != at) {
      at = nodes[2 * at];
      sum += nodes[2 * at + 1];
    }
    leaves[i] = static_cast<std::int32_t>(at);
    sums[i] = sum;
  }
}
