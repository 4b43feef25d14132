"""Games of your own: one struct in C++ and its reference in Python, on the rungs of a CPU."""
