"""Actions sampled from a network."""

import numpy as np
import torch

from rungs._src.core.arguments import integer
from rungs._src.train.device import checked_device
from rungs._src.train.distributions import sampled


class NetworkPolicy:
    """A network that plays: from an environment's outputs to actions, as NumPy arrays.

    Args:
        network: as `rungs.train.LegalActionNetwork`, on `device`.
        seed: of the actions, 0 to 2^64 - 1.
        device: "cpu" or "cuda".

    Raises:
        ConfigurationError: a wrong seed or device.
        UnavailableError: there is no such device.
    """

    def __init__(self, network, *, seed: int, device: str = "cpu"):
        self._network, self._device = network, checked_device(device)
        seed = integer("seed", seed, 0, 2**64 - 1)
        self._generator = torch.Generator(self._device).manual_seed(seed)

    @torch.no_grad()
    def __call__(self, observation: np.ndarray, mask: np.ndarray) -> np.ndarray:
        """Returns (N,) int64 actions for (N, 72) int8 observations and (N, 73) uint64 masks.

        Raises:
            DivergedError: a probability is not finite.
        """
        position, legal = (
            torch.from_numpy(array).to(self._device) for array in (observation, mask.view(np.int64))
        )
        actions, log_probabilities, _ = self._network(position, legal)
        choice = sampled(log_probabilities, self._generator)
        return actions.gather(1, choice[:, None]).squeeze(1).cpu().numpy()
