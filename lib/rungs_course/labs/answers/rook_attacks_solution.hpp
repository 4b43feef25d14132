// One step further than a fill over empty squares, by doubling: 1, 2 and 4 squares at once.
template <int kShift>
inline std::uint64_t beyond(std::uint64_t rooks, std::uint64_t empty, std::uint64_t there) {
  const auto shifted = [](std::uint64_t bits, int steps) {
    return kShift > 0 ? bits << (kShift * steps) : bits >> (-kShift * steps);
  };
  empty &= there;
  rooks |= empty & shifted(rooks, 1);
  empty &= shifted(empty, 1);
  rooks |= empty & shifted(rooks, 2);
  empty &= shifted(empty, 2);
  rooks |= empty & shifted(rooks, 4);
  return shifted(rooks, 1) & there;
}

// The squares that rooks attack; a step right can't reach file a, one left can't reach file h.
inline std::uint64_t rook_attacks(std::uint64_t rooks, std::uint64_t pieces) {
  const std::uint64_t a = 0x0101010101010101, all = ~std::uint64_t{0};
  return beyond<8>(rooks, ~pieces, all) | beyond<-8>(rooks, ~pieces, all) |
         beyond<1>(rooks, ~pieces, ~a) | beyond<-1>(rooks, ~pieces, ~(a << 7));
}
