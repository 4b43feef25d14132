// Lists the legal actions of each board, 64 * plane + square, in order: each has room for 256.
inline void list_legal(const std::uint64_t* masks, std::int16_t* lists, std::int32_t* counts,
                       std::int64_t count) {
  constexpr int kAlways =
      4;  // actions of a plane that are written whether there are so many or not
  for (std::int64_t i = 0; i < count; ++i) {
    const std::uint64_t* planes = masks + 73 * i;
    // The planes that have any: each is written, and the next overwrites it where it has none.
    std::uint8_t some[73];
    int num_some = 0;
    for (int plane = 0; plane < 73; ++plane) {
      some[num_some] = static_cast<std::uint8_t>(plane);
      num_some += planes[plane] != 0;
    }
    std::int16_t* list = lists + 256 * i;
    std::int32_t length = 0;
    for (int index = 0; index < num_some; ++index) {
      const int plane = some[index];
      std::uint64_t left = planes[plane];
      const int legal = std::popcount(left);
      const auto write = [&](int n) {
        list[length + n] = static_cast<std::int16_t>(64 * plane + std::countr_zero(left));
        left &= left - 1;
      };
      for (int n = 0; n < kAlways; ++n) write(n);
      for (int n = kAlways; n < legal; ++n) write(n);
      length += legal;
    }
    counts[i] = length;
  }
}
