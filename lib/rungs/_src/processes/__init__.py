"""Processes: workers, MPI's ranks, and what happens when one of them dies."""
