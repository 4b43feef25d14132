// The legal-action mask, in two formats: 4672 bytes of 0 or 1, or the 73 planes' bits as they are.
#pragma once
#include <cstring>

#include "../chess/action.hpp"

namespace rungs::env {

// From bits to bytes: 64 squares of a bitboard as 64 bytes, at once. They are kept as eight words,
// as not every compiler has instructions for vectors of bytes of that length and takes them apart
// byte by byte.
using chess::Lanes;

constexpr Lanes kOnes = {0x0101010101010101ULL, 0x0101010101010101ULL, 0x0101010101010101ULL,
                         0x0101010101010101ULL, 0x0101010101010101ULL, 0x0101010101010101ULL,
                         0x0101010101010101ULL, 0x0101010101010101ULL};

// Byte i is 255 where bit i is set, else 0. Every byte is sent the eight bits it is among, keeps
// its own, and is compared with zero.
inline Lanes where(chess::Bitboard bits) {
  const Lanes all = chess::everywhere(bits), own = chess::everywhere(0x8040201008040201ULL);
#if !RUNGS_PLAIN && (defined(__clang__) || defined(__AVX512BW__))
  using Bytes = std::uint8_t __attribute__((vector_size(64)));
  // Within each quarter of 16 bytes, as that is how far a byte shuffle reaches on x86.
  const Bytes among = __builtin_shufflevector(
      (Bytes)all, (Bytes)all, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 18, 18, 18, 18, 18,
      18, 18, 18, 19, 19, 19, 19, 19, 19, 19, 19, 36, 36, 36, 36, 36, 36, 36, 36, 37, 37, 37, 37,
      37, 37, 37, 37, 54, 54, 54, 54, 54, 54, 54, 54, 55, 55, 55, 55, 55, 55, 55, 55);
  return (Lanes)((among & (Bytes)own) != 0);
#else
  Lanes among = (all >> Lanes{0, 8, 16, 24, 32, 40, 48, 56}) & 255;
  among |= among << 8;
  among |= among << 16;
  among |= among << 32;
  const Lanes ones = ((among & own) + kOnes * 127) >> 7 & kOnes;
  return (ones << 8) - ones;
#endif
}

inline void store(Lanes bytes, void* out) { std::memcpy(out, &bytes, sizeof bytes); }

enum class MaskFormat : std::int32_t { BOOL, BITS };

constexpr std::int64_t mask_bytes(MaskFormat format) {
  return format == MaskFormat::BOOL ? chess::kActions : sizeof(chess::LegalActions);
}

inline void write_words(const chess::Bitboard (&plane)[chess::kPlanes], std::uint8_t* out) {
  std::memcpy(out, plane, sizeof plane);
}
template <chess::WordRow Planes>
inline void write_words(const Planes& plane, std::uint8_t* out) {
  for (int i = 0; i < chess::kPlanes; ++i) {
    const chess::Bitboard word = plane[i];
    std::memcpy(out + 8 * i, &word, sizeof word);
  }
}

template <chess::WordRow Planes>
inline void write_mask(const chess::ActionsIn<Planes>& legal, MaskFormat format,
                       std::uint8_t* out) {
  if (format == MaskFormat::BITS)
    write_words(legal.plane, out);
  else
    for (int plane = 0; plane < chess::kPlanes; ++plane)
      store(where(legal.plane[plane]) & kOnes, out + 64 * plane);
}

// The `rank`-th legal action in order of action id, from 0.
template <chess::WordRow Planes>
inline chess::Action nth_action(const chess::ActionsIn<Planes>& legal, int rank) {
  int plane = 0;
  for (;; ++plane) {
    const int here = chess::count(legal.plane[plane]);
    if (rank < here) break;
    rank -= here;
  }
  chess::Bitboard from = legal.plane[plane];
  while (rank-- > 0) from &= from - 1;
  return 64 * plane + chess::lowest(from);
}

}  // namespace rungs::env
