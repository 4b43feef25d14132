"""Launchers of the kernels on a batch of boards: a GPU, or the host for tests."""

import ctypes

import torch

from rungs._src.native import gpp, loader, nvrtc
from rungs._src.native.abi import described

_SOURCE = "rungs/cuda.hpp"
KERNELS = ("reset", "check", "step", "step_many", "save", "put")


def cubin(arch: str, threads_per_block: int = 128) -> bytes:
    """Returns the kernels' machine code for a GPU, for blocks of `threads_per_block`."""
    api = loader.load()
    constants = described(api).constants
    macros = {
        "RUNGS_BATCH_BYTES": ctypes.sizeof(described(api).structures["ChessBatch"]),
        "RUNGS_BLOCK_BYTES": constants["block_bytes"],
        "RUNGS_SAVED_BOARD_BYTES": constants["saved_board_bytes"],
        "RUNGS_HISTORY_BYTES": constants["history_bytes"],
        "RUNGS_THREADS_PER_BLOCK": threads_per_block,
    }
    return nvrtc.cubin(_SOURCE, arch, macros)


class Gpu:
    """Launches kernels on PyTorch's current stream of a device, whichever device is current."""

    def __init__(self, threads_per_block: int, device: torch.device):
        self._device = device
        major, minor = torch.cuda.get_device_capability(device)
        code = cubin(f"sm_{major}{minor}", threads_per_block)  # raises where there is no cuda-core
        from cuda.core import Device, LaunchConfig, ObjectCode, launch

        self._threads, self._launch, self._config = threads_per_block, launch, LaunchConfig
        with torch.cuda.device(device):
            Device(device.index).set_current()
            self._code = ObjectCode.from_cubin(code)
            # All are loaded now: while a CUDA graph is captured it would be too late.
            self._kernels = {name: self._code.get_kernel(f"rungs_chess_{name}") for name in KERNELS}

    def run(self, kernel: str, num_envs: int, *arguments: int) -> None:
        """Launches `rungs_chess_<kernel>` for `num_envs` boards; arguments are 64 bits wide."""
        blocks = -(-num_envs // self._threads)
        config = self._config(grid=blocks, block=self._threads)
        with torch.cuda.device(self._device):
            self._launch(_CurrentStream(), config, self._kernels[kernel], *arguments)


class _CurrentStream:
    """PyTorch's current stream, as cuda-core accepts streams of other libraries."""

    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, torch.cuda.current_stream().cuda_stream


class Host:
    """Runs the same code on the host, compiled by g++, one board after the other."""

    def __init__(self) -> None:
        self._library = gpp.load_device()

    def run(self, kernel: str, num_envs: int, *arguments: int) -> None:
        getattr(self._library, f"rungs_chess_{kernel}")(*arguments)
