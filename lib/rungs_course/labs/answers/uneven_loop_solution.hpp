// Plays `plies` plies of a board. A board whose highest bit is set at the end is won.
inline std::uint64_t play(std::uint64_t board, std::int32_t plies) {
  for (std::int32_t ply = 0; ply < plies; ++ply) board = (board ^ board >> 29) * 0x9E3779B97F4A7C15;
  return board;
}

// Plays all boards and returns how many games are won: who is done takes the next boards.
inline std::int64_t play_all(const std::uint64_t* boards, const std::int32_t* plies,
                             std::uint64_t* ends, std::int64_t count, std::int32_t threads) {
  std::int64_t won = 0;
#pragma omp parallel for num_threads(threads) schedule(dynamic, 4) reduction(+ : won)
  for (std::int64_t i = 0; i < count; ++i) {
    ends[i] = play(boards[i], plies[i]);
    won += ends[i] >> 63;
  }
  return won;
}
