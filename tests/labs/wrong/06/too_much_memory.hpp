// says: words of memory for 1 boards: expected at most 5888, but it is 188416
// Rows of 1024 boards: that spends memory on boards that aren't there.
inline std::int64_t place(std::int64_t board, std::int64_t word, std::int64_t boards) {
  return word * ((boards + 1023) / 1024 * 1024) + board;
}
// How many words of memory the boards take.
inline std::int64_t memory_words(std::int64_t boards) {
  return 184 * ((boards + 1023) / 1024 * 1024);
}
