"""States taken apart, and put together with a right checksum."""

import hashlib
import json

MAGIC = b"RUNGS state "


def split(state: bytes) -> tuple[dict, bytearray]:
    """Returns what a state says it is of, and its payload."""
    head, _, payload = state[len(MAGIC) : -16].partition(b"\n")
    return json.loads(head), bytearray(payload)


def join(head: dict | bytes, payload: bytes) -> bytes:
    """Makes a state of these, `head` as it is where it is bytes."""
    text = head if isinstance(head, bytes) else json.dumps(head).encode()
    body = MAGIC + text + b"\n" + bytes(payload)
    return body + hashlib.blake2b(body, digest_size=16).digest()
