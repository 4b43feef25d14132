"""Saved states: bytes with a version, the environment's identity, and a checksum."""

import hashlib
import json
import reprlib
from typing import Any

import numpy as np

from rungs._src.core.arguments import MAX_SEED, Seed
from rungs.errors import InvalidStateError

# Increased whenever the meaning of what a rung saves changes, as with `cpp/env/block.hpp`.
VERSION = 6

_MAGIC = b"RUNGS state "
_DIGEST = 16


def pack(identity: dict, payload: bytes) -> bytes:
    """Returns `identity`, which JSON must represent, and `payload` as bytes with a checksum."""
    head = json.dumps({"version": VERSION} | identity).encode() + b"\n"
    body = _MAGIC + head + payload
    return body + _checksum(body)


def seed_number(seed: Seed) -> int | list[int]:
    """Returns seeds as the identity of a state has them."""
    return seed.tolist() if isinstance(seed, np.ndarray) else seed


def unpack(
    state: bytes, expected: dict, limits: dict[str, int], count: int
) -> tuple[Seed, dict[str, int], bytes]:
    """Returns seed or `count` seeds, numbers up to `limits`, and payload of an `expected` state."""
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
    for name, required in json.loads(json.dumps({"version": VERSION} | expected)).items():
        saved = reprlib.repr(identity.get(name))
        if identity.get(name) != required:
            raise InvalidStateError(
                f"the state is of another environment: {name} is {saved}, not {required!r}"
            )
    numbers = {name: _number(name, identity.get(name), limits[name]) for name in limits}
    seed = identity.get("seed")
    if type(seed) is not list:
        return _number("seed", seed, MAX_SEED), numbers, payload
    if len(seed) != count:
        raise InvalidStateError(f"the state has {len(seed)} seeds, not {count}")
    seeds = [_number("a seed", number, MAX_SEED) for number in seed]
    return np.array(seeds, np.uint64), numbers, payload


def _number(name: str, number: Any, limit: int) -> int:
    if type(number) is not int or not 0 <= number <= limit:
        raise InvalidStateError(
            f"{name} of the state is {reprlib.repr(number)}, not from 0 to {limit}"
        )
    return number


def from_json(text: bytes) -> Any:
    """Parses JSON; raises InvalidStateError where it is malformed."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidStateError(f"the state is not what was saved: {error}") from None


def _checksum(body: bytes) -> bytes:
    return hashlib.blake2b(body, digest_size=_DIGEST).digest()
