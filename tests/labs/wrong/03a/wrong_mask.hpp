// says: Too many: b1, b3
// Two files to the right, but only file a is masked.
inline std::uint64_t knight_attacks(std::uint64_t k) {
  const std::uint64_t a = 0x0101010101010101, h = a << 7;
  const std::uint64_t one = (k << 1 & ~a) | (k >> 1 & ~h), two = (k << 2 & ~a) | (k >> 2 & ~h);
  return one << 16 | one >> 16 | two << 8 | two >> 8;
}
