// says: dot product of 1 numbers
// What does not fill a round of eight is left out.
inline float dot(const float* a, const float* b, std::int64_t count) {
  float sums[8] = {};
  for (std::int64_t i = 0; i + 8 <= count; i += 8)
    for (int j = 0; j < 8; ++j) sums[j] += a[i + j] * b[i + j];
  float sum = 0;
  for (int j = 0; j < 8; ++j) sum += sums[j];
  return sum;
}
