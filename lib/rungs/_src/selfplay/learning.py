"""Learning from search's policies and values, and the games' outcomes."""

import math

import numpy as np
import torch

from rungs._src.core.arguments import shown
from rungs._src.search.search import Evaluator
from rungs._src.selfplay.examples import Examples, examples_flaw
from rungs._src.selfplay.settings import LossWeights
from rungs._src.train.adam import Adam
from rungs._src.train.cpp_network import EPS, CppNetwork
from rungs._src.train.evaluate import NetworkEvaluator
from rungs._src.train.legal_actions import Padded, from_lists
from rungs._src.train.network import PolicyValueNetwork, check_learns
from rungs._src.train.torch_file import check_resumable
from rungs.errors import ConfigurationError, DivergedError


class TorchLearner:
    """A network that learns from examples, and evaluates positions for a search meanwhile: the
    reference, in PyTorch.
    """

    def __init__(self, network: PolicyValueNetwork, weights: LossWeights):
        self.network, self._weights = network, weights
        self._optimizer = Adam(network.parameters(), weights.learning_rate, eps=EPS)
        self.evaluate: Evaluator = evaluator("torch", network)

    @torch.enable_grad()
    def learn(self, positions: Examples) -> dict[str, float]:
        """Takes a step on a minibatch; returns "policy_loss" and "value_loss" before it.

        Raises ConfigurationError that names what can't be learnt from, and DivergedError if the
        loss or the gradient's norm is not finite; the weights are unchanged.
        """
        _check_learnable(positions)
        check_learns(self.network)
        policy_loss, value_loss = losses(self.network, positions, self._weights.value_mix)
        self._optimizer.zero_grad()
        (policy_loss + self._weights.vf_coef * value_loss).backward()
        parts = {
            "policy_loss": float(policy_loss.detach()),
            "value_loss": float(value_loss.detach()),
        }
        norm = float(self._optimizer.clip(self._weights.max_grad_norm))
        if not all(map(math.isfinite, (*parts.values(), norm))):
            raise DivergedError(f"not finite: {parts}, gradient norm {norm}; learn more slowly")
        self._optimizer.step()
        return parts

    def state_dict(self) -> dict:
        """Returns "network", the weights, and "optimizer", named as `torch.optim.Adam`'s state."""
        return {"network": self.network.state_dict(), "optimizer": self._optimizer.state_dict()}

    def load_state_dict(self, state: dict) -> None:
        """Continues from another learner's `state_dict`; raises InvalidStateError if it is of
        another network or optimizer.
        """
        check_resumable(self, state)
        self.network.load_state_dict(state["network"])
        self._optimizer.load_state_dict(state["optimizer"])


class CppLearner:
    """As `TorchLearner`, in C++ (`cpp/learn`). The number of threads changes no bit of results."""

    def __init__(self, network: PolicyValueNetwork, weights: LossWeights):
        self.network, self._weights = network, weights
        self.compiled = CppNetwork(network)
        self.evaluate: Evaluator = self.compiled.evaluate

    def learn(self, positions: Examples) -> dict[str, float]:
        _check_learnable(positions)
        dtype = self.compiled.dtype
        # Keeps the arrays alive until C++ has read them.
        lists = {
            "observation": np.ascontiguousarray(positions.observation),
            "action": positions.actions(),
            "count": np.ascontiguousarray(positions.count),
            "row": np.arange(len(positions)),
        }
        policy = positions.policies().astype(dtype)
        value = positions.value_targets(self._weights.value_mix).astype(dtype)
        structures = self.compiled.structures
        minibatch = structures["SearchBatch"](
            positions=structures["BatchPositions"](**lists, rows=len(positions)),
            policy=policy.ctypes.data,  # of the network's dtype, which may be double
            value=value.ctypes.data,
            vf_coef=self._weights.vf_coef,
        )
        function = self.compiled.api.rungs_learn_search_gradients
        policy_loss, value_loss, *_ = self.compiled.differentiate(function, minibatch)
        self.compiled.step(self._weights.learning_rate, self._weights.max_grad_norm)
        return {"policy_loss": policy_loss, "value_loss": value_loss}

    def state_dict(self) -> dict:
        optimizer = self.compiled.optimizer_state(self._weights.learning_rate)
        return {"network": self.network.state_dict(), "optimizer": optimizer}

    def load_state_dict(self, state: dict) -> None:
        check_resumable(self, state)
        self.compiled.load(state["network"], state["optimizer"])


SearchLearner = TorchLearner | CppLearner


def make(name: str, seed: int, weights: LossWeights) -> SearchLearner:
    """Makes a learner of a new network, whose first weights are those of a seed."""
    torch.manual_seed(seed)
    kind = CppLearner if name == "cpp" else TorchLearner
    return kind(PolicyValueNetwork(), weights)


def evaluator(name: str, network: PolicyValueNetwork) -> Evaluator:
    """Returns a network as an evaluator, computed as the learner of that name computes it."""
    return CppNetwork(network).evaluate if name == "cpp" else NetworkEvaluator(network)


def losses(network, positions: Examples, value_mix: float) -> tuple[torch.Tensor, torch.Tensor]:
    """Returns the policy loss and the value loss, means over positions.

    The policy loss is KL(search's policy || the network's) in nats: the cross-entropy, less the
    entropy of search's policy, which no network can change. The value loss is the squared error;
    its target is search's value with the weight `value_mix`, plus the outcome with the rest.
    """
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
