using Position = rungs::chess::Position;
using Words = rungs::chess::Widest;  // the same bitboard of as many boards as a register holds

// Steps neighbouring boards, at most as many as a register holds.
inline void step_group(const Position* now, const std::int16_t* actions, Position* next,
                       std::uint8_t* masks, int number) {
  using namespace rungs;
  constexpr int kGroup = chess::kWidth<Words>;
  Position positions[kGroup];
  std::int16_t played[kGroup] = {};
  for (int i = 0; i < kGroup; ++i) positions[i] = now[i < number ? i : 0];
  for (int i = 0; i < kGroup; ++i) played[i] = actions[i < number ? i : 0];
  const auto plies = chess::plies_of(chess::widened<Words>(played));
  const auto boards = chess::play(chess::load_boards<Words>(positions), plies);
  chess::store_boards(boards, positions);
  for (int i = 0; i < number; ++i) next[i] = positions[i];
  Words legal[chess::kPlanes];
  chess::generate(boards, [&](int plane, Words squares) { legal[plane] = squares; });
  env::write_masks(legal, number, env::MaskFormat::BOOL, false, masks);
}

// Plays an action on each position, and writes the position that follows and its mask: as many
// boards at a time as a register holds, by threads that take 32 boards each when they are free.
inline void step(const Position* now, const std::int16_t* actions, Position* next,
                 std::uint8_t* masks, std::int64_t count, std::int32_t threads) {
  constexpr std::int64_t kGroup = rungs::chess::kWidth<Words>, kChunk = 32;
  static rungs::ThreadPool pool(static_cast<int>(std::thread::hardware_concurrency()));
  pool.run(threads, (count + kChunk - 1) / kChunk, [&](std::int64_t chunk) {
    const std::int64_t end = std::min(count, kChunk * (chunk + 1));
    for (std::int64_t i = kChunk * chunk; i < end; i += kGroup)
      step_group(now + i, actions + i, next + i, masks + 4672 * i,
                 static_cast<int>(std::min(kGroup, end - i)));
    return 0;
  });
}
