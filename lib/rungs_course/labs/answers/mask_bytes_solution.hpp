// A plane's squares: as eight words or as 64 bytes.
typedef std::uint64_t Words __attribute__((vector_size(64)));
typedef std::uint8_t Bytes __attribute__((vector_size(64)));

// 64 bits as 64 bytes of 0 or 1: every byte is sent the eight bits it is among and keeps its own.
inline Bytes spread(std::uint64_t bits) {
  const Bytes all = (Bytes)(Words{} + bits), own = (Bytes)(Words{} + 0x8040201008040201ULL);
  const Bytes among = __builtin_shufflevector(
      all, all, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 18, 18, 18, 18, 18, 18, 18, 18, 19,
      19, 19, 19, 19, 19, 19, 19, 36, 36, 36, 36, 36, 36, 36, 36, 37, 37, 37, 37, 37, 37, 37, 37,
      54, 54, 54, 54, 54, 54, 54, 54, 55, 55, 55, 55, 55, 55, 55, 55);
  return (Bytes)((among & own) != 0) & 1;
}

// Makes the bytes of a mask, which are those of `before`, those of `now`. Which planes differ is
// found without a branch, so that only the number of them is to be foreseen.
inline void update_mask(const std::uint64_t* before, const std::uint64_t* now, std::uint8_t* mask) {
  for (int first = 0; first < 73; first += 64) {
    const int planes = first + 64 < 73 ? 64 : 73 - first;
    std::uint64_t changed = 0;
    for (int i = 0; i < planes; ++i)
      changed |= std::uint64_t{before[first + i] != now[first + i]} << i;
    for (; changed; changed &= changed - 1) {
      const int plane = first + std::countr_zero(changed);
      const Bytes bytes = spread(now[plane]);
      __builtin_memcpy(mask + 64 * plane, &bytes, sizeof bytes);
    }
  }
}
