"""Whether Python's picture of a struct is the compiler's, field by field."""

import ctypes
from collections.abc import Callable

from rungs.errors import CompilerError

_ROOM = 4096


def check(tell: Callable[[int], None], structs: dict[str, type[ctypes.Structure]]) -> None:
    """Compares sizes and the offset of every field.

    Args:
        tell: a compiled function that writes, to an address, what `rungs::layout` says.
        structs: ours, by the names that C++ gives them.

    Raises:
        CompilerError: one differs, and the message names the struct and the first such field; or
            what C++ says is longer than the room for it.
    """
    buffer = ctypes.create_string_buffer(_ROOM)
    tell(ctypes.addressof(buffer))
    if len(buffer.value) == _ROOM - 1:  # as `rungs::write_text` cuts it
        raise CompilerError(f"the layout of {', '.join(structs)} takes {_ROOM} bytes or more")
    theirs: dict[str, dict[str, int]] = {}
    for line in buffer.value.decode().splitlines():
        name, field, number = line.split(" ")
        theirs.setdefault(name, {})[field] = int(number)
    for name, struct in structs.items():
        expected, ours = theirs.get(name, {}), _offsets(struct) | {"size": ctypes.sizeof(struct)}
        for field in expected | ours:
            here, there = ours.get(field), expected.get(field)
            if here != there:
                raise CompilerError(f"{name}: {field} is {here} in Python, {there} in C++")


def _offsets(struct: type[ctypes.Structure], before: str = "", start: int = 0) -> dict[str, int]:
    """Returns where fields are, those of structs inside as "outer.inner"."""
    found: dict[str, int] = {}
    for base in reversed(struct.__mro__):
        for name, kind in vars(base).get("_fields_", ()):
            at = start + getattr(struct, name).offset
            if issubclass(kind, ctypes.Structure):
                found |= _offsets(kind, f"{before}{name}.", at)
            else:
                found[f"{before}{name}"] = at
    return found
