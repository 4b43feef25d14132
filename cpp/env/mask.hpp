// The legal-action mask, in two formats: 4672 bytes of 0 or 1, or the 73 planes' bits as they are.
#pragma once
#include <cstring>

#include "../chess/action.hpp"
#include "bytes.hpp"

namespace rungs::env {

enum class MaskFormat : std::int32_t { BOOL, BITS };

constexpr std::int64_t mask_bytes(MaskFormat format) {
  return format == MaskFormat::BOOL ? chess::kActions : sizeof(chess::LegalActions);
}

inline void write_words(const chess::Bitboard (&plane)[chess::kPlanes], std::uint8_t* out) {
  std::memcpy(out, plane, sizeof plane);
}
template <class Planes>
inline void write_words(const Planes& plane, std::uint8_t* out) {
  for (int i = 0; i < chess::kPlanes; ++i) {
    const chess::Bitboard word = plane[i];
    std::memcpy(out + 8 * i, &word, sizeof word);
  }
}

template <class Planes>
inline void write_mask(const chess::ActionsIn<Planes>& legal, MaskFormat format,
                       std::uint8_t* out) {
  if (format == MaskFormat::BITS)
    write_words(legal.plane, out);
  else
    for (int plane = 0; plane < chess::kPlanes; ++plane)
      store(where(legal.plane[plane]) & kOnes, out + 64 * plane);
}

// The `rank`-th legal action in order of action id, from 0.
template <class Planes>
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
