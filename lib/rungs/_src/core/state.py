"""Saved states: bytes that say what they are, and are refused where they are anything else."""

import hashlib
import json
import reprlib
from typing import Any

from rungs.errors import InvalidStateError

# Grows when what a rung saves changes its meaning, as when `cpp/env/chess_env.hpp` does.
VERSION = 3

_MAGIC = b"RUNGS state "
_DIGEST = 16


def pack(identity: dict, payload: bytes) -> bytes:
    """Puts `payload` and the JSON-able `identity` into bytes, with a version and a checksum."""
    head = json.dumps({"version": VERSION} | identity).encode() + b"\n"
    body = _MAGIC + head + payload
    return body + _checksum(body)


def unpack(state: bytes, expected: dict, limits: dict[str, int]) -> tuple[dict, bytes]:
    """Returns the numbers and the payload that `pack` was given.

    Args:
        state: what `pack` made.
        expected: what the identity must hold.
        limits: other numbers that it holds, each with the largest allowed; the smallest is 0.

    Raises:
        InvalidStateError: `state` is corrupt, or its identity differs; the message says in what.
    """
    if not isinstance(state, bytes | bytearray | memoryview):
        raise InvalidStateError(f"a state is bytes, not {type(state).__name__}")
    state = bytes(state)
    body, checksum = state[:-_DIGEST], state[-_DIGEST:]
    if not body.startswith(_MAGIC):
        raise InvalidStateError("these bytes are no state of a Rungs environment")
    if _checksum(body) != checksum:
        raise InvalidStateError("the state is corrupt: its checksum is wrong")
    head, _, payload = body.removeprefix(_MAGIC).partition(b"\n")
    identity = from_json(head)
    if type(identity) is not dict:
        raise InvalidStateError("the state does not say what it is of")
    for name, ours in json.loads(json.dumps({"version": VERSION} | expected)).items():
        theirs = reprlib.repr(identity.get(name))
        if identity.get(name) != ours:
            raise InvalidStateError(
                f"the state is of another environment: {name} is {theirs}, not {ours!r}"
            )
    numbers = {name: identity.get(name) for name in limits}
    for name, number in numbers.items():
        if type(number) is not int or not 0 <= number <= limits[name]:
            raise InvalidStateError(
                f"{name} of the state is {reprlib.repr(number)}, not from 0 to {limits[name]}"
            )
    return numbers, payload


def from_json(text: bytes) -> Any:
    """Returns what JSON says.

    Raises:
        InvalidStateError: it is none.
    """
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidStateError(f"the state is not what was saved: {error}") from None


def _checksum(body: bytes) -> bytes:
    return hashlib.blake2b(body, digest_size=_DIGEST).digest()
