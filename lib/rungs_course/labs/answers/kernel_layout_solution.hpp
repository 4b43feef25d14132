// A row is a word of all boards; each begins a line, as it is a multiple of 32 words long.
inline std::int64_t row(std::int64_t boards) { return (boards + 31) / 32 * 32; }

// Where in memory a board's word lies, of 184.
inline std::int64_t place(std::int64_t board, std::int64_t word, std::int64_t boards) {
  return word * row(boards) + board;
}

// How many words of memory the boards take.
inline std::int64_t memory_words(std::int64_t boards) { return 184 * row(boards); }
