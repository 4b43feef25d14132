"""Checks that a file has the expected form before its content is used."""

import errno
import stat
from pathlib import Path
from typing import Any


def schema_error(value: Any, form: Any, name: str = "it") -> str:
    """Returns how a value, of JSON or a checkpoint, differs from a form; "" where it doesn't.

    A form is a type or types, as for `isinstance`; a list with the form of every entry; or a dict
    with the form of each key's value, where `...` stands for all other keys.
    """
    kind = type(form) if isinstance(form, dict | list) else form
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        return f"{name} is of type {type(value).__name__}"
    if isinstance(form, list):
        inner = [(entry, form[0], f"an entry of {name}") for entry in value]
    elif isinstance(form, dict):
        missing = [key for key in form if key is not ... and key not in value]
        if missing:
            return f"{name} has no {missing[0]!r}"
        known = [(key, form.get(key, form.get(...))) for key in value]
        inner = [(value[key], of, f"{name}[{key!r}]") for key, of in known if of is not None]
    else:
        inner = []
    return next(filter(None, (schema_error(*entry) for entry in inner)), "")


def check_is_file(path: Path) -> None:
    """Raises OSError unless a regular file is there: opening a pipe would wait for its writer."""
    if not stat.S_ISREG(path.stat().st_mode):
        raise OSError(errno.EINVAL, "not a regular file", str(path))
