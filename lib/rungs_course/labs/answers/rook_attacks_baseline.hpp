// The squares that rooks attack: a step at a time, until a piece is met or the board ends.
inline std::uint64_t rook_attacks(std::uint64_t rooks, std::uint64_t pieces) {
  const int files[] = {0, 0, 1, -1}, ranks[] = {1, -1, 0, 0};
  std::uint64_t attacked = 0;
  for (int square = 0; square < 64; ++square) {
    if (!(rooks >> square & 1)) continue;
    for (int direction = 0; direction < 4; ++direction) {
      int file = square % 8 + files[direction], rank = square / 8 + ranks[direction];
      while (file >= 0 && file < 8 && rank >= 0 && rank < 8) {
        const std::uint64_t bit = std::uint64_t{1} << (8 * rank + file);
        attacked |= bit;
        if (pieces & bit) break;
        file += files[direction];
        rank += ranks[direction];
      }
    }
  }
  return attacked;
}
