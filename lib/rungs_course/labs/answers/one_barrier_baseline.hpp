// Where all threads of a team meet: none goes on before the last has come.
class Barrier {
 public:
  explicit Barrier(int threads) : threads_(threads) {}
  void meet() {
    const int meeting = meeting_;
    if (++here_ == threads_) {
      here_ = 0;
      ++meeting_;
      return;
    }
    for (int tries = 0; meeting_ == meeting; ++tries)
      if (tries > 1000) std::this_thread::yield();
  }

 private:
  const int threads_;
  std::atomic<int> here_{0}, meeting_{0};
};

inline std::uint64_t played(std::uint64_t board, std::uint64_t total) {
  board = (board ^ total) * 0x9E3779B97F4A7C15;
  return board ^ board >> 29;
}

// Plays boards, each thread its share. Every ply of a board depends on the sum of all boards.
inline void play(std::uint64_t* boards, std::int32_t count, std::int32_t plies,
                 std::int32_t threads) {
  Barrier barrier(threads);
  std::vector<std::uint64_t> sums(threads);
  const auto member = [&](int t) {
    const int first = count * t / threads, end = count * (t + 1) / threads;
    for (int ply = 0; ply < plies; ++ply) {
      sums[t] = 0;
      for (int i = first; i < end; ++i) sums[t] += boards[i];
      barrier.meet();  // all sums are there
      std::uint64_t total = 0;
      for (const std::uint64_t sum : sums) total += sum;
      for (int i = first; i < end; ++i) boards[i] = played(boards[i], total);
      barrier.meet();  // all have read them
    }
  };
  std::vector<std::thread> team;
  for (int t = 1; t < threads; ++t) team.emplace_back(member, t);
  member(0);
  for (std::thread& thread : team) thread.join();
}
