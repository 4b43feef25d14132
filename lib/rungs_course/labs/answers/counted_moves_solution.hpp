// Counts the legal actions of each board, of 73 planes: a word at a time.
inline void count_legal(const std::uint64_t* masks, std::int32_t* out, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    const std::uint64_t* planes = masks + 73 * i;
    // In 64 bits, as the words are: what a vector holds need not be narrowed for each plane.
    std::int64_t legal = 0;
    for (int plane = 0; plane < 73; ++plane) legal += std::popcount(planes[plane]);
    out[i] = static_cast<std::int32_t>(legal);
  }
}
