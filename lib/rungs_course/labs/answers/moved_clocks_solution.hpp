// Keeps all clocks side by side, a byte each, in the first of 16 parts of memory; the other words
// of each board stay together behind.
inline void pack(const std::uint64_t* boards, std::uint64_t* memory, std::int64_t count) {
  auto* clocks = reinterpret_cast<std::uint8_t*>(memory);
  for (std::int64_t i = 0; i < count; ++i) {
    clocks[i] = static_cast<std::uint8_t>(boards[16 * i]);
    for (int word = 1; word < 16; ++word) memory[count + 15 * i + word - 1] = boards[16 * i + word];
  }
}

// Sets the clocks to 0 where something moved, else one up; returns how many are then 100 or more.
inline std::int64_t tick(std::uint64_t* memory, const std::uint8_t* moved, std::int64_t count) {
  auto* clocks = reinterpret_cast<std::uint8_t*>(memory);
  std::int64_t over = 0;
  for (std::int64_t first = 0; first < count; first += 128) {
    const std::int64_t end = first + 128 < count ? first + 128 : count;
    std::uint8_t some = 0;  // of at most 128: a byte holds it, as wide as what it counts
    for (std::int64_t i = first; i < end; ++i) {
      const std::uint8_t next = clocks[i] + 1;
      clocks[i] = moved[i] ? 0 : next;
      some += clocks[i] >= 100;
    }
    over += some;
  }
  return over;
}

// Gives all boards back, with what has become of their clocks.
inline void unpack(const std::uint64_t* memory, std::uint64_t* boards, std::int64_t count) {
  const auto* clocks = reinterpret_cast<const std::uint8_t*>(memory);
  for (std::int64_t i = 0; i < count; ++i) {
    boards[16 * i] = clocks[i];
    for (int word = 1; word < 16; ++word) boards[16 * i + word] = memory[count + 15 * i + word - 1];
  }
}
