"""Threads for C++: a thread pool of our own, or OpenMP's."""
