"""The kinds of processors that a wheel's code is compiled for; `setup.py` reads this file alone."""

from pathlib import PurePosixPath
from typing import NamedTuple


class Variant(NamedTuple):
    """Instruction sets that code may use."""

    name: str
    machine: str  # the platform's name of the processors' family
    folder: str  # below `lib`, where glibc's loader looks for it, or one that it doesn't know
    flags: tuple[str, ...]  # the same for g++ and Clang
    zig: str  # the processor as zig's compiler calls it
    features: tuple[str, ...]  # that a processor must have, as Linux names them


_V2 = ("cx16", "lahf_lm", "popcnt", "sse4_1", "sse4_2", "ssse3")
_V3 = (*_V2, "abm", "avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "movbe")
_V4 = (*_V3, "avx512bw", "avx512cd", "avx512dq", "avx512f", "avx512vl")
# Of what came after v4: bytes shuffled across a register, compressed, and bits counted.
_BITS = ("avx512_bitalg", "avx512_vbmi2", "avx512_vpopcntdq", "avx512vbmi")


def _after_v4(name: str, features: tuple[str, ...]) -> Variant:
    """Returns a variant that has more of AVX-512 than v4."""
    names = [feature.replace("_", "") for feature in features]
    flags = ("-march=x86-64-v4", *(f"-m{name}" for name in names))
    return Variant(name, "x86_64", name, flags, "+".join(("x86_64_v4", *names)), (*_V4, *features))


# The best first.
VARIANTS = (
    _after_v4("x86-64-v4-bf16", (*_BITS, "avx512_bf16")),
    _after_v4("x86-64-v4-bits", _BITS),
    Variant(
        "x86-64-v4", "x86_64", "glibc-hwcaps/x86-64-v4", ("-march=x86-64-v4",), "x86_64_v4", _V4
    ),
    Variant(
        "x86-64-v3", "x86_64", "glibc-hwcaps/x86-64-v3", ("-march=x86-64-v3",), "x86_64_v3", _V3
    ),
    Variant("x86-64-v2", "x86_64", "", ("-march=x86-64-v2",), "x86_64_v2", _V2),
    Variant("armv8", "aarch64", "", ("-march=armv8-a",), "generic", ()),
)


def flags_for(variant: Variant, compiler: str) -> tuple[str, ...]:
    """Returns the options with which a compiler, a command, compiles a variant."""
    return (f"-mcpu={variant.zig}",) if "ziglang" in compiler else variant.flags


def file_name(variant: Variant, openmp: bool = False) -> str:
    """Returns the path of a variant's library, or of the one with OpenMP's loops."""
    if openmp:
        return f"librungs-openmp-{variant.name}.so"
    return str(PurePosixPath("lib", variant.folder, "librungs.so"))


# Systems' names of the families, where they are not Linux's.
_ALIASES = {"amd64": "x86_64", "arm64": "aarch64"}


def of_machine(machine: str) -> list[Variant]:
    """Returns the variants of a family of processors, by any system's name of it."""
    machine = _ALIASES.get(machine.lower(), machine)
    return [variant for variant in VARIANTS if variant.machine == machine]


def for_processor(variants: list[Variant], features: set[str]) -> list[Variant]:
    """Returns the best of a family's variants for a processor with `features`, and the least."""
    able = [variant for variant in variants if features.issuperset(variant.features)]
    return [*able[:1], *(variants[-1:] if able[:1] != variants[-1:] else [])]
