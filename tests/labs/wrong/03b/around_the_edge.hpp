// says: Too many: a2
// A fill to the right goes on at the next rank.
inline std::uint64_t rook_attacks(std::uint64_t rooks, std::uint64_t pieces) {
  std::uint64_t up = rooks, down = rooks, right = rooks, left = rooks;
  for (int step = 0; step < 6; ++step) {
    up |= ~pieces & up << 8;
    down |= ~pieces & down >> 8;
    right |= ~pieces & right << 1;
    left |= ~pieces & left >> 1;
  }
  return up << 8 | down >> 8 | right << 1 | left >> 1;
}
