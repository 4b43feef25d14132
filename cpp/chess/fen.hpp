// Forsyth-Edwards Notation, parsed and written: the grammar of docs/library.md, which
// `rungs/_src/chess/fen.py` parses in Python. Nothing here is in the hot loop.
#pragma once
#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <string_view>

#include "boards.hpp"

namespace rungs::chess {

namespace detail {

constexpr std::string_view kLetters = "pnbrqk";

inline std::string parse_board(std::string_view text, Position& p) {
  int rank = 7, file = 0;
  bool after_digit = false;
  for (const char c : text) {
    const bool digit = c >= '1' && c <= '8';
    if (digit && after_digit) return "empty squares are counted in two digits";
    after_digit = digit;
    if (c == '/') {
      if (file != 8 || rank == 0) return "the board does not have 8 ranks of 8 squares";
      --rank, file = 0;
    } else if (digit) {
      file += c - '0';
    } else {
      const auto type = kLetters.find(static_cast<char>(c | 32));
      if (type == std::string_view::npos) return "a character does not belong on the board";
      if (file > 7) return "a rank has more than 8 squares";
      p.piece[type] |= bit(8 * rank + file);
      if (c < 'a') p.own |= bit(8 * rank + file);
      ++file;
    }
    if (file > 8) return "a rank has more than 8 squares";
  }
  return rank == 0 && file == 8 ? "" : "the board does not have 8 ranks of 8 squares";
}

// The file that K, Q, k and q mean, in Chess960 too: that of the rook furthest from the king on
// that side.
inline int outermost_rook(const Position& p, bool is_short) {
  const int king = p.king_file(0);
  const Bitboard rooks = p.piece[ROOK] & p.own & kRank1;
  const Bitboard beyond = is_short ? rooks & -(Bitboard{2} << king) : rooks & (bit(king) - 1);
  return beyond ? (is_short ? 63 - std::countl_zero(beyond) : lowest(beyond)) : -1;
}

// `p` must be seen from White's side. Letters are KQkq, or the rook's file (Shredder-FEN).
inline std::string parse_castling(std::string_view text, Position& p) {
  constexpr auto kForm = "castling rights are a selection of KQkq, White's first, or -";
  const auto is_black = [](char letter) { return letter >= 'a'; };
  if (text == "-") return "";
  if (text.empty() || !std::is_partitioned(text.rbegin(), text.rend(), is_black)) return kForm;
  for (const char letter : text) {
    const bool black = is_black(letter);
    const char c = static_cast<char>(letter & ~32);
    if (c != 'K' && c != 'Q' && (c < 'A' || c > 'H')) return kForm;
    if (black) turn(p);
    const int file = c == 'K' || c == 'Q' ? outermost_rook(p, c == 'K') : c - 'A';
    const bool home =
        (p.piece[KING] & p.own & kRank1) && file >= 0 && (p.piece[ROOK] & p.own & bit(file));
    const bool twice = home && (p.castling[0] >> file & 1);
    if (home) p.castling[0] |= static_cast<std::uint8_t>(1 << file);
    if (black) turn(p);
    if (!home)
      return std::string("castling right ") + letter + " without its king and rook at home";
    if (twice) return std::string("castling right ") + letter + " is given twice";
  }
  for (int side = 0; side < 2; ++side)
    if (count(p.castling[side]) > 2 || count(p.short_castling(side)) > 1 ||
        count(p.long_castling(side)) > 1)
      return "a side may castle with one rook on each side of its king";
  return "";
}

// The castling letters of the side to move, as Black's ('a') or White's ('A').
inline std::string castling_letters(const Position& p, char case_of) {
  std::string letters;
  for (const bool is_short : {true, false}) {
    const int files = is_short ? p.short_castling(0) : p.long_castling(0);
    if (!files) continue;
    const int file = lowest(static_cast<Bitboard>(files));
    letters += file == outermost_rook(p, is_short)
                   ? static_cast<char>((is_short ? 'k' : 'q') - 'a' + case_of)
                   : static_cast<char>(file + case_of);
  }
  return letters;
}

inline std::string parse_number(std::string_view text, unsigned low, unsigned high,
                                unsigned& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool padded = text.size() > 1 && text[0] == '0';
  if (error != std::errc() || end != text.data() + text.size() || padded || value < low ||
      value > high)
    return "counter '" + std::string(text) + "' is not a number from " + std::to_string(low) +
           " to " + std::to_string(high);
  return "";
}

}  // namespace detail

// Parses a FEN of 6 fields, or of 4 (an EPD's: clocks 0 and 1). Sets `position` and returns "", or
// returns why the text is malformed or the position impossible.
inline std::string parse_fen(std::string_view fen, Position& position) {
  std::array<std::string_view, 6> field = {"", "", "", "", "0", "1"};
  std::size_t fields = 0;
  for (std::size_t at = 0; at <= fen.size(); ++fields) {
    const std::size_t end = std::min(fen.find(' ', at), fen.size());
    if (fields == 6) return "more than 6 fields";
    field[fields] = fen.substr(at, end - at);
    at = end + 1;
  }
  if (fields != 4 && fields != 6) return "a FEN has 6 fields, an EPD 4";

  Position p{};
  p.en_passant = kNoFile;
  std::string why = detail::parse_board(field[0], p);
  if (!why.empty()) return why;
  const Bitboard white = p.own, black = p.theirs();
  if (count(white & p.piece[KING]) != 1 || count(black & p.piece[KING]) != 1)
    return "each side must have one king";
  if (p.piece[PAWN] & (kRank1 | kRank8)) return "a pawn stands on the first or last rank";
  if (count(white) > 16 || count(black) > 16) return "a side has more than 16 pieces";
  if (count(white & p.piece[PAWN]) > 8 || count(black & p.piece[PAWN]) > 8)
    return "a side has more than 8 pawns";
  why = detail::parse_castling(field[2], p);
  if (!why.empty()) return why;

  if (field[1] != "w" && field[1] != "b") return "the side to move is w or b";
  if (field[1] == "b") turn(p);

  if (field[3] != "-") {
    const int file = field[3].size() == 2 ? field[3][0] - 'a' : -1;
    if (file < 0 || file > 7 || field[3][1] != (p.black ? '3' : '6'))
      return "the en-passant square is - or one behind a pawn that just advanced";
    const Bitboard target = bit(40 + file);
    if (!(target >> 8 & p.piece[PAWN] & p.theirs()) || (p.occupied() & (target | target << 8)))
      return "no pawn has just passed the en-passant square " + std::string(field[3]);
    p.en_passant = static_cast<std::uint8_t>(file);
  }
  unsigned halfmove = 0, fullmove = 1;
  why = detail::parse_number(field[4], 0, 150, halfmove);
  if (why.empty()) why = detail::parse_number(field[5], 1, 65535, fullmove);
  if (!why.empty()) return why;
  p.halfmove = static_cast<std::uint8_t>(halfmove);
  p.fullmove = static_cast<std::uint16_t>(fullmove);

  Position other = p;
  turn(other);
  if (king_attacked(other)) return "the side that is not to move is in check";

  LegalActions legal;
  if (!generate(p, legal).legality.en_passant) p.en_passant = kNoFile;
  position = p;
  return "";
}

// Writes a FEN. The en-passant square is given only where a legal capture exists, as by
// python-chess.
inline std::string to_fen(const Position& position) {
  Position p = position;
  if (p.black) turn(p);
  std::string fen;
  for (int rank = 7; rank >= 0; --rank) {
    int empty = 0;
    for (int square = 8 * rank; square < 8 * rank + 8; ++square) {
      if (!(p.occupied() >> square & 1)) {
        ++empty;
        continue;
      }
      if (empty) fen += static_cast<char>('0' + empty);
      empty = 0;
      const char letter = detail::kLetters[piece_on(p, square)];
      fen += p.own >> square & 1 ? static_cast<char>(letter - 32) : letter;
    }
    if (empty) fen += static_cast<char>('0' + empty);
    if (rank) fen += '/';
  }
  fen += position.black ? " b " : " w ";
  Position black = p;
  turn(black);
  const std::string castling =
      detail::castling_letters(p, 'A') + detail::castling_letters(black, 'a');
  fen += castling.empty() ? "-" : castling;
  fen += ' ';
  if (position.en_passant == kNoFile)
    fen += '-';
  else
    (fen += static_cast<char>('a' + position.en_passant)) += position.black ? '3' : '6';
  return fen + ' ' + std::to_string(p.halfmove) + ' ' + std::to_string(p.fullmove);
}

}  // namespace rungs::chess
