"""What holds for all tests of training."""

import pytest
import torch


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """PyTorch's threads, which wait by spinning, take longer than these networks."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)
