"""Settings of all tests."""

import hypothesis

import rungs  # noqa: F401 (before PyTorch, whose OpenMP runtime would be in the way of ours)

# The first example of a test may compile C++; that is no reason to fail it.
hypothesis.settings.register_profile("rungs", deadline=None)
hypothesis.settings.load_profile("rungs")
