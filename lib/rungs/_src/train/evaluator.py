"""A network of PyTorch's as a search asks it: what leaves are worth, how likely actions are."""

import numpy as np
import torch

from rungs._src.train.device import checked_device
from rungs._src.train.legal_actions import from_lists
from rungs._src.train.network import LegalActionNetwork


class NetworkEvaluator:
    """A network of PyTorch's as an evaluator.

    Args:
        network: a `rungs.train.LegalActionNetwork`: its `scores` are asked.
        device: where it is.

    Raises:
        ConfigurationError: there is no such kind of device.
        UnavailableError: there is no such device.
    """

    def __init__(self, network: LegalActionNetwork, device: str = "cpu"):
        self._network, self._device = network, checked_device(device)

    def __call__(
        self, observation: np.ndarray, actions: np.ndarray, counts: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Evaluates leaves; see `rungs.search.Search.run`. Values are cut at -1 and 1."""
        with torch.inference_mode():
            position, lists, count = (
                torch.from_numpy(array).to(self._device) for array in (observation, actions, counts)
            )
            legal = from_lists(lists, count)
            scores, values = self._network.scores(position, legal)
            places = (legal.board, legal.place())
            logits = scores.new_zeros(lists.shape).index_put(places, scores)
            return logits.cpu().numpy(), values.clamp(-1, 1).cpu().numpy()
