// Makes the bytes of a mask, which are those of `before`, those of `now`: 73 planes of 64 squares.
inline void update_mask(const std::uint64_t* before, const std::uint64_t* now, std::uint8_t* mask) {
  for (int plane = 0; plane < 73; ++plane) {
    if (before[plane] == now[plane]) continue;
    // What has become legal. What is legal no more is still there.
    for (int square = 0; square < 64; ++square)
      if (now[plane] >> square & 1) mask[64 * plane + square] = 1;
  }
}
