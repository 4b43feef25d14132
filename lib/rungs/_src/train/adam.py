"""Adam, as PyTorch's function computes it, without PyTorch's compiler.

`torch.optim.Adam` is the same, bit for bit, but making one imports `torch._dynamo`: 830 modules and
3.6 s of a core in every process that learns (torch 2.13).
"""

from collections.abc import Iterable
from typing import Any

import torch
from torch.optim.adam import adam


class Adam:
    """Adam (Kingma and Ba, 2015, arXiv:1412.6980), of parameters that all have a gradient."""

    def __init__(self, weights: Iterable[torch.nn.Parameter], learning_rate: float, eps: float):
        self._weights: list[torch.Tensor] = list(weights)
        self._settings: dict[str, Any] = {"lr": learning_rate, "betas": (0.9, 0.999), "eps": eps}
        self._state: dict[int, dict[str, torch.Tensor]] = {}

    def zero_grad(self) -> None:
        for weights in self._weights:
            weights.grad = None

    def clip(self, max_norm: float) -> torch.Tensor:
        """Scales gradients to a norm of at most `max_norm`, as of one vector; returns it before."""
        return torch.nn.utils.clip_grad_norm_(self._weights, max_norm)

    @torch.no_grad()
    def step(self) -> None:
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
        _move(
            self._settings,
            self._weights,
            [weights.grad for weights in self._weights],  # type: ignore[misc]  # all have one
            *([tensors[name] for tensors in moments] for name in ("exp_avg", "exp_avg_sq", "step")),
        )

    def state_dict(self) -> dict:
        """Returns settings and moments, as PyTorch's optimizers name them."""
        return {"state": self._state, "param_groups": [self._settings]}

    def load_state_dict(self, state: dict) -> None:
        """Continues from another optimizer's `state_dict`, but keeps its own settings."""
        self._state = {
            i: {name: value.to(self._device(i, name), copy=True) for name, value in moments.items()}
            for i, moments in state["state"].items()
        }

    def _device(self, i: int, name: str) -> torch.device:
        # The number of steps is read on the CPU, without waiting for a GPU.
        return torch.device("cpu") if name == "step" else self._weights[i].device


class FlatAdam(Adam):
    """As `Adam`, with all parameters moved into one vector, so that a step is one operation."""

    def __init__(self, weights: Iterable[torch.nn.Parameter], learning_rate: float, eps: float):
        super().__init__(weights, learning_rate, eps)
        like = self._weights[0].detach()
        count = sum(parameter.numel() for parameter in self._weights)
        self._flat, self._gradient, *self._moments = like.new_zeros((4, count))
        self._step = torch.zeros((), device=like.device)
        self._places, self._gradients = self._views(self._flat), self._views(self._gradient)
        self._adopt_parameters()

    def zero_grad(self) -> None:
        """Zeroes all gradients; call it before the network, as it may move parameters."""
        self._adopt_parameters()
        self._gradient.zero_()
        for gradient, parameter in zip(self._gradients, self._weights, strict=True):
            parameter.grad = gradient

    def clip(self, max_norm: float) -> torch.Tensor:
        norm = torch.linalg.vector_norm(self._gradient)
        self._gradient *= (max_norm / (norm + 1e-6)).clamp(max=1.0)
        return norm

    @torch.no_grad()
    def step(self) -> None:
        vectors = (self._flat, self._gradient, *self._moments, self._step)
        _move(self._settings, *([vector] for vector in vectors), fused=True)

    def state_dict(self) -> dict:
        state = {}  # before the first step there are no moments
        if self._step:
            moments = zip(*map(self._views, self._moments), strict=True)
            state = {
                i: {"step": self._step.cpu(), "exp_avg": first, "exp_avg_sq": second}
                for i, (first, second) in enumerate(moments)
            }
        return {"state": state, "param_groups": [self._settings]}

    def load_state_dict(self, state: dict) -> None:
        self._step.zero_()
        for name, flat in zip(("exp_avg", "exp_avg_sq"), self._moments, strict=True):
            flat.zero_()
            for i, moments in enumerate(self._views(flat)):
                if i in state["state"]:
                    moments.copy_(state["state"][i][name])
                    self._step.copy_(state["state"][i]["step"])

    def _adopt_parameters(self) -> None:
        """Moves parameters that lie elsewhere into the vector, with their values."""
        # Copied before any is moved: one may lie in another's place.
        moved = [
            (place, parameter, parameter.detach().clone())
            for place, parameter in zip(self._places, self._weights, strict=True)
            if (parameter.data_ptr(), parameter.stride()) != (place.data_ptr(), place.stride())
        ]
        for place, parameter, values in moved:
            place.copy_(values)
            parameter.data = place

    def _views(self, flat: torch.Tensor) -> list[torch.Tensor]:
        """Returns the part of a vector for each tensor of weights, shaped and laid out like it."""
        views, at = [], flat.storage_offset()
        for parameter in self._weights:
            views.append(flat.as_strided(parameter.shape, parameter.stride(), at))
            at += parameter.numel()
        return views


def _move(settings: dict[str, Any], *state: list[torch.Tensor], fused: bool | None = None) -> None:
    """Moves weights by their gradients, first and second moments, and numbers of steps."""
    weights, gradients, first, second, steps = state
    beta1, beta2 = settings["betas"]
    numbers = {"lr": settings["lr"], "beta1": beta1, "beta2": beta2, "eps": settings["eps"]}
    unused: dict[str, Any] = {"weight_decay": 0.0, "amsgrad": False, "maximize": False}
    adam(weights, gradients, first, second, [], steps, fused=fused, **numbers, **unused)
