// Eight boards: what is done to one is done to all, and nothing depends on what is found.
typedef std::uint64_t Boards __attribute__((vector_size(64)));

constexpr std::uint64_t kA = 0x0101010101010101, kH = kA << 7;

inline Boards load(const std::uint64_t* from) {
  Boards boards;
  __builtin_memcpy(&boards, from, sizeof boards);
  return boards;
}

template <int kBy>
inline Boards shifted(Boards boards) {
  if constexpr (kBy > 0)
    return boards << kBy;
  else
    return boards >> -kBy;
}

// A fill by doubling (Kogge-Stone): after steps of one, two and four, all seven are made.
template <int kBy, std::uint64_t kOpen>
inline Boards attacks(Boards sliders, Boards empty) {
  Boards free = empty & kOpen;
  sliders |= free & shifted<kBy>(sliders);
  free &= shifted<kBy>(free);
  sliders |= free & shifted<2 * kBy>(sliders);
  free &= shifted<2 * kBy>(free);
  sliders |= free & shifted<4 * kBy>(sliders);
  return shifted<kBy>(sliders) & kOpen;
}

inline Boards attacks(Boards bishops, Boards rooks, Boards pieces) {
  const Boards empty = ~pieces;
  return attacks<9, ~kA>(bishops, empty) | attacks<7, ~kH>(bishops, empty) |
         attacks<-7, ~kA>(bishops, empty) | attacks<-9, ~kH>(bishops, empty) |
         attacks<8, ~0ULL>(rooks, empty) | attacks<1, ~kA>(rooks, empty) |
         attacks<-1, ~kH>(rooks, empty) | attacks<-8, ~0ULL>(rooks, empty);
}

// What the sliders of each board attack, eight boards at a time.
inline void slider_attacks(const std::uint64_t* bishops, const std::uint64_t* rooks,
                           const std::uint64_t* pieces, std::uint64_t* out, std::int64_t count) {
  std::int64_t i = 0;
  for (; i + 8 <= count; i += 8) {
    const Boards attacked = attacks(load(bishops + i), load(rooks + i), load(pieces + i));
    __builtin_memcpy(out + i, &attacked, sizeof attacked);
  }
  for (; i < count; ++i)
    out[i] = attacks(Boards{bishops[i]}, Boards{rooks[i]}, Boards{pieces[i]})[0];
}
