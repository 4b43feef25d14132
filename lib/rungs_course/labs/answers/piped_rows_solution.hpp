// As much at a time as a pipe holds: more would only wait. Where a message ends means nothing to a
// pipe, so each end goes on from where it is.
constexpr std::int64_t kMessage = 65536;

inline void send_rows(int to, const std::uint8_t* rows, std::int64_t count) {
  for (std::int64_t sent = 0; sent < 72 * count;) {
    const std::int64_t left = 72 * count - sent;
    const auto some = ::write(to, rows + sent, left < kMessage ? left : kMessage);
    if (some <= 0) return;
    sent += some;
  }
}

inline void receive_rows(int from, std::uint8_t* rows, std::int64_t count) {
  for (std::int64_t here = 0; here < 72 * count;) {
    const auto some = ::read(from, rows + here, 72 * count - here);
    if (some <= 0) return;
    here += some;
  }
}
