inline std::uint64_t played(std::uint64_t board, std::uint64_t total) {
  board = (board ^ total) * 0x9E3779B97F4A7C15;
  return board ^ board >> 29;
}

// Plays boards, each thread its share. Every ply of a board depends on the sum of all boards.
//
// A thread writes its sum and the ply's number to a cache line of its own, and waits until all the
// others have done so: that is all the meeting there is. Sums of even and odd plies have lines of
// their own. Who writes the next but one has seen all of the next, so nobody reads the old one.
inline void play(std::uint64_t* boards, std::int32_t count, std::int32_t plies,
                 std::int32_t threads) {
  struct alignas(64) Slot {
    std::atomic<std::int32_t> ply{-1};
    std::uint64_t sum = 0;
  };
  std::vector<Slot> slots(2 * threads);
  const auto member = [&](int t) {
    const int first = count * t / threads, end = count * (t + 1) / threads;
    std::uint64_t part = 0;
    for (int i = first; i < end; ++i) part += boards[i];
    for (int ply = 0; ply < plies; ++ply) {
      Slot* now = slots.data() + threads * (ply % 2);
      now[t].sum = part;
      now[t].ply.store(ply, std::memory_order_release);
      std::uint64_t total = 0;
      for (int other = 0; other < threads; ++other) {
        for (int tries = 0; now[other].ply.load(std::memory_order_acquire) != ply; ++tries)
          if (tries > 1000) std::this_thread::yield();
        total += now[other].sum;
      }
      part = 0;
      for (int i = first; i < end; ++i) part += boards[i] = played(boards[i], total);
    }
  };
  std::vector<std::thread> team;
  for (int t = 1; t < threads; ++t) team.emplace_back(member, t);
  member(0);
  for (std::thread& thread : team) thread.join();
}
