// Counts the actions of each plane, each thread its share of them, on its own stack.
inline void count_planes(const std::int16_t* actions, std::int64_t count, std::int32_t threads,
                         std::int64_t* totals) {
  for (int plane = 0; plane < 73; ++plane) totals[plane] = 0;
#pragma omp parallel for num_threads(threads)
  for (std::int32_t t = 0; t < threads; ++t) {
    // Tables take turns: a count of a plane need not wait for the one just before.
    std::int32_t counts[4][73] = {};
    std::int64_t i = count * t / threads;
    const std::int64_t end = count * (t + 1) / threads;
    for (; i + 4 <= end; i += 4)
      for (int j = 0; j < 4; ++j) ++counts[j][actions[i + j] >> 6];
    for (; i < end; ++i) ++counts[0][actions[i] >> 6];
#pragma omp critical
    for (int plane = 0; plane < 73; ++plane)
      totals[plane] +=
          std::int64_t{counts[0][plane]} + counts[1][plane] + counts[2][plane] + counts[3][plane];
  }
}
