// says: Missing
// The piece that is met is not attacked.
inline std::uint64_t rook_attacks(std::uint64_t rooks, std::uint64_t pieces) {
  const std::uint64_t a = 0x0101010101010101, h = a << 7;
  std::uint64_t up = rooks, down = rooks, right = rooks, left = rooks;
  for (int step = 0; step < 7; ++step) {
    up |= ~pieces & up << 8;
    down |= ~pieces & down >> 8;
    right |= ~pieces & right << 1 & ~a;
    left |= ~pieces & left >> 1 & ~h;
  }
  return (up | down | right | left) & ~rooks;
}
