// What the course's Python calls to measure a machine.
#include "../bindings/abi.hpp"
#include "peaks.hpp"

RUNGS_ENUMERATION(Peak, rungs::machine::Peak)
RUNGS_ENUMERATION(Stream, rungs::machine::Stream)

RUNGS_FUNCTION(std::int64_t, rungs_peak_operations, std::int32_t peak) {
  return rungs::machine::operations(static_cast<rungs::machine::Peak>(peak));
}

RUNGS_FUNCTION(double, rungs_peak_seconds, std::int32_t peak, std::int32_t threads,
               std::int64_t iterations) {
  return rungs::machine::peak_seconds(static_cast<rungs::machine::Peak>(peak), threads, iterations);
}

RUNGS_FUNCTION(std::int64_t, rungs_stream_bytes, std::int32_t stream, std::int64_t bytes) {
  return rungs::machine::bytes_moved(static_cast<rungs::machine::Stream>(stream), bytes);
}

RUNGS_FUNCTION(double, rungs_stream_seconds, std::int32_t stream, std::int32_t threads,
               std::int64_t bytes, std::int64_t repeats) {
  return rungs::machine::stream_seconds(static_cast<rungs::machine::Stream>(stream), threads, bytes,
                                        repeats);
}
