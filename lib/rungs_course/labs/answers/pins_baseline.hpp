// The own pieces that are pinned to their king: from the king outward, a square at a time.
inline std::uint64_t pinned(std::uint64_t king, std::uint64_t own, std::uint64_t theirs,
                            std::uint64_t straight, std::uint64_t diagonal) {
  const int files[] = {0, 1, 1, 1, 0, -1, -1, -1}, ranks[] = {1, 1, 0, -1, -1, -1, 0, 1};
  const int square = std::countr_zero(king);
  std::uint64_t pins = 0;
  for (int direction = 0; direction < 8; ++direction) {
    int file = square % 8 + files[direction], rank = square / 8 + ranks[direction];
    std::uint64_t between = 0;
    for (; file >= 0 && file < 8 && rank >= 0 && rank < 8;
         file += files[direction], rank += ranks[direction]) {
      const std::uint64_t bit = std::uint64_t{1} << (8 * rank + file);
      if (bit & theirs) {
        if (bit & (direction % 2 ? diagonal : straight)) pins |= between;
        break;
      }
      if (!(bit & own)) continue;
      if (between) break;
      between = bit;
    }
  }
  return pins;
}
