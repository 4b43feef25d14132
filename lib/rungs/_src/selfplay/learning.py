"""Learning from search's policies and values, and the games' outcomes."""

import copy

import numpy as np
import torch

from rungs._src.core.arguments import shown
from rungs._src.search.search import Evaluator
from rungs._src.selfplay.examples import Examples, examples_flaw
from rungs._src.selfplay.settings import LossWeights
from rungs._src.train.cpp import CppBackend
from rungs._src.train.cpp_network import CppNetwork
from rungs._src.train.evaluate import NetworkEvaluator
from rungs._src.train.legal_actions import Padded, from_lists
from rungs._src.train.network import LegalActionNetwork, PolicyValueNetwork
from rungs._src.train.ppo import Loss, TorchBackend
from rungs.errors import CompilerError, ConfigurationError

_BFLOAT16 = "cpp-bfloat16"


class TorchLearner(TorchBackend):
    """A network that learns from examples and evaluates positions: the reference, in PyTorch."""

    def __init__(self, network: PolicyValueNetwork, weights: LossWeights):
        super().__init__(network, weights.learning_rate, weights.max_grad_norm)
        self._weights = weights

    def learn(self, positions: Examples) -> dict[str, float]:
        """Takes a step on a minibatch; returns "policy_loss" and "value_loss" before it."""
        _check_learnable(positions)
        parts = self.step(self._loss, positions)
        return {name: float(part) for name, part in parts.items()}

    def _loss(self, positions: Examples) -> Loss:
        policy_loss, value_loss = losses(self.network, positions, self._weights.value_mix)
        parts = {"policy_loss": policy_loss.detach(), "value_loss": value_loss.detach()}
        return policy_loss + self._weights.vf_coef * value_loss, parts


class CppLearner(CppBackend):
    """As `TorchLearner`, in C++ (`cpp/learn`); `bfloat16` is `CppNetwork`'s. The number of threads
    changes no bit of results.
    """

    def __init__(
        self, network: PolicyValueNetwork, weights: LossWeights, *, bfloat16: bool = False
    ):
        super().__init__(network, weights.learning_rate, weights.max_grad_norm, bfloat16=bfloat16)
        self._weights = weights

    def learn(self, positions: Examples) -> dict[str, float]:
        _check_learnable(positions)
        # Keeps the arrays alive until C++ has read them.
        lists = {
            "observation": np.ascontiguousarray(positions.observation),
            "action": positions.actions(),
            "count": np.ascontiguousarray(positions.count),
            "row": np.arange(len(positions)),
        }
        policy = positions.policies().astype(self.dtype)
        value = positions.value_targets(self._weights.value_mix).astype(self.dtype)
        minibatch = self.structures["SearchBatch"](
            positions=self.structures["BatchPositions"](**lists, rows=len(positions)),
            policy=policy.ctypes.data,  # of the network's dtype, which may be double
            value=value.ctypes.data,
            vf_coef=self._weights.vf_coef,
        )
        policy_loss, value_loss, *_ = self.step(self.api.rungs_learn_search_gradients, minibatch)
        return {"policy_loss": policy_loss, "value_loss": value_loss}


SearchLearner = TorchLearner | CppLearner


def make(name: str, seed: int, weights: LossWeights) -> SearchLearner:
    """Makes a learner of a new network, whose first weights are those of a seed."""
    torch.manual_seed(seed)
    network = PolicyValueNetwork()
    if name == "torch":
        return TorchLearner(network, weights)
    return CppLearner(network, weights, bfloat16=name == _BFLOAT16)


def evaluator(name: str, network: LegalActionNetwork) -> Evaluator:
    """Returns a network with the weights of now as an evaluator, computed as by a learner."""
    if name == "torch":
        return NetworkEvaluator(copy.deepcopy(network))
    return CppNetwork(network, bfloat16=name == _BFLOAT16, frozen=True).evaluate


def cpp_or_torch_evaluator(network: LegalActionNetwork) -> Evaluator:
    """Returns `evaluator`, in PyTorch where there is no C++ for the network's sizes."""
    try:
        return evaluator("cpp", network)
    except (ConfigurationError, CompilerError):
        return evaluator("torch", network)


def losses(network, positions: Examples, value_mix: float) -> tuple[torch.Tensor, torch.Tensor]:
    """Returns means of KL(search's policy || the network's), in nats, and of squared errors."""
    arrays = (positions.observation, positions.actions(), positions.count)
    observation, actions, count = map(torch.from_numpy, arrays)
    legal = from_lists(actions, count)
    scores, values = network.scores(observation, legal)
    policy = Padded(legal, scores).log_probabilities
    target = torch.from_numpy(positions.policies())[:, : policy.shape[1]].to(policy.dtype)
    # 0 instead of -inf beyond the legal actions: they add nothing, and neither do their gradients.
    policy = policy.masked_fill(policy.isinf(), 0.0)
    divergence = -(target * policy).sum(1) - torch.special.entr(target).sum(1)
    value = torch.from_numpy(positions.value_targets(value_mix))
    return divergence.mean(), (values - value).square().mean()


def _check_learnable(positions: Examples) -> None:
    """Rejects arrays that C++ would read out of bounds, and minibatches without positions."""
    if not isinstance(positions, Examples):
        raise ConfigurationError(f"positions={shown(positions)} are not Examples")
    flaw = examples_flaw(positions.arrays())
    if not flaw and not len(positions):
        flaw = "count: there are none"
    if flaw:
        raise ConfigurationError(f"positions to learn from: {flaw}")
