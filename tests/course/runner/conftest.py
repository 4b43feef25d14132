"""One run of the whole course, and the book of it, for all tests that look at them."""

import pytest

from rungs_course.runner import book, chain


@pytest.fixture(scope="session")
def smoke(tmp_path_factory):
    """The folder of a run at the smallest size."""
    out = tmp_path_factory.mktemp("run")
    chain.run(size="smoke", out=out, say=lambda line: None)
    return out


@pytest.fixture(scope="session")
def pages(smoke):
    """The book's folder."""
    return book.build(smoke).parent
