"""The C ABI: structures, enumerations, constants and functions, as the compiler laid them out.

A compiled library contains a text that describes it (`cpp/bindings/abi.hpp`). The ctypes structures
are built from that text, so no field, type or value is declared in Python a second time.
"""

import ctypes
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np

from rungs._src.core.once import once
from rungs.errors import CompilerError

# The functions of `cpp/bindings`: ctypes's or cppyy's, which learn their names from C++.
Api = Any

# Types of numbers, by NumPy's names.
NUMBERS: dict[str, type] = {
    "b1": ctypes.c_bool,
    "i1": ctypes.c_int8,
    "i2": ctypes.c_int16,
    "i4": ctypes.c_int32,
    "i8": ctypes.c_int64,
    "u1": ctypes.c_uint8,
    "u2": ctypes.c_uint16,
    "u4": ctypes.c_uint32,
    "u8": ctypes.c_uint64,
    "f4": ctypes.c_float,
    "f8": ctypes.c_double,
}


class Structure(ctypes.Structure):
    """A structure of C++, made of a value for every field; the caller keeps arrays alive."""

    __slots__ = ()  # so only fields can be set later

    _types: ClassVar[dict[str, str]]
    _enumerators: ClassVar[dict[str, dict[str, int]]]

    def __init__(self, **values: Any):
        if values.keys() != self._types.keys():
            for name in [*self._types, *values]:  # the first in either's order
                if (name in values) != (name in self._types):
                    side, other = ("C++", "Python") if name in self._types else ("Python", "C++")
                    raise CompilerError(
                        f"{type(self).__name__}: {name} is in {side}, and not in {other}"
                    )
        super().__init__(**{name: self._value(name, value) for name, value in values.items()})

    @classmethod
    def number(cls, field: str, name: str) -> int:
        return cls._enumerators[field][name]

    def _value(self, name: str, value: Any) -> Any:
        if isinstance(value, str):
            return self.number(name, value)
        if isinstance(value, np.ndarray):
            kind = self._types[name].removeprefix("*")
            # A pointer to bytes, or to no number, takes an array of any dtype.
            if kind in NUMBERS and kind != "u1" and value.dtype != np.dtype(kind):
                raise CompilerError(
                    f"{type(self).__name__}: {name} is {np.dtype(kind)} in C++, {value.dtype} in "
                    "Python"
                )
            return value.ctypes.data
        return value


class Description(NamedTuple):
    """The description of a compiled library, by name; an unknown name raises CompilerError."""

    structures: dict[str, type[Structure]]
    enumerations: dict[str, dict[str, int]]
    constants: dict[str, int]
    functions: dict[str, list[str]]  # the types of result and arguments
    addresses: dict[str, int]


def described(api: Any) -> Description:
    return parse(ctypes.string_at(api.rungs_abi()))


@once  # as structures of two descriptions don't fit each other
def parse(text: bytes) -> Description:
    kinds = ("structure", "enumeration", "constant", "function", "function")
    description = Description(*map(_Named, kinds))
    fields: dict[str, list[list[str]]] = {}
    sizes = {}
    for line in text.decode().splitlines():
        kind, name, *rest = line.split(" ")
        match kind:
            case "structure":
                fields[name], sizes[name] = (members := []), int(rest[0])
            case "field":
                members.append([name, *rest])
            case "enumeration":
                description.enumerations[name] = _enumerators(name, rest)
            case "constant":
                description.constants[name] = int(rest[0])
            case "function":
                description.addresses[name], description.functions[name] = int(rest[0]), rest[1:]
    for name in fields:
        description.structures[name] = _structure(
            name, fields[name], sizes[name], description.structures
        )
    return description


class _Named(dict):
    """A dict whose missing keys raise CompilerError."""

    def __init__(self, kind: str):
        super().__init__()
        self._kind = kind

    def __missing__(self, name: str) -> Any:
        raise CompilerError(f"the compiled C++ has no {self._kind} {name}")


def _enumerators(name: str, pairs: list[str]) -> dict[str, int]:
    numbers = _Named(f"value of {name} called")
    numbers |= {label: int(number) for label, number in (pair.split("=") for pair in pairs)}
    return numbers


def _structure(
    name: str, fields: list[list[str]], size: int, others: dict[str, type[Structure]]
) -> type[Structure]:
    body: dict[str, Any] = {"__slots__": (), "_types": {}, "_enumerators": {}, "_fields_": []}
    fields = sorted(fields, key=lambda field: int(field[1]))
    for field, _, kind, *pairs in fields:
        body["_types"][field] = kind
        body["_enumerators"][field] = _enumerators(f"{name}.{field}", pairs)
        body["_fields_"].append((field, _type(name, field, kind, others)))
    structure = type(name, (Structure,), body)
    places = [
        (field, int(offset), getattr(structure, field).offset) for field, offset, *_ in fields
    ]
    for field, in_cpp, in_python in (*places, ("size", size, ctypes.sizeof(structure))):
        if in_python != in_cpp:
            raise CompilerError(f"{name}: {field} is {in_python} in Python, {in_cpp} in C++")
    return structure


def _type(name: str, field: str, kind: str, others: dict[str, type[Structure]]) -> type:
    if kind.startswith("*"):
        return ctypes.c_void_p
    if kind in NUMBERS:
        return NUMBERS[kind]
    if kind in others:
        return others[kind]
    if kind.startswith("V") and kind[1:].isdigit():  # an opaque type of that size
        return ctypes.c_uint8 * int(kind[1:])
    raise CompilerError(f"{name}: {field} is of a type that Python doesn't know, {kind}")


def as_argument(api: Api, address: int) -> Any:
    """Returns an address in the form that a library's functions take in the least time."""
    return ctypes.c_uint64(address) if isinstance(api, ctypes.CDLL) else address


class _Array:
    """An array argument, passed by address as ctypes passes its own arrays."""

    from_param = (ctypes.c_char * 0).from_buffer  # no Python in between


@once
def load_library(path: Path) -> ctypes.CDLL:
    """Loads a library that was compiled from `cpp/bindings` or the like, once per path."""
    try:
        library = ctypes.CDLL(str(path))
    except OSError as error:
        raise CompilerError(f"{path} can't be loaded: {error}") from None
    if not hasattr(library, "rungs_abi"):
        raise CompilerError(f"{path} was compiled from something else: it lacks rungs_abi")
    library.rungs_abi.restype = ctypes.c_size_t
    description = described(library)
    for name, (result, *parameters) in description.functions.items():
        result_type = None if result == "void" else NUMBERS[result]
        arguments = [_Array if "*" in kind else NUMBERS[kind] for kind in parameters]
        function = ctypes.CFUNCTYPE(result_type, *arguments)(description.addresses[name])
        setattr(library, name, function)
    return library
