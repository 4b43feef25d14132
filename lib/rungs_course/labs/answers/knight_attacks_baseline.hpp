// The squares that knights attack: one knight after the other, one jump after the other.
inline std::uint64_t knight_attacks(std::uint64_t knights) {
  const int files[] = {1, 2, 2, 1, -1, -2, -2, -1}, ranks[] = {2, 1, -1, -2, -2, -1, 1, 2};
  std::uint64_t attacked = 0;
  for (int square = 0; square < 64; ++square) {
    if (!(knights >> square & 1)) continue;
    for (int jump = 0; jump < 8; ++jump) {
      const int file = square % 8 + files[jump], rank = square / 8 + ranks[jump];
      if (file >= 0 && file < 8 && rank >= 0 && rank < 8)
        attacked |= std::uint64_t{1} << (8 * rank + file);
    }
  }
  return attacked;
}
