// Sends rows of 72 bytes: a message each.
inline void send_rows(int to, const std::uint8_t* rows, std::int64_t count) {
  for (std::int64_t row = 0; row < count; ++row)
    for (std::int64_t sent = 0; sent < 72;) {
      const auto some = ::write(to, rows + 72 * row + sent, 72 - sent);
      if (some <= 0) return;
      sent += some;
    }
}

inline void receive_rows(int from, std::uint8_t* rows, std::int64_t count) {
  for (std::int64_t row = 0; row < count; ++row)
    for (std::int64_t here = 0; here < 72;) {
      const auto some = ::read(from, rows + 72 * row + here, 72 - here);
      if (some <= 0) return;
      here += some;
    }
}
