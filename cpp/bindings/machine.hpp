// The machine's measurements as plain functions, for Python: see lib/rungs_course/measure/peaks.py.
#pragma once
#include "../course/peaks.hpp"

extern "C" {

std::int64_t rungs_peak_operations(std::int32_t peak) {
  return rungs::machine::operations(static_cast<rungs::machine::Peak>(peak));
}

double rungs_peak_seconds(std::int32_t peak, std::int32_t threads, std::int64_t iterations) {
  return rungs::machine::peak_seconds(static_cast<rungs::machine::Peak>(peak), threads, iterations);
}

std::int64_t rungs_stream_bytes(std::int32_t stream, std::int64_t bytes) {
  return rungs::machine::bytes_moved(static_cast<rungs::machine::Stream>(stream), bytes);
}

double rungs_stream_seconds(std::int32_t stream, std::int32_t threads, std::int64_t bytes,
                            std::int64_t repeats) {
  return rungs::machine::stream_seconds(static_cast<rungs::machine::Stream>(stream), threads, bytes,
                                        repeats);
}

}  // extern "C"
