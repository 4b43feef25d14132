// The squares that rooks attack; `pieces` are all on the board, the rooks too.
inline std::uint64_t rook_attacks(std::uint64_t rooks, std::uint64_t pieces) {
  // Up the files, one step at a time. Three directions are missing.
  std::uint64_t filled = rooks;
  for (int step = 0; step < 6; ++step) filled |= ~pieces & (filled << 8);
  return filled << 8;
}
