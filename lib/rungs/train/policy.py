"""Actions sampled from a network."""

from typing import NamedTuple

import numpy as np
import torch


class Sample(NamedTuple):
    """What was chosen in N positions.

    Attributes:
        action: (N,) int64, action ids.
        choice: (N,) int64, the action's place among its position's legal ones.
        log_probability: (N,) float32, of the action.
        value: (N,) float32, of the position.
    """

    action: torch.Tensor
    choice: torch.Tensor
    log_probability: torch.Tensor
    value: torch.Tensor


@torch.no_grad()
def sample(
    network, observation: torch.Tensor, mask: torch.Tensor, generator: torch.Generator
) -> Sample:
    """Chooses an action for every position, as likely as the network says.

    Args:
        network: as `rungs.train.network.PolicyValueNetwork`, and its arguments.
        observation: (N, 72) int8.
        mask: (N, 73) int64.
        generator: the randomness, on the same device.
    """
    actions, log_probabilities, value = network(observation, mask)
    choice = torch.multinomial(log_probabilities.exp(), 1, generator=generator)
    chosen = (array.gather(1, choice).squeeze(1) for array in (actions, log_probabilities))
    action, log_probability = chosen
    return Sample(action, choice.squeeze(1), log_probability, value)


class NetworkPolicy:
    """A network that plays: from an environment's outputs to actions, as NumPy arrays.

    Args:
        network: on `device`.
        seed: of the actions.
        device: "cpu" or "cuda".
    """

    def __init__(self, network, *, seed: int, device: str = "cpu"):
        self._network, self._device = network, device
        self._generator = torch.Generator(device).manual_seed(seed)

    def __call__(self, observation: np.ndarray, mask: np.ndarray) -> np.ndarray:
        """Returns (N,) int64 actions for (N, 72) int8 observations and (N, 73) uint64 masks."""
        position, legal = (
            torch.from_numpy(array).to(self._device) for array in (observation, mask.view(np.int64))
        )
        return sample(self._network, position, legal, self._generator).action.cpu().numpy()
