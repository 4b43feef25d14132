"""Saved states: bytes that say what they are, and are refused where they are anything else."""

import hashlib
import json

from rungs.errors import InvalidStateError

# Grows when what a rung saves changes its meaning, as when `cpp/env/chess_env.hpp` does.
VERSION = 1

_MAGIC = b"RUNGS state "
_DIGEST = 16


def pack(identity: dict, payload: bytes) -> bytes:
    """Puts `payload` and the JSON-able `identity` into bytes, with a version and a checksum."""
    head = json.dumps({"version": VERSION} | identity).encode() + b"\n"
    body = _MAGIC + head + payload
    return body + _checksum(body)


def unpack(state: bytes, expected: dict) -> tuple[dict, bytes]:
    """Returns the identity and payload that `pack` was given.

    Args:
        state: what `pack` made.
        expected: what the identity must hold; it may hold more.

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
    identity = json.loads(head)
    for name, ours in json.loads(json.dumps({"version": VERSION} | expected)).items():
        if identity.get(name) != ours:
            raise InvalidStateError(
                f"the state is of another environment: {name} is {identity.get(name)!r}, "
                f"not {ours!r}"
            )
    return identity, payload


def _checksum(body: bytes) -> bytes:
    return hashlib.blake2b(body, digest_size=_DIGEST).digest()
