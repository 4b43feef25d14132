// Walks from each root to its leaf, 32 walks at a time: each makes a step in turn, and asks for its
// next node long before it looks at it. A walk that ends makes room for the next.
inline void walk(const std::uint64_t* nodes, const std::int32_t* roots, std::int32_t* leaves,
                 std::uint64_t* sums, std::int64_t count) {
  constexpr int kAtOnce = 32;
  struct Walk {
    std::uint64_t at, sum;
    std::int64_t number;
  } walks[kAtOnce];
  std::int64_t begun = 0;
  int under_way = 0;
  const auto begin = [&](Walk& walk) {
    walk = {static_cast<std::uint64_t>(roots[begun]), 0, begun};
    ++begun;
    __builtin_prefetch(nodes + 2 * walk.at);
  };
  while (under_way < kAtOnce && begun < count) begin(walks[under_way++]);
  while (under_way)
    for (int i = 0; i < under_way; ++i) {
      Walk& walk = walks[i];
      const std::uint64_t next = nodes[2 * walk.at];
      walk.sum += nodes[2 * walk.at + 1];
      if (next != walk.at) {
        walk.at = next;
        __builtin_prefetch(nodes + 2 * next);
        continue;
      }
      leaves[walk.number] = static_cast<std::int32_t>(walk.at);
      sums[walk.number] = walk.sum;
      if (begun < count)
        begin(walk);
      else
        walk = walks[--under_way];
    }
}
