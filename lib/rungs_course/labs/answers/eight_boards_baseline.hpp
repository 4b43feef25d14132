constexpr std::uint64_t kA = 0x0101010101010101, kH = kA << 7;

// One step to where a shift leads; files that it comes from the wrong side on are left out.
inline std::uint64_t step(std::uint64_t from, int by) {
  const std::uint64_t to = by > 0 ? from << by : from >> -by;
  const int files = by == 8 || by == -8 ? 0 : by == 1 || by == 9 || by == -7 ? 1 : -1;
  return files > 0 ? to & ~kA : files < 0 ? to & ~kH : to;
}

// What the sliders of each board attack: board by board, until nothing more is reached.
inline void slider_attacks(const std::uint64_t* bishops, const std::uint64_t* rooks,
                           const std::uint64_t* pieces, std::uint64_t* out, std::int64_t count) {
  constexpr int kBy[8] = {9, 7, -7, -9, 8, 1, -1, -8};
  for (std::int64_t i = 0; i < count; ++i) {
    out[i] = 0;
    for (int direction = 0; direction < 8; ++direction) {
      std::uint64_t reached = step(direction < 4 ? bishops[i] : rooks[i], kBy[direction]);
      while (reached) {
        out[i] |= reached;
        reached = step(reached & ~pieces[i], kBy[direction]);
      }
    }
  }
}
