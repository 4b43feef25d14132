"""The optimizer: Adam, without PyTorch's compiler."""

from collections.abc import Iterable
from typing import Any

import torch
from torch.optim.adam import adam


class Adam:
    """Adam (Kingma and Ba, 2015, arXiv:1412.6980), as PyTorch's function computes it.

    `torch.optim.Adam` is the same, bit for bit, but imports PyTorch's compiler first: five seconds
    of a core, in every process that learns.

    Args:
        weights: what learns; after `backward` each has a gradient.
        learning_rate: the paper's alpha.
        eps: what is added to the root of the second moment.
    """

    def __init__(self, weights: Iterable[torch.nn.Parameter], learning_rate: float, eps: float):
        self._weights: list[torch.Tensor] = list(weights)
        self._settings: dict[str, Any] = {"lr": learning_rate, "betas": (0.9, 0.999), "eps": eps}
        self._state: dict[int, dict[str, torch.Tensor]] = {}

    def zero_grad(self) -> None:
        """Forgets all gradients."""
        for weights in self._weights:
            weights.grad = None

    @torch.no_grad()
    def step(self) -> None:
        """Moves all weights by what their gradients, and those before, say."""
        if not self._state:
            self._state = {
                i: {
                    "step": torch.zeros(()),
                    "exp_avg": torch.zeros_like(weights),
                    "exp_avg_sq": torch.zeros_like(weights),
                }
                for i, weights in enumerate(self._weights)
            }
        moments = self._state.values()
        adam(
            self._weights,
            [weights.grad for weights in self._weights],  # type: ignore[misc]  # all have one
            [each["exp_avg"] for each in moments],
            [each["exp_avg_sq"] for each in moments],
            [],
            [each["step"] for each in moments],
            amsgrad=False,
            beta1=self._settings["betas"][0],
            beta2=self._settings["betas"][1],
            lr=self._settings["lr"],
            weight_decay=0.0,
            eps=self._settings["eps"],
            maximize=False,
        )

    def state_dict(self) -> dict:
        """Returns settings and moments, as PyTorch's optimizers name them."""
        return {"state": self._state, "param_groups": [self._settings]}

    def load_state_dict(self, saved: dict) -> None:
        """Goes on from what `state_dict` returned, with its own settings."""
        self._state = {
            i: {name: each.to(self._device(i, name), copy=True) for name, each in moments.items()}
            for i, moments in saved["state"].items()
        }

    def _device(self, i: int, name: str) -> torch.device:
        # Steps are counted where they are needed without a wait.
        return torch.device("cpu") if name == "step" else self._weights[i].device
