// The legal-action mask, in three formats: 4672 bytes of 0 or 1, the bits of the 73 planes, or a
// list of the legal actions.
#pragma once
#include <cstring>

#include "../chess/action.hpp"
#include "../chess/words.hpp"
#include "stream_store.hpp"

namespace rungs::env {

// From bits to bytes: 64 squares of a bitboard as 64 bytes, at once. They are kept as eight words:
// some compilers split vectors of 64 bytes into single bytes.
using chess::Lanes;

constexpr Lanes kOnes = {0x0101010101010101ULL, 0x0101010101010101ULL, 0x0101010101010101ULL,
                         0x0101010101010101ULL, 0x0101010101010101ULL, 0x0101010101010101ULL,
                         0x0101010101010101ULL, 0x0101010101010101ULL};

namespace detail {

constexpr std::uint64_t kOwnBits = 0x8040201008040201ULL;  // of byte i: bit i % 8

// Byte i is 1 << i % 8 if bit i is set, else 0: every byte receives the eight bits that its bit is
// among, and masks its own.
inline Lanes bits_in_bytes(chess::Bitboard bits) {
  const Lanes all = chess::broadcast(bits), own = chess::broadcast(kOwnBits);
#if defined(__clang__) && !RUNGS_SCALAR_LANES
  using Bytes = std::uint8_t __attribute__((vector_size(64)));
  // Within each quarter of 16 bytes, as that is how far a byte shuffle reaches on x86.
  const Bytes among = __builtin_shufflevector(
      (Bytes)all, (Bytes)all, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 18, 18, 18, 18, 18,
      18, 18, 18, 19, 19, 19, 19, 19, 19, 19, 19, 36, 36, 36, 36, 36, 36, 36, 36, 37, 37, 37, 37,
      37, 37, 37, 37, 54, 54, 54, 54, 54, 54, 54, 54, 55, 55, 55, 55, 55, 55, 55, 55);
  return (Lanes)among & own;
#elif RUNGS_2X256
  const auto sent = [](chess::Half half, chess::Half place) {
    return (chess::Half)_mm256_shuffle_epi8((__m256i)half, (__m256i)place);
  };
  constexpr chess::Half low = {0, 0x0101010101010101ULL, 0x0202020202020202ULL,
                               0x0303030303030303ULL};
  constexpr chess::Half high = low + 0x0404040404040404ULL;
  return Lanes{sent(all.low, low), sent(all.high, high)} & own;
#else
  Lanes among = (all >> Lanes{0, 8, 16, 24, 32, 40, 48, 56}) & 255;
  among |= among << 8;
  among |= among << 16;
  among |= among << 32;
  return among & own;
#endif
}

}  // namespace detail

// Byte i is 1 if bit i is set, else 0: one instruction of AVX-512.
inline Lanes expand_bits_to_ones(chess::Bitboard bits) {
#if defined(__AVX512BW__) && !RUNGS_SCALAR_LANES
  return (Lanes)_mm512_maskz_mov_epi8(bits, (__m512i)kOnes);
#else
  const Lanes found = detail::bits_in_bytes(bits);
#if defined(__clang__) && !RUNGS_SCALAR_LANES
  using Bytes = std::uint8_t __attribute__((vector_size(64)));
  return (Lanes)__builtin_elementwise_min((Bytes)found, (Bytes)kOnes);
#elif RUNGS_2X256
  return {(chess::Half)_mm256_min_epu8((__m256i)found.low, (__m256i)kOnes.low),
          (chess::Half)_mm256_min_epu8((__m256i)found.high, (__m256i)kOnes.high)};
#else
  return ((found + kOnes * 127) >> 7) & kOnes;  // the sum's bit 7 is set unless the byte is 0
#endif
#endif
}

// Byte i is 255 if bit i is set, else 0: one instruction of AVX-512.
inline Lanes expand_bits_to_bytes(chess::Bitboard bits) {
#if defined(__AVX512BW__) && !RUNGS_SCALAR_LANES
  return (Lanes)_mm512_movm_epi8(bits);
#else
  const Lanes ones = expand_bits_to_ones(bits);
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

// Writes the bits of as many boards as V holds, whose planes are given, one board after the other.
template <class V>
inline void write_bits(const V (&plane)[chess::kPlanes], std::uint8_t* out) {
  using namespace chess;
  constexpr int kBoards = kWidth<V>, kLast = kPlanes - 1;
  const auto put_word = [&](Bitboard word, int board, int at) {
    std::memcpy(out + 8 * (board * kPlanes + at), &word, sizeof word);
  };
  if constexpr (kIsWord<V>) {  // eight at a time: calling `memcpy` for them takes longer
    for (int first = 0; first < kLast; first += 8)
      put(load_lanes(plane, first), out + 8 * first, false);
    put_word(plane[kLast], 0, kLast);
  }
#ifndef __CUDACC_RTC__
  else {
    for (int first = 0; first < kLast; first += kBoards) {
      V rows[kBoards];
      for (int k = 0; k < kBoards; ++k) rows[k] = plane[first + k];
      transpose(rows);
      for (int k = 0; k < kBoards; ++k)
        std::memcpy(out + 8 * (k * kPlanes + first), &rows[k], sizeof rows[k]);
    }
    for (int k = 0; k < kBoards; ++k) put_word(word_of(plane[kLast], k), k, kLast);
  }
#endif
}

// The same, past the caches.
template <class V>
inline void stream_bits(const V (&plane)[chess::kPlanes], std::uint8_t* out) {
  constexpr std::size_t kLine = sizeof(Lanes);
  alignas(kLine) std::uint8_t bits[chess::kWidth<V> * sizeof(chess::LegalActions)];
  write_bits(plane, bits);
  for (std::size_t at = 0; at < sizeof bits; at += kLine) {
    Lanes line;
    std::memcpy(&line, bits + at, kLine);
    put(line, out + at, true);
  }
}

// The number of boards whose masks are written together: bits are streamed only for as many boards
// as fill whole cache lines.
template <class V>
constexpr int written_together(MaskFormat format) {
  return format == MaskFormat::BITS ? chess::kWidth<V> : 1;
}

// Writes the masks of the first `number` of these boards, as bytes or bits.
template <class V>
inline void write_masks(const V (&plane)[chess::kPlanes], int number, MaskFormat format,
                        bool streamed, std::uint8_t* out) {
  using namespace chess;
  if (format == MaskFormat::BITS && number == kWidth<V>)
    return streamed ? stream_bits(plane, out) : write_bits(plane, out);
  for (int k = 0; k < number; ++k, out += mask_bytes(format))
    for (int at = 0; at < kPlanes; ++at) {
      const Bitboard squares = word_of(plane[at], k);
      if (format == MaskFormat::BITS)
        std::memcpy(out + 8 * at, &squares, sizeof squares);
      else
        put(expand_bits_to_ones(squares), out + 64 * at, streamed);
    }
}

// A bit for each of the first 64 planes that holds an action.
inline chess::Bitboard nonempty_planes(const chess::Bitboard* plane) {
  Lanes found = {}, own = {1, 2, 4, 8, 16, 32, 64, 128};
  for (int first = 0; first < 64; first += 8, own = own << 8)
    found |= chess::nonempty(chess::load_lanes(plane, first)) & own;
  return chess::reduce_or(found);
}

constexpr int kMaxPieces = 16;  // of a side: `parse_fen` and `restore` reject more

// Writes `first`, a multiple of 64, + each square of `from`, in order; `from` holds 1 to
// `kMaxPieces`. May overwrite what follows, up to `kMaxPieces` numbers in all: the first of these
// with anything, the others with -1.
inline void list_squares(chess::Bitboard from, int first, std::int16_t* out) {
#if defined(__AVX512VBMI2__) && !RUNGS_SCALAR_LANES
  const __m512i squares = _mm512_set_epi8(
      63, 62, 61, 60, 59, 58, 57, 56, 55, 54, 53, 52, 51, 50, 49, 48, 47, 46, 45, 44, 43, 42, 41,
      40, 39, 38, 37, 36, 35, 34, 33, 32, 31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18,
      17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
  const __m512i packed = _mm512_mask_compress_epi8(_mm512_set1_epi8(-1), from, squares);
  __m128i listed;
  std::memcpy(&listed, &packed, sizeof listed);
  // `first` has no bit of a square, and -1 has all.
  const __m256i actions =
      _mm256_or_si256(_mm256_cvtepi8_epi16(listed), _mm256_set1_epi16(static_cast<short>(first)));
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), actions);
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
inline int write_list(const chess::LegalActions& legal, int limit, std::int16_t* out) {
  for (int i = 0; i < kMaxLegal; ++i) out[i] = -1;
  int listed = 0;
  const auto list = [&](int plane) {
    chess::Bitboard from = legal.plane[plane];
    if (listed + kMaxPieces <= limit) {
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

// The `rank`-th legal action in order of action id, from 0; `plane(i)` returns plane `i`.
template <class Plane>
inline chess::Action nth_action(const Plane& plane, int rank) {
  for (int i = 0;; ++i) {
    chess::Bitboard from = plane(i);
    const int here = chess::count(from);
    if (rank < here) {
      while (rank-- > 0) from &= from - 1;
      return 64 * i + chess::lowest(from);
    }
    rank -= here;
  }
}
inline chess::Action nth_action(const chess::LegalActions& legal, int rank) {
  return nth_action([&](int i) { return legal.plane[i]; }, rank);
}

}  // namespace rungs::env
