// The legal-action mask, in three formats: 4672 bytes of 0 or 1, the bits of the 73 planes, or a
// list of the legal actions.
#pragma once
#include <cstring>

#include "../chess/action.hpp"
#include "stream_store.hpp"

namespace rungs::env {

// From bits to bytes: 64 squares of a bitboard as 64 bytes, at once. They are kept as eight words:
// some compilers split vectors of 64 bytes into single bytes.
using chess::Lanes;

constexpr Lanes kOnes = {0x0101010101010101ULL, 0x0101010101010101ULL, 0x0101010101010101ULL,
                         0x0101010101010101ULL, 0x0101010101010101ULL, 0x0101010101010101ULL,
                         0x0101010101010101ULL, 0x0101010101010101ULL};

// Byte i is 255 if bit i is set, else 0. Every byte receives the eight bits that its bit is among,
// masks its own, and is compared with zero.
inline Lanes expand_bits_to_bytes(chess::Bitboard bits) {
  const Lanes all = chess::broadcast(bits), own = chess::broadcast(0x8040201008040201ULL);
#if !RUNGS_SCALAR_LANES && (defined(__clang__) || defined(__AVX512BW__))
  using Bytes = std::uint8_t __attribute__((vector_size(64)));
  // Within each quarter of 16 bytes, as that is how far a byte shuffle reaches on x86.
  const Bytes among = __builtin_shufflevector(
      (Bytes)all, (Bytes)all, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 18, 18, 18, 18, 18,
      18, 18, 18, 19, 19, 19, 19, 19, 19, 19, 19, 36, 36, 36, 36, 36, 36, 36, 36, 37, 37, 37, 37,
      37, 37, 37, 37, 54, 54, 54, 54, 54, 54, 54, 54, 55, 55, 55, 55, 55, 55, 55, 55);
  return (Lanes)((among & (Bytes)own) != 0);
#elif RUNGS_2X256
  using Bytes = std::uint8_t __attribute__((vector_size(32)));
  const auto sent = [](chess::Half half, chess::Half place) {
    return (chess::Half)_mm256_shuffle_epi8((__m256i)half, (__m256i)place);
  };
  constexpr chess::Half low = {0, 0x0101010101010101ULL, 0x0202020202020202ULL,
                               0x0303030303030303ULL};
  constexpr chess::Half high = low + 0x0404040404040404ULL;
  const auto kept = [](chess::Half among, chess::Half own) {
    return (chess::Half)((Bytes)(among & own) != 0);
  };
  return {kept(sent(all.low, low), own.low), kept(sent(all.high, high), own.high)};
#else
  Lanes among = (all >> Lanes{0, 8, 16, 24, 32, 40, 48, 56}) & 255;
  among |= among << 8;
  among |= among << 16;
  among |= among << 32;
  const Lanes ones = ((among & own) + kOnes * 127) >> 7 & kOnes;
  return (ones << 8) - ones;
#endif
}

enum class MaskFormat : std::int32_t { BOOL, BITS, LIST };

using chess::kMaxLegal;  // the length of a list

constexpr std::int64_t mask_bytes(MaskFormat format) {
  switch (format) {
    case MaskFormat::BOOL:
      return chess::kActions;
    case MaskFormat::BITS:
      return sizeof(chess::LegalActions);
    default:
      return kMaxLegal * sizeof(std::int16_t);
  }
}

// The number of elements that hold the length of a board's list: 1, or 0 for other formats.
constexpr std::int64_t mask_counts(MaskFormat format) { return format == MaskFormat::LIST; }

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
inline void write_mask(const chess::ActionsIn<Planes>& legal, MaskFormat format, bool streamed,
                       std::uint8_t* out) {
  if (format == MaskFormat::BITS)
    write_words(legal.plane, out);
  else
    for (int plane = 0; plane < chess::kPlanes; ++plane)
      put(expand_bits_to_bytes(legal.plane[plane]) & kOnes, out + 64 * plane, streamed);
}

// A bit for each of the first 64 planes that holds an action.
template <chess::WordRow Planes>
inline chess::Bitboard nonempty_planes(const Planes& plane) {
  Lanes found = {}, own = {1, 2, 4, 8, 16, 32, 64, 128};
  for (int first = 0; first < 64; first += 8, own = own << 8)
    found |= chess::nonempty(chess::load_lanes(plane, first)) & own;
  return chess::reduce_or(found);
}

// Writes `first` + each square of `from`, which is not empty, in order. May overwrite what follows,
// up to 64 numbers in all: the first of these with anything, the others with -1.
inline void list_squares(chess::Bitboard from, int first, std::int16_t* out) {
#if defined(__AVX512VBMI2__) && !RUNGS_SCALAR_LANES
  const __m512i squares =
      _mm512_set_epi16(31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17, 16, 15, 14, 13,
                       12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
  const __m512i none = _mm512_set1_epi16(-1);
  const auto low = static_cast<std::uint32_t>(from), high = static_cast<std::uint32_t>(from >> 32);
  const __m512i near = _mm512_add_epi16(squares, _mm512_set1_epi16(static_cast<short>(first)));
  const __m512i far = _mm512_add_epi16(near, _mm512_set1_epi16(32));
  _mm512_storeu_si512(out, _mm512_mask_compress_epi16(none, low, near));
  _mm512_storeu_si512(out + chess::count(low), _mm512_mask_compress_epi16(none, high, far));
#else
  // The first two without a branch: most planes hold no more, and whether one or two is
  // unpredictable.
  const int number = chess::count(from);
  for (int i = 0; i < 2; ++i, from &= from - 1)
    out[i] = static_cast<std::int16_t>(first + chess::lowest(from));
  for (int i = 2; i < number; ++i) out[i] = static_cast<std::int16_t>(first + chess::pop(from));
#endif
}

// Writes the first `limit` legal actions in order of id, then -1. Returns the number of legal
// actions, whether or not there was room.
template <chess::WordRow Planes>
inline int write_list(const chess::ActionsIn<Planes>& legal, int limit, std::int16_t* out) {
  for (int i = 0; i < kMaxLegal; ++i) out[i] = -1;
  int listed = 0;
  const auto list = [&](int plane) {
    chess::Bitboard from = legal.plane[plane];
    if (listed + 64 <= limit) {
      list_squares(from, 64 * plane, out + listed);
      listed += chess::count(from);
    } else {
      while (from && listed < limit)
        out[listed++] = static_cast<std::int16_t>(64 * plane + chess::pop(from));
    }
  };
  for (chess::Bitboard planes = nonempty_planes(legal.plane); planes;) list(chess::pop(planes));
  for (int plane = 64; plane < chess::kPlanes; ++plane)
    if (legal.plane[plane]) list(plane);
  if (listed < kMaxLegal) out[listed] = -1;
  return listed < limit ? listed : chess::count(legal);
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
