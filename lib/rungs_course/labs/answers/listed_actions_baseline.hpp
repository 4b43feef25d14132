// Lists the legal actions of each board, 64 * plane + square, in order: each has room for 256.
inline void list_legal(const std::uint64_t* masks, std::int16_t* lists, std::int32_t* counts,
                       std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    std::int16_t* list = lists + 256 * i;
    std::int32_t length = 0;
    for (int plane = 0; plane < 73; ++plane)
      for (std::uint64_t left = masks[73 * i + plane]; left; left &= left - 1)
        list[length++] = static_cast<std::int16_t>(64 * plane + std::countr_zero(left));
    counts[i] = length;
  }
}
