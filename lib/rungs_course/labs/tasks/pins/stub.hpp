// The own pieces that are pinned to their king; `straight` and `diagonal` are among `theirs`.
inline std::uint64_t pinned(std::uint64_t king, std::uint64_t own, std::uint64_t theirs,
                            std::uint64_t straight, std::uint64_t /*diagonal*/) {
  // To the north of the king. Seven directions are missing.
  const std::uint64_t empty = ~(own | theirs);
  std::uint64_t up = king, down = straight;
  for (int step = 0; step < 6; ++step) {
    up |= empty & up << 8;
    down |= empty & down >> 8;
  }
  return own & up << 8 & down >> 8;
}
