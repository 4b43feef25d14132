"""The batch of boards as a GPU sees it, and who runs its kernels: a GPU, or the host for tests."""

import ctypes

import torch

from rungs import paths
from rungs.chess.boards.native import ChessOutputs
from rungs.compile import gpp, layout, nvrtc
from rungs.errors import CompilerError

_SOURCE = "rungs/cuda.hpp"
KERNELS = ("reset", "check", "step", "step_many", "write")
_ON_HOST = "bindings/device.hpp"

# Words of a board: `rungs::NUM_DEVICE_WORDS`, `chess::kPlanes`, `chess::kFiftyMoves`.
WORDS, PLANES, PAST = 11, 73, 100
COUNTS, EPISODE = 9, 10  # of `rungs::DeviceWord`
HISTORY_WORDS = 65  # `rungs::env::History`


class DeviceBatch(ChessOutputs):
    """`rungs::DeviceBatch`."""

    _fields_ = (
        ("words", ctypes.c_void_p),
        ("legal", ctypes.c_void_p),
        ("past", ctypes.c_void_p),
    )


_SIZES = {
    "RUNGS_DEVICE_BATCH_BYTES": ctypes.sizeof(DeviceBatch),
    "RUNGS_HISTORY_BYTES": 8 * HISTORY_WORDS,
}


def cubin(arch: str, threads_per_block: int = 128) -> bytes:
    """Returns the kernels' machine code for a GPU, for blocks of so many threads."""
    return nvrtc.cubin(_SOURCE, arch, _SIZES | {"RUNGS_THREADS_PER_BLOCK": threads_per_block})


class Gpu:
    """Launches kernels on PyTorch's current stream of a device, whichever device is current then.

    Args:
        threads_per_block: of every kernel.
        device: with its index.

    Raises:
        UnavailableError: there is no GPU, or no cuda-core.
        CompilerError: the headers do not compile for it.
    """

    def __init__(self, threads_per_block: int, device: torch.device):
        self._device = device
        major, minor = torch.cuda.get_device_capability(device)
        code = cubin(f"sm_{major}{minor}", threads_per_block)  # says so where there is no cuda-core
        from cuda.core import Device, LaunchConfig, ObjectCode, launch

        self._threads, self._launch, self._config = threads_per_block, launch, LaunchConfig
        with torch.cuda.device(device):
            Device(device.index).set_current()
            self._code = ObjectCode.from_cubin(code)
            # All are loaded now: while a CUDA graph is captured it would be too late.
            self._kernels = {name: self._code.get_kernel(f"rungs_chess_{name}") for name in KERNELS}

    def run(self, kernel: str, num_envs: int, *arguments: int) -> None:
        """Launches `rungs_chess_<kernel>` for so many boards; arguments are 64 bits wide."""
        blocks = -(-num_envs // self._threads)
        config = self._config(grid=blocks, block=self._threads)
        with torch.cuda.device(self._device):
            self._launch(_CurrentStream(), config, self._kernels[kernel], *arguments)


class _CurrentStream:
    """PyTorch's, as cuda-core takes a stream of others."""

    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, torch.cuda.current_stream().cuda_stream


class Host:
    """Runs the same code on the host, compiled by g++, a board after the other.

    Args:
        vectors: whether it may use the processor's, which no GPU has.

    Raises:
        CompilerError: there is no g++, or it refuses the headers, or structs differ.
    """

    def __init__(self, vectors: bool = False) -> None:
        plain = [] if vectors else ["-DRUNGS_SCALAR_LANES"]
        flags = [*gpp.FLAGS.split(), "-march=native", *plain, "-x", "c++"]
        self._library = ctypes.CDLL(str(gpp.build("device", paths.CPP / _ON_HOST, flags)))
        self._library.rungs_device_layout.argtypes = [ctypes.c_size_t]
        layout.check(self._library.rungs_device_layout, {"DeviceBatch": DeviceBatch})
        if self._library.rungs_device_history_bytes() != 8 * HISTORY_WORDS:
            raise CompilerError("History: its size in C++ is not that in chess/boards/device.py")

    def run(self, kernel: str, num_envs: int, *arguments: int) -> None:
        """Runs `rungs_chess_<kernel>`; arguments are 64 bits wide."""
        getattr(self._library, f"rungs_chess_{kernel}")(*map(ctypes.c_int64, arguments))
