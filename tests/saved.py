"""What tests do with what was saved: look at it, change it behind its checksum, fill the disk."""

import contextlib
import csv
import functools
import hashlib
import json
import operator
import resource

import pytest

from rungs.errors import InvalidStateError

MAGIC = b"RUNGS state "


def split(state: bytes) -> tuple[dict, bytearray]:
    """Splits a state into its head and its payload."""
    head, _, payload = state[len(MAGIC) : -16].partition(b"\n")
    return json.loads(head), bytearray(payload)


def join(head: dict | bytes, payload: bytes) -> bytes:
    """Makes a state of these, `head` as it is where it is bytes."""
    text = head if isinstance(head, bytes) else json.dumps(head).encode()
    body = MAGIC + text + b"\n" + bytes(payload)
    return body + hashlib.blake2b(body, digest_size=16).digest()


def deleting(*keys):
    """Returns a function that deletes an entry of the nested dicts and lists given to it."""

    def change(saved):
        del functools.reduce(operator.getitem, keys[:-1], saved)[keys[-1]]

    return change


def setting(value, *keys):
    """Returns a function that sets an entry of the nested dicts and lists given to it."""

    def change(saved):
        functools.reduce(operator.getitem, keys[:-1], saved)[keys[-1]] = value

    return change


@contextlib.contextmanager
def refusal(env, error, match=None):
    """Asserts that what is done raises, and leaves the state of an environment as it was."""
    before = env.get_state()
    with pytest.raises(error, match=match) as raised:
        yield raised
    assert env.get_state() == before


def assert_refused(env, state: bytes, match: str):
    """Asserts that an environment refuses a state, by such words, and stays as it was."""
    with refusal(env, InvalidStateError, match):
        env.set_state(state)
    env.close()


def contents(folder):
    """Returns the bytes of all files of a folder, by relative path."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def rows_of(path):
    """Returns the rows of a CSV file, each a dict of texts."""
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


@contextlib.contextmanager
def full_disk(size):
    """Lets no file grow beyond some bytes meanwhile."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
