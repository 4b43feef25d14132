"""The C API in WebAssembly (`tools/wasm.py` compiles it), called by wasmtime.

A library has a memory of its own, into which arguments and out of which results are copied. It
describes the layout of its structures itself (`cpp/bindings/abi.hpp`).
"""

import atexit
import ctypes
import functools
import importlib.util
import weakref
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from rungs._src.native.wheel import FOLDER
from rungs.errors import (
    CompilerError,
    ConfigurationError,
    InvalidFenError,
    InvalidStateError,
    RungsError,
    UnavailableError,
    install_hint,
)

FILE = FOLDER / "rungs.wasm"
_VERSION = 1  # RUNGS_ABI_VERSION
_FEN_BYTES = 128

ILLEGAL_ACTION = -2
# By the values of `rungs_status`.
_ERRORS: dict[int, type[Exception]] = {
    -1: ConfigurationError,
    -3: InvalidFenError,
    -4: InvalidStateError,
    -6: MemoryError,
    -7: UnavailableError,
}


class StatusError(RungsError):
    """A function of the C API returned an error that its caller must turn into one of ours.

    Attributes:
        status: a `rungs_status`.
    """

    def __init__(self, status: int, message: str):
        super().__init__(message)
        self.status = status


def require() -> None:
    """Makes sure that a library can be loaded; nothing is imported or compiled for it.

    Raises:
        UnavailableError: wasmtime is not installed, or there is no compiled file.
    """
    if importlib.util.find_spec("wasmtime") is None:
        raise UnavailableError(f"wasmtime is not installed: {install_hint('wasm')}")
    if not FILE.exists():
        raise UnavailableError("the C API is not compiled to WebAssembly: make wasm, in a clone")


class Library:
    """The functions, with a memory of their own. One thread may use it at a time.

    Attributes:
        layouts: structures by name, with fields as in `rungs.h`; pointers are numbers.

    Raises:
        UnavailableError: wasmtime is not installed, or there is no compiled file.
        CompilerError: the file holds something else.
    """

    def __init__(self) -> None:
        require()
        import wasmtime

        engine, module = _compiled()
        self._store = wasmtime.Store(engine)
        # At the latest when Python ends: after that wasmtime can't free it any more.
        weakref.finalize(self, self._store.close)
        self._store.set_wasi(wasmtime.WasiConfig())
        linker = wasmtime.Linker(engine)
        linker.define_wasi()
        try:
            exports = linker.instantiate(self._store, module).exports(self._store)
            self._memory: Any = exports["memory"]
            self._functions = {
                name: each for name, each in exports.items() if isinstance(each, wasmtime.Func)
            }
            self.call("_initialize")
            version = self.call("rungs_abi_version")
        except (wasmtime.WasmtimeError, KeyError) as error:
            raise CompilerError(f"{FILE} is not the C API: {error}") from None
        if version != _VERSION:
            raise CompilerError(f"{FILE} is of version {version}, not {_VERSION}: make wasm")
        description = self.text(self.call("rungs_abi"))
        self.layouts = _layouts(description)

    def call(self, name: str, *arguments: int) -> int:
        """Calls a function with numbers, and returns its result."""
        return self._functions[name](self._store, *arguments)

    def checked(self, name: str, *arguments: int) -> None:
        """Calls a function that returns a status.

        Raises:
            StatusError: an action is illegal, or calls are in a wrong order.
            ConfigurationError, InvalidFenError, InvalidStateError, UnavailableError: as the status.
            MemoryError: there is too little memory.
        """
        if status := self.call(name, *arguments):
            message = self.text(self.call("rungs_error_message"))
            if kind := _ERRORS.get(status):
                raise kind(message)
            raise StatusError(status, message)

    def room(self, num_bytes: int) -> int:
        """Allocates memory, and returns its address; `call("free", ...)` frees it.

        Raises:
            MemoryError: there is too little memory.
        """
        if address := self.call("malloc", max(1, num_bytes)) % 2**32:
            return address
        raise MemoryError(f"WebAssembly has no {num_bytes} bytes left")

    def view(self, address: int, count: int, dtype: DTypeLike = np.uint8) -> np.ndarray:
        """Returns (count,) elements of the memory, valid until the next call."""
        return np.frombuffer(self._bytes(address, count * np.dtype(dtype).itemsize), dtype)

    def _bytes(self, address: int, size: int) -> Any:
        """Returns `size` bytes of the memory, whose `value` ends before the first 0."""
        base = ctypes.addressof(self._memory.data_ptr(self._store).contents)
        return (ctypes.c_char * size).from_address(base + address)

    def put(self, array: np.ndarray | bytes) -> int:
        """Copies an array into new memory, and returns its address."""
        content = np.frombuffer(array, np.uint8)
        address = self.room(content.size)
        self.view(address, content.size)[:] = content
        return address

    def text(self, address: int) -> str:
        """Returns the zero-terminated text at an address."""
        address %= 2**32
        size = self._memory.data_len(self._store) - address
        return self._bytes(address, size).value.decode()

    def perft(self, fen: bytes, depth: int) -> int:
        """Counts the leaves of a position's tree.

        Raises:
            InvalidFenError: the FEN is malformed or its position impossible; the message says why.
        """
        text, leaves = self.put(fen + b"\0"), self.room(8)
        try:
            self.checked("rungs_perft", text, depth, 1, leaves)
            return int(self.view(leaves, 1, np.int64)[0])
        finally:
            self.call("free", text)
            self.call("free", leaves)

    def fen(self, function: str, handle: int, number: int) -> str:
        """Returns what a function writes as a FEN, such as `rungs_chess_get_fen`."""
        out = self.room(_FEN_BYTES)
        try:
            self.checked(function, handle, number, out, _FEN_BYTES)
            return self.text(out)
        finally:
            self.call("free", out)


@functools.cache
def _compiled() -> tuple[Any, Any]:
    """Returns the engine and the module, compiled for this processor once in a process."""
    import wasmtime

    engine = wasmtime.Engine()
    try:
        module = wasmtime.Module(engine, FILE.read_bytes())
    except (OSError, wasmtime.WasmtimeError) as error:
        raise CompilerError(f"{FILE} can't be loaded: {error}") from None
    for each in (engine, module):
        atexit.register(each.close)
    return engine, module


@functools.cache
def _layouts(description: str) -> dict[str, np.dtype]:
    """Returns the structures of the C API as NumPy dtypes, from a library's description."""
    found: dict[str, tuple[int, list]] = {}
    for line in description.splitlines():
        what, name, *rest = line.split(" ")
        if what == "structure":
            found[name] = int(rest[0]), (fields := [])
        elif what == "field":
            fields.append((name, int(rest[0]), "u4" if rest[1][0] == "*" else rest[1]))
    return {
        name: np.dtype(
            {
                "names": [field for field, _, _ in fields],
                "formats": [kind for _, _, kind in fields],
                "offsets": [offset for _, offset, _ in fields],
                "itemsize": size,
            }
        )
        for name, (size, fields) in found.items()
        if name.startswith("rungs_")
    }
