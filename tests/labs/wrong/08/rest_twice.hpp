// says: dot product of 16 numbers
// The plain loop for the rest begins too early, at the last round.
inline float dot(const float* a, const float* b, std::int64_t count) {
  float sums[8] = {};
  for (std::int64_t i = 0; i + 8 <= count; i += 8)
    for (int j = 0; j < 8; ++j) sums[j] += a[i + j] * b[i + j];
  float sum = 0;
  for (int j = 0; j < 8; ++j) sum += sums[j];
  for (std::int64_t i = count < 8 ? 0 : count - 8; i < count; ++i) sum += a[i] * b[i];
  return sum;
}
