"""The learner in C++: PPO's forward, loss, backward and Adam (`cpp/learn`)."""

import ctypes
from collections.abc import Iterable
from typing import Any

import torch

from rungs._src.chess.buffers import MAX_LEGAL
from rungs._src.train.cpp_network import CppNetwork
from rungs._src.train.legal_actions import Positions
from rungs._src.train.network import LegalActionNetwork, PolicyValueNetwork
from rungs._src.train.ppo import Batch, Sample, check_minibatch
from rungs._src.train.ranks import Ranks
from rungs._src.train.settings import PpoSettings
from rungs.errors import ConfigurationError

_PARTS = ("policy_loss", "value_loss", "entropy", "divergence")


class CppBackend:
    """As `rungs._src.train.ppo.TorchBackend`, in C++; `bfloat16` and `compiler` are `CppNetwork`'s.

    Results are the same, bit for bit, with any number of threads: those of PyTorch
    (`torch.get_num_threads()`).
    """

    def __init__(
        self,
        network: LegalActionNetwork | None,
        settings: PpoSettings,
        *,
        device: torch.device,
        ranks: Ranks,
        bfloat16: bool = False,
        compiler: str | None = None,
    ):
        if device.type != "cpu":
            raise ConfigurationError(
                f"learner='cpp' learns on the CPU, not on device={device.type!r}"
            )
        if ranks.size > 1:
            raise ConfigurationError(f"learner='cpp' learns alone, not in {ranks.size} ranks")
        self.network = network or PolicyValueNetwork()
        self._settings = settings
        self._compiled = CppNetwork(self.network, bfloat16=bfloat16, compiler=compiler)
        self._compiled.adopt_parameters()
        self._dtype = self._compiled.memory.dtype

    def sample(self, positions: Positions, generator: torch.Generator) -> Sample:
        lists, rows = _lists(positions), len(positions.observation)
        uniform = torch.rand(rows, generator=generator, dtype=torch.float64)
        chosen, choice = torch.empty((2, rows), dtype=torch.int64)
        log_probability, value = torch.empty((2, rows), dtype=self._dtype)
        sample = Sample(chosen, choice, log_probability, value)
        sampling = self._compiled.structures["Sampling"](
            **_lists_addresses(lists),
            uniform=uniform.data_ptr(),
            chosen=chosen.data_ptr(),
            choice=choice.data_ptr(),
            log_probability=log_probability.data_ptr(),
            value=value.data_ptr(),
            rows=rows,
        )
        self._compiled.play(self._compiled.api.rungs_learn_sample, ctypes.addressof(sampling))
        return sample

    def values(self, observation: torch.Tensor) -> torch.Tensor:
        observation = observation.contiguous()
        value = torch.empty(len(observation), dtype=self._dtype)
        self._compiled.play(
            self._compiled.api.rungs_learn_values,
            *(observation.data_ptr(), len(observation), value.data_ptr()),
        )
        return value

    def gradients(
        self, batch: Batch, rows: torch.Tensor
    ) -> tuple[dict[str, torch.Tensor], dict[str, torch.Tensor]]:
        parts = self._differentiate(self._read(batch), rows)
        exact = (torch.tensor(part, dtype=torch.float64) for part in parts)
        return self._compiled.memory.gradients, dict(zip(_PARTS, exact, strict=True))

    def improve(self, batch: Batch, minibatches: Iterable[torch.Tensor]) -> dict[str, float]:
        settings, read = self._settings, self._read(batch)
        parts: list[tuple[float, ...]] = []
        for rows in minibatches:
            parts.append(self._differentiate(read, rows))
            self._compiled.step(settings.learning_rate, settings.max_grad_norm)
        return {name: sum(terms) / len(parts) for name, *terms in zip(_PARTS, *parts, strict=True)}

    def state_dict(self) -> dict:
        return {
            "network": self.network.state_dict(),
            "optimizer": self._compiled.optimizer_state(self._settings.learning_rate),
        }

    def load_state_dict(self, state: dict) -> None:
        self._compiled.load(state["network"], state["optimizer"])

    def _read(self, batch: Batch) -> tuple[Any, list[torch.Tensor]]:
        """Returns a struct with the addresses of the batch's tensors, and these tensors."""
        lists, choice = _lists(batch.positions), batch.choice.contiguous()
        if not bool(((choice >= 0) & (choice < lists.action_count)).all()):
            raise ConfigurationError("choice names an action beyond its position's last")
        numbers = {
            "old_log_probability": batch.old_log_probability,
            "advantage": batch.advantage,
            "returns": batch.returns,
        }
        arrays = {name: array.to(self._dtype).contiguous() for name, array in numbers.items()}
        arrays["choice"] = choice
        structures, settings = self._compiled.structures, self._settings
        minibatch = structures["PpoBatch"](
            positions=structures["BatchPositions"](**_lists_addresses(lists), row=None, rows=0),
            **{name: array.data_ptr() for name, array in arrays.items()},
            clip_coef=settings.clip_coef,
            vf_coef=settings.vf_coef,
            ent_coef=settings.ent_coef,
        )
        return minibatch, [*lists, *arrays.values()]

    def _differentiate(
        self, read: tuple[Any, list[torch.Tensor]], rows: torch.Tensor
    ) -> tuple[float, ...]:
        """Computes the gradients of the loss of some rows; returns the loss's parts."""
        minibatch, (observation, *_) = read
        rows, played = rows.contiguous(), len(observation)
        check_minibatch(rows)
        if int(rows.min()) < 0 or int(rows.max()) >= played:
            raise ConfigurationError(f"rows are not of the {played} positions that were played")
        minibatch.positions.row, minibatch.positions.rows = rows.data_ptr(), len(rows)
        return self._compiled.differentiate(self._compiled.api.rungs_learn_gradients, minibatch)


def bfloat16(network: LegalActionNetwork | None, settings: PpoSettings, **kwargs) -> CppBackend:
    """Makes a `CppBackend` with bfloat16 products."""
    return CppBackend(network, settings, bfloat16=True, **kwargs)


def _lists(positions: Positions) -> Positions:
    """Returns positions as C++ reads them."""
    if positions.mask.shape[1:] != (MAX_LEGAL,):
        raise ConfigurationError("learner='cpp' needs an environment with mask='list'")
    return Positions(*(array.contiguous() for array in positions))


def _lists_addresses(lists: Positions) -> dict[str, int]:
    names = ("observation", "action", "count")
    return {name: array.data_ptr() for name, array in zip(names, lists, strict=True)}
