"""The machine: its processor, its GPU, and how results name it."""
