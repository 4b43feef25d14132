// The squares that knights attack: one file left and right, then two ranks; two files, then one.
inline std::uint64_t knight_attacks(std::uint64_t knights) {
  const std::uint64_t a = 0x0101010101010101, ab = a | a << 1, h = a << 7, gh = h | h >> 1;
  const std::uint64_t one = (knights << 1 & ~a) | (knights >> 1 & ~h);
  const std::uint64_t two = (knights << 2 & ~ab) | (knights >> 2 & ~gh);
  return one << 16 | one >> 16 | two << 8 | two >> 8;
}
