"""The CUDA rung: every rung's headers as kernels, a thread per board; nothing leaves the GPU."""

import numpy as np
import torch

from rungs import jit
from rungs.arguments import choice, integer
from rungs.chess.device import HISTORY_WORDS, PAST, PLANES, WORDS, DeviceBatch, Gpu, Host
from rungs.chess.engine import UciEngine
from rungs.chess.native import config, fen_at, start_positions
from rungs.chess.tensor_buffers import TensorBuffers
from rungs.chess.vector_env import ChessVectorEnv
from rungs.errors import ConfigurationError, InvalidStateError, UnavailableError
from rungs.machine import gpu
from rungs.tensors import TensorActions


class CudaChessEnv(TensorActions, ChessVectorEnv):
    """See `ChessVectorEnv` for arguments and outputs, which here are tensors on the GPU.

    Args:
        num_envs: number of boards.
        device: "cuda"; or "cpu", which runs the kernels' code on the host, slowly, for tests.
        threads_per_block: of the kernels, 1 to 1,024.
        validate: whether a step waits for the device, to refuse illegal actions before anything has
            changed and to tell whether an episode ended. Without, actions must be legal, final
            outputs are always in `info`, and a step returns before it is done.
        **settings: all others; no engine can be the opponent.

    Raises:
        ConfigurationError: a wrong setting; DISABLED without `validate`.
        UnavailableError: there is no GPU, no driver, no cuda-core, or too little memory.
    """

    def __init__(
        self,
        num_envs: int,
        *,
        device: str = "cuda",
        threads_per_block: int = 128,
        validate: bool = True,
        **settings,
    ):
        choice("device", device, ("cuda", "cpu"))
        self.threads_per_block = integer("threads_per_block", threads_per_block, 1, 1024)
        if isinstance(settings.get("opponent"), UciEngine):
            raise ConfigurationError("opponent: an engine can't play on the rung cuda")
        if device == "cuda":
            _check_gpu()
        self.device, self._validate = torch.device(device), validate
        try:
            super().__init__(num_envs, **settings)
            self._refuse_trust()
            self._make_boards()
        except torch.OutOfMemoryError as error:
            raise UnavailableError(
                f"the GPU has too little memory for {num_envs} boards: {error}"
            ) from None
        self._kernels = Gpu(self.threads_per_block) if device == "cuda" else Host()

    def memory_bytes(self) -> int:
        """The state and the outputs of all boards."""
        return sum(part.nbytes for part in self._state.values()) + self._buffers.memory_bytes()

    def step_many(self, steps: int) -> int:
        """Plays random legal actions, so many on each board, in one launch.

        Args:
            steps: how many, at least 1.

        Returns:
            How many episodes ended; outputs are those of the last step.

        Raises:
            ConfigurationError: `steps` is wrong.
            gymnasium.error.ResetNeeded: no reset came before, or with DISABLED a board has ended.
        """
        steps = self._checked_steps(steps)
        self._run("step_many", steps, self._counter.zero_().data_ptr())
        self._num_ended = int(self._ended.sum()) if self._validate else 1
        return int(self._counter)

    def rollout(self, length: int) -> tuple[TensorBuffers, list[TensorBuffers]]:
        """See `ChessVectorEnv.rollout`; tensors."""
        length = integer("length", length, 1, 2**31 - 1)
        whole = TensorBuffers.on(
            self.device, (length, self.num_envs), self.settings.obs, self.settings.mask
        )
        return whole, [whole.rows(step) for step in range(length)]

    def _make_boards(self) -> None:
        def words(*shape: int) -> torch.Tensor:
            return torch.zeros(shape, dtype=torch.int64, device=self.device)

        n, shown = self.num_envs, self.settings.obs != "board"
        self._state = {
            "words": words(WORDS, n),
            "legal": words(PLANES, n),
            "past": words(PAST, n),
            "history": words(n if shown else 0, HISTORY_WORDS),
        }
        starts = start_positions(jit.load(), self.settings)
        self._starts = torch.from_numpy(starts.view(np.int64)).to(self.device)
        self._counter = torch.zeros((), dtype=torch.int64, device=self.device)
        addresses = {name: part.data_ptr() for name, part in self._state.items()}
        self._struct = DeviceBatch(
            **config(self.settings, len(starts)),
            starts=self._starts.data_ptr(),
            num_envs=n,
            first_board=self.first_board,
            **addresses,
        )
        self._sent = {}

    def _tell_outputs(self) -> None:
        """Has kernels write to the buffers; what was told once is there, and nothing is sent."""
        addresses = {name: tensor.data_ptr() for name, tensor in vars(self._buffers).items()}
        key = tuple(addresses.values())
        if key not in self._sent:
            for name, address in addresses.items():
                setattr(self._struct, name, address)
            told = torch.frombuffer(bytearray(self._struct), dtype=torch.uint8)
            self._sent[key] = told.to(self.device)
        self._batch = self._sent[key]

    def _tell_seed(self) -> None:
        self._struct.seed = self._seed
        self._sent.clear()
        self._tell_outputs()

    def _run(self, kernel: str, *arguments: int) -> None:
        self._kernels.run(kernel, self.num_envs, self._batch.data_ptr(), *arguments)

    def _allocate(self, obs: str, mask: str) -> TensorBuffers:
        return TensorBuffers.on(self.device, (self.num_envs,), obs, mask)

    def _write_to(self, buffers: TensorBuffers) -> None:
        super()._write_to(buffers)
        self._tell_outputs()

    def _reset(self, which: torch.Tensor | None, episode: int | None) -> None:
        self._tell_seed()
        marks = 0 if which is None else which.data_ptr()
        self._run("reset", marks, -1 if episode is None else episode)

    def _step(self, actions: torch.Tensor, replies: None) -> int:
        if self._validate:
            self._run("check", actions.data_ptr(), self._counter.fill_(self.num_envs).data_ptr())
            illegal = int(self._counter)
            if illegal < self.num_envs:
                raise self._illegal(illegal, int(actions[illegal]), self._fen(illegal))
        self._run("step", actions.data_ptr(), self._counter.zero_().data_ptr())
        return int(self._counter) if self._validate else 1

    def _begin_with(self, replies: np.ndarray) -> None:
        raise NotImplementedError("no engine plays here")

    def _fen(self, board: int) -> str:
        position = self._state["words"][:8, board].cpu().numpy().copy()
        return fen_at(jit.load(), position.ctypes.data)

    def _episode(self, board: int) -> int:
        return int(self._state["words"][10, board])

    def _layout(self) -> str:
        history = HISTORY_WORDS if self._state["history"].numel() else 0
        return f"CUDA, {WORDS}, {PLANES} and {PAST} words a board, {history} of history"

    def _dump(self) -> bytes:
        return b"".join(part.cpu().numpy().tobytes() for part in self._state.values())

    def _load(self, payload: bytes) -> None:
        size = sum(part.nbytes for part in self._state.values())
        if len(payload) != size:
            raise InvalidStateError(f"the state holds {len(payload)} bytes of boards")
        at = 0
        for part in self._state.values():
            words = np.frombuffer(payload, np.int64, part.numel(), at).reshape(part.shape)
            part.copy_(torch.from_numpy(words.copy()))
            at += part.nbytes
        self._tell_seed()
        self._run("write")


def _check_gpu() -> None:
    gpu.require()
    if not torch.cuda.is_available():
        raise UnavailableError(
            f"PyTorch {torch.__version__} can't use the GPU: was it built for CUDA?"
        )
