"""What holds for all tests of self-play."""

from tests.library.train.conftest import one_thread  # noqa: F401
