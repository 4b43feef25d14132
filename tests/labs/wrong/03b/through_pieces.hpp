// says: Too many
// Rooks see through what stands in their way.
inline std::uint64_t rook_attacks(std::uint64_t rooks, std::uint64_t) {
  std::uint64_t attacked = 0;
  for (int square = 0; square < 64; ++square) {
    if (!(rooks >> square & 1)) continue;
    const std::uint64_t file = std::uint64_t{0x0101010101010101} << square % 8;
    const std::uint64_t rank = std::uint64_t{255} << square / 8 * 8;
    attacked |= (file ^ rank);
  }
  return attacked;
}
