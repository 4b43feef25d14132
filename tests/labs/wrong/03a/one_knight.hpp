// says: Missing
// Only the first of several knights.
inline std::uint64_t knight_attacks(std::uint64_t k) {
  const std::uint64_t a = 0x0101010101010101, ab = a | a << 1, h = a << 7, gh = h | h >> 1;
  k &= -k;
  const std::uint64_t one = (k << 1 & ~a) | (k >> 1 & ~h), two = (k << 2 & ~ab) | (k >> 2 & ~gh);
  return one << 16 | one >> 16 | two << 8 | two >> 8;
}
