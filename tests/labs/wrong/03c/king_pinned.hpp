// says: the pinned pieces of white: expected no square, but it is a1. Too many: a1
// A fill that starts on the slider and ends on the king: the king is no piece in between.
inline std::uint64_t pinned(std::uint64_t king, std::uint64_t own, std::uint64_t theirs,
                            std::uint64_t straight, std::uint64_t) {
  const std::uint64_t a = 0x0101010101010101, h = a << 7, empty = ~(own | theirs);
  std::uint64_t right = king, left = straight;
  for (int step = 0; step < 6; ++step) {
    right |= empty & right << 1 & ~a;
    left |= empty & left >> 1 & ~h;
  }
  return own & (right | right << 1 & ~a) & left >> 1 & ~h;
}
