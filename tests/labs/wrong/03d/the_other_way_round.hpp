// says: byte 8 of its mask (plane 0, from-square 8; the plane changes)
// The squares are counted from the other end.
inline void update_mask(const std::uint64_t* before, const std::uint64_t* now, std::uint8_t* mask) {
  for (int plane = 0; plane < 73; ++plane) {
    if (before[plane] == now[plane]) continue;
    for (int square = 0; square < 64; ++square)
      mask[64 * plane + square] = now[plane] >> (63 - square) & 1;
  }
}
