"""The machine that is measured: its counters, caches, tools, and the roofline."""
