// says: (plane 6
// The knights' planes and those of promotions are forgotten.
inline void update_mask(const std::uint64_t* before, const std::uint64_t* now, std::uint8_t* mask) {
  for (int plane = 0; plane < 56; ++plane)
    for (std::uint64_t changed = before[plane] ^ now[plane]; changed; changed &= changed - 1)
      mask[64 * plane + std::countr_zero(changed)] ^= 1;
}
