// Where in memory a board's word lies: its 184 words together.
inline std::int64_t place(std::int64_t board, std::int64_t word, std::int64_t /*boards*/) {
  return 184 * board + word;
}

// How many words of memory the boards take.
inline std::int64_t memory_words(std::int64_t boards) { return 184 * boards; }
