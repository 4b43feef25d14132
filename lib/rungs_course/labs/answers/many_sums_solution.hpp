typedef float Floats __attribute__((vector_size(64)));

inline Floats load(const float* from) {
  Floats loaded;
  __builtin_memcpy(&loaded, from, sizeof loaded);
  return loaded;
}

// The dot product of two arrays: eight vectors of sums, none of which waits for another.
inline float dot(const float* a, const float* b, std::int64_t count) {
  constexpr int kSums = 8, kLanes = 16;
  Floats sums[kSums] = {};
  std::int64_t i = 0;
  for (; i + kSums * kLanes <= count; i += kSums * kLanes)
    for (int j = 0; j < kSums; ++j) sums[j] += load(a + i + kLanes * j) * load(b + i + kLanes * j);
  Floats all = {};
  for (int j = 0; j < kSums; ++j) all += sums[j];
  float sum = 0;
  for (int lane = 0; lane < kLanes; ++lane) sum += all[lane];
  for (; i < count; ++i) sum += a[i] * b[i];
  return sum;
}
