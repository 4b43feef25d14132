"""The machine that is measured: what is busy, its counters, caches and tools."""
