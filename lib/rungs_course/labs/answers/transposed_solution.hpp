// Moves the numbers of some steps of some games.
inline void move_block(const float* values, float* out, std::int64_t steps, std::int64_t games,
                       std::int64_t step, std::int64_t game, std::int64_t num_steps,
                       std::int64_t num_games) {
  for (std::int64_t j = game; j < game + num_games; ++j)
    for (std::int64_t i = step; i < step + num_steps; ++i)
      out[j * steps + i] = values[i * games + j];
}

// From values by step and game to values by game and step, in blocks of 16 by 16: the lines that a
// block touches, 16 to read and 16 to write, are used whole while a core's first cache holds them.
inline void by_game(const float* values, float* out, std::int64_t steps, std::int64_t games) {
  constexpr std::int64_t kBlock = 16;
  for (std::int64_t step = 0; step < steps; step += kBlock)
    for (std::int64_t game = 0; game < games; game += kBlock) {
      const std::int64_t num_steps = steps - step, num_games = games - game;
      if (num_steps >= kBlock && num_games >= kBlock)  // numbers that the compiler knows
        move_block(values, out, steps, games, step, game, kBlock, kBlock);
      else
        move_block(values, out, steps, games, step, game, num_steps < kBlock ? num_steps : kBlock,
                   num_games < kBlock ? num_games : kBlock);
    }
}
