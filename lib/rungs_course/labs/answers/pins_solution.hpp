// Eight bitboards, one a direction: north, north-east and so on clockwise.
typedef std::uint64_t Lanes __attribute__((vector_size(64)));

// The own pieces that are pinned to their king: where its fill meets the sliders'.
inline std::uint64_t pinned(std::uint64_t king, std::uint64_t own, std::uint64_t theirs,
                            std::uint64_t straight, std::uint64_t diagonal) {
  constexpr std::uint64_t a = ~0x0101010101010101ULL, h = ~0x8080808080808080ULL;
  constexpr std::uint64_t first = ~0xFFULL, last = ~0ULL >> 8;
  // Where a step may arrive, going out from the king; a slider goes the other way.
  constexpr Lanes out = {first, first & a, a, last & a, last, last & h, h, first & h};
  constexpr Lanes in = {last, last & h, h, first & h, first, first & a, a, last & a};
  constexpr Lanes by = {8, 9, 1, 57, 56, 55, 63, 7};
  constexpr Lanes which = {0, ~0ULL, 0, ~0ULL, 0, ~0ULL, 0, ~0ULL};
  const auto outward = [&](Lanes x, Lanes y) { return x << y | x >> (64 - y); };
  const auto inward = [&](Lanes x, Lanes y) { return x >> y | x << (64 - y); };

  const std::uint64_t empty = ~(own | theirs);
  const Lanes by2 = by * 2 & 63, by4 = by * 4 & 63;
  Lanes reached = Lanes{} + king, free = out & empty;
  reached |= free & outward(reached, by);
  free &= outward(free, by);
  reached |= free & outward(reached, by2);
  free &= outward(free, by2);
  reached |= free & outward(reached, by4);
  Lanes back = (which & diagonal) | (~which & straight), open = in & empty;
  back |= open & inward(back, by);
  open &= inward(open, by);
  back |= open & inward(back, by2);
  open &= inward(open, by2);
  back |= open & inward(back, by4);
  const Lanes both = out & outward(reached, by) & in & inward(back, by);
  std::uint64_t pins = 0;
  for (int direction = 0; direction < 8; ++direction) pins |= both[direction];
  return pins & own;
}
