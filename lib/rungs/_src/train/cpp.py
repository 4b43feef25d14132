"""The learner in C++: forward, loss, backward and Adam (`cpp/learn`)."""

import ctypes
import math
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import torch

from rungs._src.chess.buffers import MAX_LEGAL
from rungs._src.train.cpp_network import CppNetwork
from rungs._src.train.legal_actions import Positions
from rungs._src.train.network import LegalActionNetwork, PolicyValueNetwork, check_learns
from rungs._src.train.ppo import EPS, Batch, Sample, check_minibatch
from rungs._src.train.ranks import Ranks
from rungs._src.train.settings import PpoSettings
from rungs._src.train.torch_file import check_resumable
from rungs.errors import ConfigurationError, DivergedError

_BETAS = (0.9, 0.999)
_TERMS, _LOSS_TERMS = 4, 3  # of `LossTerms`: the last is only reported
_PARTS = ("policy_loss", "value_loss", "entropy", "divergence")


class CppBackend(CppNetwork):
    """As `TorchBackend`, in C++ (`cpp/learn`), of losses that are a function and the struct it
    reads.
    """

    def __init__(
        self,
        network: LegalActionNetwork,
        learning_rate: float,
        max_grad_norm: float,
        *,
        bfloat16: bool = False,
        compiler: str | None = None,
    ):
        super().__init__(network, bfloat16=bfloat16, compiler=compiler)
        self._learning_rate, self._max_grad_norm = learning_rate, max_grad_norm
        self._steps = 0
        self._adopt_parameters()

    def differentiate(self, function, minibatch: Any) -> tuple[float, ...]:
        """Computes the gradients of a minibatch's mean loss; returns the loss's terms."""
        if minibatch.positions.rows < 1:
            raise ConfigurationError("there are no positions to learn from")
        check_learns(self.network)
        self._adopt_parameters()
        self.memory.make_room(minibatch.positions.rows)
        terms = (ctypes.c_double * _TERMS)()
        self._read(function, ctypes.addressof(minibatch), ctypes.addressof(terms))
        if not math.isfinite(sum(terms[:_LOSS_TERMS])):
            raise DivergedError(f"a loss of {sum(terms[:_LOSS_TERMS])}: its terms are {[*terms]}")
        return tuple(terms)

    def step(self, function, minibatch: Any) -> tuple[float, ...]:
        terms = self.differentiate(function, minibatch)
        self._descend()
        return terms

    def state_dict(self) -> dict:
        moments = dict(enumerate(self._moments())) if self._steps else {}
        settings = {"lr": self._learning_rate, "betas": _BETAS, "eps": EPS}
        optimizer = {"state": moments, "param_groups": [settings]}
        return {"network": self.network.state_dict(), "optimizer": optimizer}

    @torch.no_grad()
    def load_state_dict(self, state: dict) -> None:
        check_resumable(self, state)
        self.network.load_state_dict(state["network"])
        saved = state["optimizer"]["state"]
        for i, moments in enumerate(self._moments()):
            for name in ("exp_avg", "exp_avg_sq"):
                moments[name].copy_(saved[i][name]) if saved else moments[name].zero_()
        self._steps = int(saved[0]["step"]) if saved else 0
        self.api.rungs_learn_mark_touched(self.memory.address)

    def _adopt_parameters(self) -> None:
        """Moves parameters that lie elsewhere into C++'s memory, with their values."""
        for external in self._external_parameters():
            external.place.copy_(external.parameter.detach())
            external.parameter.data = external.place
        self._external = [], []  # C++ changes the weights in the memory from now on

    def _descend(self) -> None:
        """Clips the norm of the gradients, and takes a step of Adam."""
        adam = self.structures["AdamSettings"](
            learning_rate=self._learning_rate,
            eps=EPS,
            max_grad_norm=self._max_grad_norm,
            step=self._steps + 1,
        )
        if not self._call(self.api.rungs_learn_step, ctypes.addressof(adam)):
            raise DivergedError("a gradient whose norm is not finite")
        self._steps += 1

    def _moments(self) -> Iterator[dict[str, torch.Tensor]]:
        """Yields each parameter's moments, named as by `train.adam.Adam`."""
        memory = self.memory
        for name in memory.first_moments:
            yield {
                "step": torch.tensor(float(self._steps)),
                "exp_avg": memory.first_moments[name],
                "exp_avg_sq": memory.second_moments[name],
            }


class CppPpo(CppBackend):
    """As `rungs._src.train.ppo.TorchPpo`, in C++; `bfloat16` and `compiler` are `CppNetwork`'s.

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
        super().__init__(
            network or PolicyValueNetwork(),
            settings.learning_rate,
            settings.max_grad_norm,
            bfloat16=bfloat16,
            compiler=compiler,
        )
        self._settings = settings

    def sample(self, positions: Positions, generator: torch.Generator) -> Sample:
        lists, rows = _lists(positions), len(positions.observation)
        uniform = torch.rand(rows, generator=generator, dtype=torch.float64)
        chosen, choice = torch.empty((2, rows), dtype=torch.int64)
        log_probability, value = torch.empty((2, rows), dtype=self.memory.dtype)
        sample = Sample(chosen, choice, log_probability, value)
        sampling = self.structures["Sampling"](
            **_lists_addresses(lists),
            uniform=uniform.data_ptr(),
            chosen=chosen.data_ptr(),
            choice=choice.data_ptr(),
            log_probability=log_probability.data_ptr(),
            value=value.data_ptr(),
            rows=rows,
        )
        self.refresh()
        self._read(self.api.rungs_learn_sample, ctypes.addressof(sampling))
        return sample

    def values(self, observation: torch.Tensor) -> torch.Tensor:
        observation = observation.contiguous()
        value = torch.empty(len(observation), dtype=self.memory.dtype)
        self.refresh()
        self._read(
            self.api.rungs_learn_values,
            *(observation.data_ptr(), len(observation), value.data_ptr()),
        )
        return value

    def gradients(
        self, batch: Batch, rows: torch.Tensor
    ) -> tuple[dict[str, torch.Tensor], dict[str, torch.Tensor]]:
        terms = self._with_rows(self.differentiate, self._struct(batch), rows)
        exact = (torch.tensor(term, dtype=torch.float64) for term in terms)
        return self.memory.gradients, dict(zip(_PARTS, exact, strict=True))

    def improve(self, batch: Batch, minibatches: Iterable[torch.Tensor]) -> dict[str, float]:
        struct = self._struct(batch)
        losses = [self._with_rows(self.step, struct, rows) for rows in minibatches]
        return {name: sum(terms) / len(terms) for name, *terms in zip(_PARTS, *losses, strict=True)}

    def _struct(self, batch: Batch) -> tuple[Any, list[torch.Tensor]]:
        """Returns a struct with the addresses of the batch's tensors, and these tensors."""
        lists, choice = _lists(batch.positions), batch.choice.contiguous()
        if not bool(((choice >= 0) & (choice < lists.action_count)).all()):
            raise ConfigurationError("choice names an action beyond its position's last")
        numbers = {
            "old_log_probability": batch.old_log_probability,
            "advantage": batch.advantage,
            "returns": batch.returns,
        }
        arrays = {name: array.to(self.memory.dtype).contiguous() for name, array in numbers.items()}
        arrays["choice"] = choice
        structures, settings = self.structures, self._settings
        minibatch = structures["PpoBatch"](
            positions=structures["BatchPositions"](**_lists_addresses(lists), row=None, rows=0),
            **{name: array.data_ptr() for name, array in arrays.items()},
            clip_coef=settings.clip_coef,
            vf_coef=settings.vf_coef,
            ent_coef=settings.ent_coef,
        )
        return minibatch, [*lists, *arrays.values()]

    def _with_rows(
        self,
        compute: Callable[[Any, Any], tuple[float, ...]],
        struct: tuple[Any, list[torch.Tensor]],
        rows: torch.Tensor,
    ) -> tuple[float, ...]:
        """Returns the loss's terms, by `differentiate` or `step`, of some rows of a batch."""
        minibatch, (observation, *_) = struct
        rows, played = rows.contiguous(), len(observation)
        check_minibatch(rows)
        if int(rows.min()) < 0 or int(rows.max()) >= played:
            raise ConfigurationError(f"rows are not of the {played} positions that were played")
        minibatch.positions.row, minibatch.positions.rows = rows.data_ptr(), len(rows)
        return compute(self.api.rungs_learn_gradients, minibatch)


def bfloat16(network: LegalActionNetwork | None, settings: PpoSettings, **kwargs) -> CppPpo:
    """Makes a `CppPpo` with bfloat16 products."""
    return CppPpo(network, settings, bfloat16=True, **kwargs)


def _lists(positions: Positions) -> Positions:
    """Returns positions as C++ reads them."""
    if positions.mask.shape[1:] != (MAX_LEGAL,):
        raise ConfigurationError("learner='cpp' needs an environment with mask='list'")
    return Positions(*(array.contiguous() for array in positions))


def _lists_addresses(lists: Positions) -> dict[str, int]:
    names = ("observation", "action", "count")
    return {name: array.data_ptr() for name, array in zip(names, lists, strict=True)}
