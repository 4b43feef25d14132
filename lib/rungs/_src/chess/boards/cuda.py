"""The CUDA rung: every rung's headers as kernels, a thread per board; nothing leaves the GPU."""

import ctypes
from typing import Any

import numpy as np
import torch

from rungs._src.chess.boards.boards import CopyableBoards, illegal_action
from rungs._src.chess.boards.device import Gpu, Host
from rungs._src.chess.boards.native import bad_board, check_size, config, fen_at, start_positions
from rungs._src.chess.buffers import OUTPUTS, Buffers
from rungs._src.chess.engine import UciEngine
from rungs._src.chess.policy import random_actions
from rungs._src.chess.settings import ChessSettings
from rungs._src.chess.vector_env import ChessVectorEnv
from rungs._src.core.arguments import choice, integer
from rungs._src.core.memory import on_host
from rungs._src.core.tensors import checked_validate, chosen_device, moved
from rungs._src.machine import gpu
from rungs._src.native import loader
from rungs._src.native.abi import described
from rungs._src.processes.interrupt import uninterrupted
from rungs.errors import ConfigurationError, UnavailableError

# Steps of a board between two looks at Ctrl-C: some hundredths of a second of a GPU.
_AT_ONCE = 1000


class TensorBuffers(Buffers):
    """As `Buffers`, a tensor per output, all on one device.

    Attributes:
        device_batch: no output: the boards that write here, their seed, and the struct on the
            device by which their kernels do.
    """

    __slots__ = ("device_batch",)

    def __init__(self, **outputs: torch.Tensor):
        super().__init__(**outputs)
        self.device_batch: tuple[object, int, Any] = (None, 0, None)

    @classmethod
    def on(
        cls, device: torch.device, boards: tuple[int, ...], settings: ChessSettings
    ) -> "TensorBuffers":
        """Allocates zeroed tensors; see `Buffers.allocate`."""
        return cls(
            **{
                name: torch.zeros(array.shape, dtype=_dtype(array), device=device)
                for name, array in vars(Buffers.like(boards, settings)).items()
            }
        )

    def memory_bytes(self) -> int:
        """Returns the size of all of them."""
        return sum(tensor.nbytes for tensor in vars(self).values())

    def is_like(self, other: Buffers) -> bool:
        """Says whether tensors have shapes, dtypes and device of another's, and are contiguous."""
        return [*vars(self)] == [*vars(other)] and all(
            isinstance(ours, torch.Tensor)
            and (ours.shape, ours.dtype, ours.device) == (theirs.shape, theirs.dtype, theirs.device)
            and ours.is_contiguous()
            for ours, theirs in zip(vars(self).values(), vars(other).values(), strict=True)
        )

    def save(self) -> dict[str, torch.Tensor]:
        """Copies of all tensors, for `restore`."""
        return {name: tensor.clone() for name, tensor in vars(self).items()}


class CudaBoards(CopyableBoards):
    """A thread per board; outputs are tensors on the GPU.

    Args:
        num_envs, first_board: see `Boards`.
        settings: see `Boards`; no engine can be the opponent.
        device: "cuda", the one that is PyTorch's current one now; or "cpu", which runs the kernels'
            code on the host, slowly, for tests.
        threads_per_block: of the kernels, 1 to 1,024.
        validate: whether a step waits for the device, to refuse illegal actions before anything has
            changed and to tell whether an episode ended. Without, actions must be legal, final
            outputs are always in `info`, and a step returns before it is done.

    Raises:
        ConfigurationError: a wrong setting; DISABLED without `validate`.
        UnavailableError: there is no GPU, no driver, no cuda-core, or too little memory.
    """

    def __init__(
        self,
        num_envs: int,
        first_board: int,
        settings: ChessSettings,
        *,
        device: str = "cuda",
        threads_per_block: int = 128,
        validate: bool = True,
    ):
        device = choice("device", device, ("cuda", "cpu"))
        self.threads_per_block = integer("threads_per_block", threads_per_block, 1, 1024)
        if isinstance(settings.opponent, UciEngine):
            raise ConfigurationError("opponent: an engine can't play on the rung cuda")
        if device == "cuda":
            _check_gpu()
        self.device: torch.device = chosen_device(device)
        self.validate = checked_validate(validate, settings.autoreset_mode)
        try:
            super().__init__(num_envs, first_board, settings)
            self._make_boards()
        except torch.OutOfMemoryError as error:
            raise UnavailableError(
                f"the GPU has too little memory for {num_envs} boards: {error}"
            ) from None
        gpu = device == "cuda"
        self._kernels = Gpu(self.threads_per_block, self.device) if gpu else Host()

    def allocate(self, *boards: int) -> TensorBuffers:
        return TensorBuffers.on(self.device, boards, self.settings)

    def write_to(self, buffers: Buffers) -> None:
        self.buffers = buffers
        self._send_outputs()

    def reset(self, which: torch.Tensor | None, seed: int, episode: int | None) -> None:
        self._send_seed(seed)
        marks = 0 if which is None else which.data_ptr()
        self._run("reset", marks, -1 if episode is None else episode)

    def step(self, actions: torch.Tensor) -> int | None:
        if self.validate:
            first = self._counter.fill_(self.num_envs).data_ptr()
            self._run("check", actions.data_ptr(), self._chosen.data_ptr(), first)
            actions, illegal = self._chosen, int(self._counter)
            if illegal < self.num_envs:
                raise illegal_action(self, illegal, int(actions[illegal]))
        self._run("step", actions.data_ptr(), self._counter.zero_().data_ptr())
        return int(self._counter) if self.validate else None

    def step_many(self, steps: int) -> int:
        """Plays random legal actions, `steps` on each board; returns how many episodes ended."""
        self._run("step_many", steps, self._counter.zero_().data_ptr())
        return int(self._counter)

    def steps_at_once(self) -> int:
        """Returns how many steps `step_many` may take between two looks at Ctrl-C."""
        # A thread of a GPU plays a board whatever the others do; a host, one board after the other.
        return _AT_ONCE if self.device.type == "cuda" else max(1, 64 * _AT_ONCE // self.num_envs)

    def sample(self, rng: np.random.Generator) -> torch.Tensor:
        return moved(random_actions(on_host(self.buffers.mask), rng), self.device)

    def fen(self, board: int) -> str:
        position = self._state["words"][:8, board].cpu().numpy().copy()
        return fen_at(loader.load(), position.ctypes.data)

    def layout(self) -> str:
        words, legal, past = (len(self._state[name]) for name in ("words", "legal", "past"))
        history = self._state["history"].shape[1] if self._state["history"].numel() else 0
        return f"CUDA, {words}, {legal} and {past} words a board, {history} of history"

    def dump(self) -> bytes:
        return b"".join(part.cpu().numpy().tobytes() for part in self._state.values())

    def load(self, payload: bytes, seed: int) -> None:
        check_size(payload, sum(part.nbytes for part in self._state.values()))
        saved, at = {}, 0
        for name, part in self._state.items():
            words = np.frombuffer(payload, np.int64, part.numel(), at).reshape(part.shape)
            saved[name] = torch.from_numpy(words.copy())
            at += part.nbytes
        self._check(saved)
        for name, part in self._state.items():
            part.copy_(saved[name])
        self.buffers.ended.copy_(self._have_ended())
        self._send_seed(seed)
        self._run("write", 0)

    def save(self, which: np.ndarray) -> dict[str, torch.Tensor]:
        where = moved(which, self.device)
        return {name: part.index_select(axis, where) for name, axis, part in self._parts()}

    def put(self, saved: dict[str, torch.Tensor], which: np.ndarray, own: bool) -> None:
        where, words = moved(which, self.device), self._state["words"]
        episode = self._constants["device_episode"]
        episodes = words[episode].index_select(0, where) & (2**32 - 1)
        for name, axis, part in self._parts():
            part.index_copy_(axis, where, saved[name].to(self.device))
        if own:
            words[episode].index_copy_(0, where, episodes | (where + self.first_board) << 32)
        for name in ("reward", "terminated", "truncated", "reason"):
            getattr(self.buffers, name).index_fill_(0, where, 0)
        self.buffers.ended.index_copy_(0, where, self._have_ended().index_select(0, where))
        marks = torch.zeros(self.num_envs, dtype=torch.bool, device=self.device)
        self._run("write", marks.index_fill_(0, where, True).data_ptr())

    def _parts(self) -> list[tuple[str, int, torch.Tensor]]:
        """Returns all parts of the state that there are: name, the axis of boards, words."""
        axes = {name: int(name != "history") for name in self._state}
        return [(name, axes[name], part) for name, part in self._state.items() if part.numel()]

    def _have_ended(self) -> torch.Tensor:
        """Returns which episodes have ended and not begun again, (N,) bool."""
        return (self._state["words"][self._constants["device_counts"]] >> 24 & 1).bool()

    def _check(self, saved: dict[str, torch.Tensor]) -> None:
        """Makes boards of what was saved, on the host.

        Raises:
            InvalidStateError: one can't be a board; the message names it.
        """
        struct = type(self._struct).from_buffer_copy(self._struct)
        for name, part in saved.items():
            setattr(struct, name, part.data_ptr() if part.numel() else None)
        why = ctypes.create_string_buffer(256)
        board = loader.load().rungs_chess_device_restore(
            ctypes.addressof(struct), ctypes.addressof(why)
        )
        if board < self.num_envs:
            raise bad_board(self.first_board + board, why)

    def _make_boards(self) -> None:
        def words(*shape: int) -> torch.Tensor:
            return torch.zeros(shape, dtype=torch.int64, device=self.device)

        n, shown = self.num_envs, self.settings.obs != "board"
        api = loader.load()  # the same headers, for the host
        structures, self._constants = described(api).structures, described(api).constants
        self._state = {
            "words": words(self._constants["device_words"], n),
            "legal": words(self._constants["planes"], n),
            "past": words(self._constants["fifty_moves"], n),
            "history": words(n if shown else 0, api.rungs_chess_history_bytes() // 8),
        }
        starts = start_positions(api, self.settings)
        self._starts = torch.from_numpy(starts.view(np.int64)).to(self.device)
        self._counter, self._chosen = words(), words(n)
        addresses = {name: part.data_ptr() for name, part in self._state.items()}
        self._struct: Any = structures["DeviceBatch"](
            config=config(api, self.settings, len(starts), self._starts.data_ptr()),
            num_envs=n,
            first_board=self.first_board,
            replies=None,
            **dict.fromkeys(OUTPUTS),  # until there are buffers
            **addresses,
        )
        self._own = object()  # marks what these boards have sent

    def _send_outputs(self) -> None:
        """Has kernels write to the buffers, by the struct that is kept on the device with them.

        So it lasts as long as they do, and is sent once for each seed.
        """
        seed = self._struct.config.seed
        owner, of_seed, batch = self.buffers.device_batch
        if owner is not self._own or of_seed != seed:
            for name, tensor in vars(self.buffers).items():
                setattr(self._struct, name, tensor.data_ptr())
            struct = torch.frombuffer(bytearray(self._struct), dtype=torch.uint8)
            # In place where a recorded graph may read it.
            batch = batch.copy_(struct) if owner is self._own else struct.to(self.device)
            self.buffers.device_batch = self._own, seed, batch
        self._batch = batch

    def _send_seed(self, seed: int) -> None:
        self._struct.config.seed = seed
        self._send_outputs()

    def _run(self, kernel: str, *arguments: int) -> None:
        self._kernels.run(kernel, self.num_envs, self._batch.data_ptr(), *arguments)


class CudaChessEnv(ChessVectorEnv):
    """The environment of `CudaBoards`, which can also take many steps in few launches."""

    boards: CudaBoards

    def step_many(self, steps: int) -> int:
        """Plays random legal actions, `steps` on each board, in few launches.

        Args:
            steps: at least 1.

        Returns:
            How many episodes ended; outputs are those of the last step. Ctrl-C ends it between two
            steps.

        Raises:
            ConfigurationError: `steps` is wrong, or the autoreset mode is DISABLED.
            gymnasium.error.ResetNeeded: no reset came before.
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
    if array.dtype == np.uint16:  # NumPy's words of what PyTorch knows
        return torch.bfloat16
    return torch.from_numpy(np.zeros(1, array.dtype)).dtype


def _check_gpu() -> None:
    gpu.require()
    if not torch.cuda.is_available():
        raise UnavailableError(
            f"PyTorch {torch.__version__} can't use the GPU: was it built for CUDA?"
        )
