// says: expected 1, but it is
// The word is copied as it is: its bits are no bytes.
inline void update_mask(const std::uint64_t* before, const std::uint64_t* now, std::uint8_t* mask) {
  for (int plane = 0; plane < 73; ++plane) {
    if (before[plane] == now[plane]) continue;
    for (int i = 0; i < 8; ++i)
      for (int j = 0; j < 8; ++j) mask[64 * plane + 8 * i + j] = now[plane] >> 8 * i & 255;
  }
}
