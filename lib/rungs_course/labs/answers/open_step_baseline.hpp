using Position = rungs::chess::Position;

// Plays an action on each position, and writes the position that follows and its mask, a byte for
// each of 4672 actions: board by board, on one thread.
inline void step(const Position* now, const std::int16_t* actions, Position* next,
                 std::uint8_t* masks, std::int64_t count, std::int32_t) {
  for (std::int64_t i = 0; i < count; ++i) {
    rungs::chess::play(now[i], actions[i], next[i]);
    rungs::chess::LegalActions legal;
    rungs::chess::generate(next[i], legal);
    for (int action = 0; action < 4672; ++action)
      masks[4672 * i + action] = legal.plane[action / 64] >> action % 64 & 1;
  }
}
