// Makes the bytes of a mask those of `now`: all of them, one by one.
inline void update_mask(const std::uint64_t*, const std::uint64_t* now, std::uint8_t* mask) {
  for (int plane = 0; plane < 73; ++plane)
    for (int square = 0; square < 64; ++square)
      mask[64 * plane + square] = now[plane] >> square & 1;
}
