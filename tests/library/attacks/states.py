"""What several tests change: states with a right checksum, and entries of nested dicts."""

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


def without(*keys):
    """Returns what deletes an entry of nested dicts and lists, given them."""

    def change(saved):
        *path, last = keys
        for key in path:
            saved = saved[key]
        del saved[last]

    return change


def being(value, *keys):
    """Returns what sets an entry of nested dicts and lists, given them."""

    def change(saved):
        *path, last = keys
        for key in path:
            saved = saved[key]
        saved[last] = value

    return change
