"""The CUDA rung: every rung's headers as kernels, a thread per board; nothing leaves the GPU."""

import ctypes
from typing import Any

import numpy as np
import torch

from rungs._src.chess.boards.boards import CopyableBoards, illegal_action
from rungs._src.chess.boards.device import Gpu, Host
from rungs._src.chess.boards.native import (
    block_bytes,
    check_size,
    config,
    fens_at,
    restored,
    start_positions,
)
from rungs._src.chess.buffers import OUTPUTS
from rungs._src.chess.engine import UciEngine
from rungs._src.chess.policy import random_actions
from rungs._src.chess.settings import ChessSettings
from rungs._src.chess.vector_env import ChessVectorEnv
from rungs._src.core.arguments import Seed, choice, integer
from rungs._src.core.buffers import Buffers, Kinds
from rungs._src.core.memory import on_host
from rungs._src.core.tensors import checked_validate, chosen_device, moved
from rungs._src.machine import gpu
from rungs._src.native import loader
from rungs._src.native.abi import described
from rungs._src.processes.interrupt import uninterrupted
from rungs.errors import ConfigurationError, UnavailableError

# Steps of a board between two checks for Ctrl-C: some hundredths of a second on a GPU.
_AT_ONCE = 1000

# The states of boards, and their histories where observations show any.
States = tuple[torch.Tensor, ...]


class TensorBuffers(Buffers):
    """Buffers of tensors, one per output, all on one device."""

    __slots__ = ("device_batch",)

    def __init__(self, **outputs: torch.Tensor):
        super().__init__(**outputs)
        # The boards that write here, their seed, and their struct on the device: not an output.
        self.device_batch: tuple[object, object, Any] = (None, None, None)

    @classmethod
    def on(cls, device: torch.device, kinds: Kinds, *boards: int) -> "TensorBuffers":
        """Allocates zeroed tensors; see `Buffers.allocate`."""
        return cls(
            **{
                name: torch.zeros(array.shape, dtype=_dtype(array), device=device)
                for name, array in vars(Buffers.like(kinds, *boards)).items()
            }
        )

    def memory_bytes(self) -> int:
        return sum(tensor.nbytes for tensor in vars(self).values())

    def is_like(self, other: Buffers) -> bool:
        return [*vars(self)] == [*vars(other)] and all(
            isinstance(tensor, torch.Tensor)
            and (tensor.shape, tensor.dtype, tensor.device) == (like.shape, like.dtype, like.device)
            and tensor.is_contiguous()
            for tensor, like in zip(vars(self).values(), vars(other).values(), strict=True)
        )


class CudaBoards(CopyableBoards):
    """A thread per board; without `validate` actions are trusted, final outputs always there."""

    def __init__(
        self,
        num_envs: int,
        first_board: int,
        settings: ChessSettings,
        *,
        device: str = "cuda",  # PyTorch's current one; "cpu" runs the kernels' code on the host
        threads_per_block: int = 128,
        validate: bool = True,  # wait, reject illegal actions, and count episodes that ended
    ):
        device = choice("device", device, ("cuda", "cpu"))
        self.threads_per_block = integer("threads_per_block", threads_per_block, 1, 1024)
        if isinstance(settings.opponent, UciEngine):
            raise ConfigurationError("opponent: an engine can't play on the rung cuda")
        if device == "cuda":
            gpu.require()
            if not torch.cuda.is_available():
                raise UnavailableError(
                    f"PyTorch {torch.__version__} can't use the GPU: was it built for CUDA?"
                )
        self.device: torch.device = chosen_device(device)
        self.validate = checked_validate(validate, settings.autoreset_mode)
        try:
            super().__init__(num_envs, first_board, settings)
            self._make_boards()
        except torch.OutOfMemoryError as error:
            raise UnavailableError(
                f"the GPU has too little memory for {num_envs} boards: {error}"
            ) from None
        on_gpu = device == "cuda"
        self._kernels = Gpu(self.threads_per_block, self.device) if on_gpu else Host()

    def allocate(self, *boards: int) -> TensorBuffers:
        return TensorBuffers.on(self.device, self.settings.output_kinds(), *boards)

    def write_to(self, buffers: Buffers) -> None:
        self.buffers = buffers
        self._send_outputs()

    def reset(self, which: torch.Tensor | None, seed: Seed, episode: int | None) -> None:
        self._send_seed(seed)
        marks = 0 if which is None else which.data_ptr()
        self._run("reset", marks, -1 if episode is None else episode)

    def step(self, actions: torch.Tensor) -> int | None:
        if self.validate:
            copied = actions.clone()  # read once: another stream may write there
            first = self._counter.fill_(self.num_envs).data_ptr()
            self._run("check", copied.data_ptr(), first)
            illegal = int(self._counter)
            if illegal < self.num_envs:
                raise illegal_action(self, illegal, int(copied[illegal]))
        address = 0 if self.validate else actions.data_ptr()
        self._run("step", address, self._counter.zero_().data_ptr())
        return int(self._counter) if self.validate else None

    def step_many(self, steps: int) -> int:
        """Plays random legal actions, `steps` on each board; returns how many episodes ended."""
        self._run("step_many", steps, self._counter.zero_().data_ptr())
        return int(self._counter)

    def steps_at_once(self) -> int:
        """Returns how many steps `step_many` may take between two checks for Ctrl-C."""
        # A GPU's threads play all boards at the same time; a host plays one after the other.
        return _AT_ONCE if self.device.type == "cuda" else max(1, 64 * _AT_ONCE // self.num_envs)

    def sample(self, rng: np.random.Generator) -> torch.Tensor:
        return moved(random_actions(on_host(self.buffers.mask), rng), self.device)

    def fen(self, board: int) -> str:
        saved, _ = self.save(np.array([board]))
        position = saved[0].cpu().numpy()  # a state begins with it
        return fens_at(loader.load(), position.ctypes.data)[0]

    def layout(self) -> str:
        history = 8 * self._history.shape[1] if self._history.numel() else 0
        return f"CUDA, {self._saved_bytes} bytes a board, {history} of history"

    def dump(self) -> bytes:
        parts = self.save(np.arange(self.num_envs))
        return b"".join(part.cpu().numpy().tobytes() for part in parts)

    def load(self, payload: bytes, seed: Seed) -> None:
        check_size(payload, self.num_envs * self._saved_bytes + self._history.nbytes)
        histories = self._history.shape[0], self._history.shape[1]
        batch = ctypes.addressof(self._struct)
        saved = restored(loader.load(), batch, payload, self.first_board, histories)
        self._send_seed(seed)
        tensors = tuple(torch.from_numpy(part.view(np.int64)) for part in saved)
        self.put(tensors, np.arange(self.num_envs), False)

    def save(self, which: np.ndarray) -> States:
        count, histories = len(which), self._history
        saved = self._words(count, self._saved_bytes // 8)
        past = self._words(count if histories.numel() else 0, histories.shape[1])
        self._run_on("save", which, saved, past)
        return saved, past

    def put(self, saved: States, which: np.ndarray, own_randomness: bool) -> None:
        boards, past = (part.to(self.device) for part in saved)
        self._run_on("put", which, boards, past, int(own_randomness))

    def _run_on(
        self, kernel: str, which: np.ndarray, saved: torch.Tensor, past: torch.Tensor, *more: int
    ) -> None:
        """Runs a kernel with a thread for each of some boards."""
        indices, batch = moved(which, self.device), self._batch.data_ptr()
        addresses = saved.data_ptr(), past.data_ptr() if past.numel() else 0
        self._kernels.run(
            kernel, len(which), batch, indices.data_ptr(), len(which), *addresses, *more
        )

    def _words(self, *shape: int) -> torch.Tensor:
        return torch.zeros(shape, dtype=torch.int64, device=self.device)

    def _make_boards(self) -> None:
        n, has_history = self.num_envs, self.settings.obs != "board"
        api = loader.load()  # the same headers, for the host
        structures, constants = described(api).structures, described(api).constants
        self._blocks = self._words(block_bytes(constants, n) // 8)
        self._saved_bytes = constants["saved_board_bytes"]
        self._history = self._words(n if has_history else 0, constants["history_bytes"] // 8)
        starts = start_positions(api, self.settings)
        self._starts = torch.from_numpy(starts.view(np.int64)).to(self.device)
        self._counter = self._words()
        self._chosen = torch.zeros(n, dtype=torch.int16, device=self.device)
        self._struct: Any = structures["ChessBatch"](
            config=config(api, self.settings, len(starts), self._starts.data_ptr()),
            num_envs=n,
            first_board=self.first_board,
            history=self._history.data_ptr() if has_history else None,
            replies=None,
            seeds=None,
            **dict.fromkeys(OUTPUTS),  # until there are buffers
            blocks=self._blocks.data_ptr(),
            chosen=self._chosen.data_ptr(),
        )
        self._seeds = self._words(n)
        self._owner = object()  # marks what these boards have sent

    def _send_outputs(self) -> None:
        """Makes kernels write to the buffers, by a struct that is sent once for each seed."""
        seed = self._struct.config.seed, self._struct.seeds
        owner, of_seed, batch = self.buffers.device_batch
        if owner is not self._owner or of_seed != seed:
            for name, tensor in vars(self.buffers).items():
                setattr(self._struct, name, tensor.data_ptr())
            struct = torch.frombuffer(bytearray(self._struct), dtype=torch.uint8)
            # In place where a recorded graph may read it.
            batch = batch.copy_(struct) if owner is self._owner else struct.to(self.device)
            self.buffers.device_batch = self._owner, seed, batch
        self._batch = batch

    def _send_seed(self, seed: Seed) -> None:
        if isinstance(seed, np.ndarray):
            self._seeds.copy_(torch.from_numpy(seed.view(np.int64)))
            self._struct.config.seed, self._struct.seeds = 0, self._seeds.data_ptr()
        else:
            self._struct.config.seed, self._struct.seeds = seed, None
        self._send_outputs()

    def _run(self, kernel: str, *arguments: int) -> None:
        self._kernels.run(kernel, self.num_envs, self._batch.data_ptr(), *arguments)


class CudaChessEnv(ChessVectorEnv[torch.Tensor]):
    """The environment of `CudaBoards`, which can also take many steps in few launches."""

    boards: CudaBoards

    def step_many(self, steps: int) -> int:
        """Plays random legal actions, `steps` on each board; returns how many episodes ended.

        Outputs are those of the last step. Ctrl-C ends it between two steps.
        """
        with self._alone("step_many"):
            steps, ended = self._checked_steps(steps), 0
            at_once = self.boards.steps_at_once()
            for first in range(0, steps, at_once):
                with uninterrupted():
                    ended += self.boards.step_many(min(at_once, steps - first))
                    self._num_ended = int(self._ended.sum()) if self.boards.validate else None
            return ended


def _dtype(array: np.ndarray) -> torch.dtype:
    if array.dtype == np.uint16:  # how NumPy has bfloat16
        return torch.bfloat16
    return torch.from_numpy(np.zeros(1, array.dtype)).dtype
