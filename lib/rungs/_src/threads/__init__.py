"""Threads for C++: a team of our own, or OpenMP's."""
