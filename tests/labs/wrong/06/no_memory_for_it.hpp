// says: of 1 boards: expected from 0 to 183, but it is
// Rows of a multiple of 32 boards, but no memory for them.
inline std::int64_t place(std::int64_t board, std::int64_t word, std::int64_t boards) {
  return word * ((boards + 31) / 32 * 32) + board;
}
// How many words of memory the boards take.
inline std::int64_t memory_words(std::int64_t boards) { return 184 * boards; }
