// Keeps boards of 16 words as they are.
inline void pack(const std::uint64_t* boards, std::uint64_t* memory, std::int64_t count) {
  for (std::int64_t i = 0; i < 16 * count; ++i) memory[i] = boards[i];
}

// Sets the clocks, word 0 of each board, to 0 where something moved, else one up; returns how many
// are then 100 or more.
inline std::int64_t tick(std::uint64_t* memory, const std::uint8_t* moved, std::int64_t count) {
  std::int64_t over = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    std::uint64_t& clock = memory[16 * i];
    clock = moved[i] ? 0 : clock + 1;
    over += clock >= 100;
  }
  return over;
}

// Gives all boards back, with what has become of their clocks.
inline void unpack(const std::uint64_t* memory, std::uint64_t* boards, std::int64_t count) {
  for (std::int64_t i = 0; i < 16 * count; ++i) boards[i] = memory[i];
}
