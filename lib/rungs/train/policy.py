"""Actions sampled from a network."""

import numpy as np
import torch


class NetworkPolicy:
    """A network that plays: from an environment's outputs to actions, as NumPy arrays.

    Args:
        network: as `rungs.train.network.LegalActionNetwork`, on `device`.
        seed: of the actions.
        device: "cpu" or "cuda".
    """

    def __init__(self, network, *, seed: int, device: str = "cpu"):
        self._network, self._device = network, device
        self._generator = torch.Generator(device).manual_seed(seed)

    @torch.no_grad()
    def __call__(self, observation: np.ndarray, mask: np.ndarray) -> np.ndarray:
        """Returns (N,) int64 actions for (N, 72) int8 observations and (N, 73) uint64 masks."""
        position, legal = (
            torch.from_numpy(array).to(self._device) for array in (observation, mask.view(np.int64))
        )
        actions, log_probabilities, _ = self._network(position, legal)
        choice = torch.multinomial(log_probabilities.exp(), 1, generator=self._generator)
        return actions.gather(1, choice).squeeze(1).cpu().numpy()
