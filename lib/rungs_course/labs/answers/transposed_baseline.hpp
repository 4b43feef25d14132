// From values by step and game to values by game and step.
inline void by_game(const float* values, float* out, std::int64_t steps, std::int64_t games) {
  for (std::int64_t step = 0; step < steps; ++step)
    for (std::int64_t game = 0; game < games; ++game)
      out[game * steps + step] = values[step * games + game];
}
