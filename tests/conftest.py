"""Settings of all tests."""

import hypothesis

# The first example of a test may compile C++; that is no reason to fail it.
hypothesis.settings.register_profile("rungs", deadline=None)
hypothesis.settings.load_profile("rungs")
