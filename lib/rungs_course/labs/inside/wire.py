"""Values as bytes, between a judge and the process in which an answer runs.

A message is two lengths, a value as JSON, and the bytes of its arrays, each at a multiple of 64.
The judge writes these bytes to shared memory; an answer sends them, so that it can't change them
any more once they have arrived. Nothing that is read is ever executed.
"""

import json
import mmap
import random
import socket
import struct
import time
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

_HEAD = struct.Struct("<QQ")
_ALIGNED = 64
MAX_BYTES = 64 << 20  # of a message's arrays
_MAX_TEXT = 8 << 20
_KINDS = "biufcSU"  # of arrays' dtypes


class GarbageError(ValueError):
    """The bytes received are not a message."""


def encode(value: Any, refer: Callable[[Any], dict] | None = None) -> list[Any]:
    """Returns a message's parts, to be sent one after the other.

    Numbers, texts, bytes, arrays, and lists, tuples and dictionaries of them are sent as they are;
    random generators as the seed of a new one; objects with a class attribute `remote_methods` as
    what `refer` returns of them; tensors and the like as arrays; other iterables as lists; and
    anything else, masked arrays too, as its `repr`.
    """
    blobs: list[memoryview] = []

    def add_blob(data: Any, head: list) -> list:
        blobs.append(memoryview(data).cast("B"))
        return head

    def packed(values: list) -> dict | None:
        """Returns many values of one kind as an array, which is faster to read, or None."""
        kinds = set(map(type, values))
        if len(values) < 8 or len(kinds) > 1:
            return None
        kind = kinds.pop()
        if kind in (bool, int, float):
            array = np.array(values)  # of float, where an integer is too large for 64 bits
            same = array.dtype.kind == np.dtype(kind).kind
            return {"list": tree(array)} if same else None
        if kind.__module__ != "chess":
            return None
        moves = [(item.from_square, item.to_square, item.promotion or 0) for item in values]
        return {"moves": tree(np.array(moves, np.uint8))}

    def tree(value: Any) -> Any:
        if value is None or isinstance(value, bool | int | float | str):
            return value
        is_array = isinstance(value, np.ndarray) and not isinstance(value, np.ma.MaskedArray)
        if is_array and value.dtype.kind in _KINDS:
            data = np.ascontiguousarray(value)
            head = [data.dtype.str, value.shape, value.flags.writeable]
            return {"array": add_blob(data.reshape(-1).view(np.uint8), head)}
        if isinstance(value, np.generic):
            item = value.item()
            return tree(np.asarray(item) if isinstance(item, np.generic) else item)  # longdouble
        if isinstance(value, bytes | bytearray):
            return {"bytes": add_blob(value, [len(value)])}
        if isinstance(value, list):
            return packed(value) or [tree(item) for item in value]
        if isinstance(value, tuple):
            return {"tuple": [tree(item) for item in value]}
        if isinstance(value, dict):
            return {"dict": [[tree(key), tree(item)] for key, item in value.items()]}
        if isinstance(value, np.random.Generator):
            return {"generator": int(value.integers(1 << 63))}
        if isinstance(value, random.Random):
            return {"random": value.getrandbits(63)}
        if refer and hasattr(type(value), "remote_methods"):
            return {"object": tree(refer(value))}
        if is_array and value.dtype == object:
            return tree(value.tolist())
        if not isinstance(value, np.ndarray):
            if isinstance(value, memoryview) or hasattr(type(value), "__array__"):
                return tree(np.asarray(value))
            if isinstance(value, Iterable):
                return [tree(item) for item in value]
        return {"other": f"{value!r:.200}"}

    text = json.dumps(tree(value)).encode()
    padded = [part for blob in blobs for part in (blob, bytes(-len(blob) % _ALIGNED))]
    return [_HEAD.pack(len(text), sum(map(len, padded))), text, *padded]


def send(connection: socket.socket, parts: list[Any], memory: np.ndarray | None = None) -> None:
    """Sends a message of `encode`; the bytes of arrays go to `memory` where it is shared."""
    head, text, *blobs = parts
    if memory is not None:
        offset = 0
        for blob in blobs:
            memory[offset : offset + len(blob)] = np.frombuffer(blob, np.uint8)
            offset += len(blob)
        blobs = []
    for part in (head + text, *blobs):
        connection.sendall(part)


def receive(
    connection: socket.socket, seconds: float | None = None, memory: np.ndarray | None = None
) -> tuple[bytes, np.ndarray]:
    """Returns a message's JSON and the bytes of its arrays, which are in `memory` if it is shared.

    Raises EOFError if the other end is gone, TimeoutError after `seconds`, GarbageError if it is
    too large.
    """
    end = None if seconds is None else time.monotonic() + seconds
    length, following = _HEAD.unpack(_read(connection, _HEAD.size, end).tobytes())
    if length > _MAX_TEXT or following > MAX_BYTES:
        raise GarbageError("a message is too large")
    text = _read(connection, length, end).tobytes()
    return text, memory[:following] if memory is not None else _read(connection, following, end)


def _read(connection: socket.socket, count: int, end: float | None) -> np.ndarray:
    """Receives `count` bytes, into memory that begins at a multiple of 64."""
    memory = np.empty(count + _ALIGNED, np.uint8)
    first = -memory.ctypes.data % _ALIGNED
    memory = memory[first : first + count]
    view, done = memoryview(memory.data), 0
    while done < count:
        if end is not None:
            connection.settimeout(max(1e-3, end - time.monotonic()))
        got = connection.recv_into(view[done:])
        if not got:
            raise EOFError
        done += got
    return memory


def shared(descriptor: int) -> np.ndarray:
    """Returns the memory of a file of `MAX_BYTES` that judge and answer share."""
    return np.frombuffer(mmap.mmap(descriptor, MAX_BYTES), np.uint8)


def decode(
    text: bytes, blobs: np.ndarray, make: dict[str, Callable[[Any], Any]] | None = None
) -> Any:
    """Returns the value of a message that `receive` returned.

    `make` has, by kind, the maker of a value from what `encode` sent in its place; a judge makes
    none.
    """
    offset = 0

    def read_blob(count: int) -> np.ndarray:
        nonlocal offset
        data = blobs[offset : offset + count]
        if len(data) != count:
            raise GarbageError("bytes are missing")
        offset += count + -count % _ALIGNED
        return data

    def read_array(kind: str, shape: list[int], writeable: bool) -> np.ndarray:
        dtype = np.dtype(kind)
        if dtype.hasobject or dtype.kind not in _KINDS or not all(n >= 0 for n in shape):
            raise GarbageError(f"no array of {kind!r}")
        count = dtype.itemsize
        for length in shape:
            count *= length
        array = read_blob(count).view(dtype).reshape(shape)
        array.setflags(write=bool(writeable))
        return array

    def value(tree: Any) -> Any:
        if isinstance(tree, list):
            return [value(item) for item in tree]
        if not isinstance(tree, dict):
            return tree
        ((kind, content),) = tree.items()
        if kind == "array":
            return read_array(*content)
        if kind == "bytes":
            return read_blob(content[0]).tobytes()
        if kind == "list":
            return read_array(*content["array"]).tolist()
        if kind == "tuple":
            return tuple(value(item) for item in content)
        if kind == "dict":
            return {value(key): value(item) for key, item in content}
        if kind == "other":
            return Other(str(content))
        if make and kind in make:
            return make[kind](value(content))
        raise GarbageError(f"nothing is made of {kind!r}")

    try:
        return value(json.loads(text))
    except (
        *(ValueError, TypeError, AttributeError, LookupError, SyntaxError),
        *(RecursionError, OverflowError),
    ) as error:
        raise GarbageError(str(error)) from None


class Other:
    """Stands for a value that can't be sent; its `repr` is that value's."""

    def __init__(self, text: str):
        self._text = text

    def __repr__(self) -> str:
        return self._text
