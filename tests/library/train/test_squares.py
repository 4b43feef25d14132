"""The first layer, dense and sparse, is one layer."""

import torch

from rungs._src.train.layers import DenseSquares, SparseSquares
from tests.library.train.learners import batches


def test_sums_of_columns_are_the_product():
    torch.manual_seed(0)
    dense = DenseSquares(24).double()
    torch.manual_seed(0)
    sparse = SparseSquares(24).double()
    observation = batches.positions("list", None, 32, 40).observation
    upstream = torch.randn(32, 24, dtype=torch.float64)
    for name, weights in dense.state_dict().items():
        assert torch.equal(sparse.state_dict()[name], weights)
    found, wanted = sparse(observation), dense(observation)
    torch.testing.assert_close(found, wanted)
    for result in (found, wanted):
        result.backward(upstream)
    torch.testing.assert_close(sparse.weight.grad, dense.weight.grad)
    torch.testing.assert_close(sparse.bias.grad, dense.bias.grad)


def test_weights_go_from_one_to_the_other():
    dense, sparse = DenseSquares(8), SparseSquares(8)
    sparse.load_state_dict(dense.state_dict())
    observation = batches.positions("list", None, 4, 9).observation
    torch.testing.assert_close(sparse(observation), dense(observation))
    assert sparse.weight.t().is_contiguous()  # still by columns
