"""The wheels that zig compiles for every platform: what they say they need, and that they play."""

import functools
import hashlib
import importlib.util
import os
import re
import shutil
import struct
import sys
import zipfile
from pathlib import Path

import chess
import pytest

from rungs._src import paths
from rungs._src.machine.cpu import cpu_features
from rungs._src.native.variants import file_name, of_machine
from tests.processes import succeed
from tests.proof.anywhere.games import RECORDED
from tests.proof.anywhere.recorded import write_games
from tools import wheels

ROOT = Path(__file__).parents[2]
# Debian's, as `make tools` installs them.
MUSL = "/lib/ld-musl-x86_64.so.1"
ARM = ROOT / "build" / "arm"
ARM_PYTHON = ARM / "usr" / "bin" / "python3"
ARM_MUSL = ARM / MUSL[1:].replace("x86_64", "aarch64")
WINE = "/usr/lib/wine/wine64"
# A wheel takes minutes to compile: one is enough to see that zig makes them as it should.
QUICK = ("manylinux_2_17_aarch64",)


needs = pytest.mark.needs


def in_tiers(tags, marks=lambda tag: []):
    """Returns parameters of tests: each tag, with marks, one of them of its tier."""
    slow = [pytest.mark.slow]
    return [pytest.param(tag, marks=marks(tag) + slow * (tag not in QUICK)) for tag in tags]


pytestmark = [
    pytest.mark.system,
    pytest.mark.release,
    pytest.mark.skipif(not importlib.util.find_spec("ziglang"), reason="zig is not installed"),
]


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory):
    """Builds the wheel of a tag, when it is first asked for; returns its file and its content."""

    @functools.cache
    def unpack(tag):
        wheel = wheels.build(tag, tmp_path_factory.mktemp("wheel"))
        folder = tmp_path_factory.mktemp(tag)
        zipfile.ZipFile(wheel).extractall(folder)
        return wheel, folder

    return unpack


def variants(tag):
    return of_machine(wheels.TARGETS[tag].system.rpartition("-")[2])


@pytest.mark.parametrize("tag", in_tiers(wheels.TARGETS))
def test_a_wheel_holds_all_variants_for_its_platform_and_needs_what_that_has(unpacked, tag):
    wheel, folder = unpacked(tag)
    assert wheel.stat().st_size < 4e6
    (about,) = folder.glob("*.dist-info/WHEEL")
    assert f"\nTag: py3-none-{tag}\n" in about.read_text()
    compiled = folder / "rungs" / "compiled"
    libraries = {compiled / file_name(each) for each in variants(tag)}
    besides = {".h", ".pc", ".cmake", ".wasm"}
    files = {path for path in compiled.rglob("*") if path.is_file() and path.suffix not in besides}
    assert files == {compiled / "sha256sums", *libraries}
    check = check_elf if "linux" in tag else check_dll if "win_" in tag else check_macho
    for library in libraries:
        check(library, tag)


def check_elf(library, tag):
    shown = ["--file-header", "--dynamic", "--version-info"]
    said = succeed(["readelf", "--wide", *shown, library])
    assert ("AArch64" if "aarch64" in tag else "X86-64") in said
    needed = {*re.findall(r"NEEDED.*\[(.*)\]", said)}
    if "musl" in tag:
        assert needed == {"libc.so"}
        return
    loader = "ld-linux-aarch64.so.1" if "aarch64" in tag else "ld-linux-x86-64.so.2"
    of_glibc = {f"lib{name}" for name in ("c.so.6", "m.so.6", "pthread.so.0", "dl.so.2")}
    assert needed <= {*of_glibc, loader}
    assert 0 < max(map(int, re.findall(r"GLIBC_2\.(\d+)", said))) <= 17


def check_dll(library, tag):
    said = succeed(["objdump", "--private-headers", library])
    assert "file format pei-x86-64" in said
    of_windows = r"KERNEL32\.dll|api-ms-win-crt-[\w-]+\.dll"
    needed = re.findall(r"DLL Name: (\S+)", said)
    assert needed
    assert [each for each in needed if not re.fullmatch(of_windows, each)] == []


def check_macho(library, tag):
    data = library.read_bytes()
    magic, processor, _, kind, commands = struct.unpack_from("<5I", data)
    assert (magic, kind) == (0xFEEDFACF, 6)  # of 64 bits, a library
    assert processor == (0x0100000C if "arm64" in tag else 0x01000007)
    at, needed, oldest = 32, [], None
    for _ in range(commands):
        command, size, first, second = struct.unpack_from("<4I", data, at)
        if command == 0xC:  # a library that it loads
            needed.append(data[at + first : at + size].split(b"\0")[0].decode())
        if command == 0x32:  # the oldest system that it is for
            oldest = second >> 16
        at += size
    assert (needed, oldest) == (["/usr/lib/libSystem.B.dylib"], 11)


@pytest.mark.needs("qemu-aarch64")
@pytest.mark.skipif(not ARM_PYTHON.exists(), reason="`make tools` brings Python for ARM")
def test_the_one_for_linux_on_arm_plays_the_recorded_games(unpacked, tmp_path):
    """In Debian's Python on a simulated ARM processor."""
    wheel, _ = unpacked("manylinux_2_17_aarch64")
    python = ["qemu-aarch64", "-L", ARM, ARM_PYTHON]
    version = succeed([*python, "-c", "import sys; print(*sys.version_info[:2], sep='.')"])
    pip = [sys.executable, "-m", "pip", "--quiet", "install", "--no-deps", "--target", tmp_path]
    pip += ["--python-version", version.strip(), "--only-binary=:all:"]
    pip += ["--constraint", ROOT / "constraints.txt", "--platform=linux_aarch64"]
    pip += [f"--platform=manylinux_2_{glibc}_aarch64" for glibc in (17, 28)]
    needed = ["numpy", "gymnasium", "cloudpickle", "typing_extensions", "farama_notifications"]
    succeed([*pip, wheel, *needed, "filelock", "platformdirs"])
    shutil.copytree(Path(chess.__file__).parent, tmp_path / "chess")  # which has no wheel
    games = RECORDED.with_name("games.py")
    assert succeed([*python, games], env={"PYTHONPATH": str(tmp_path)}) == "armv8\n"


@pytest.fixture(scope="module")
def games(tmp_path_factory):
    return write_games(tmp_path_factory.mktemp("games"))


# What a program needs to load libraries, and what runs it.
RUNNERS = {
    "manylinux_2_17_x86_64": (["-ldl"], []),
    "musllinux_1_2_x86_64": (["-dynamic"], [MUSL]),
    "musllinux_1_2_aarch64": (["-dynamic"], ["qemu-aarch64", ARM_MUSL]),
    "win_amd64": ([], [WINE]),
}


@pytest.mark.parametrize("tag", in_tiers(RUNNERS, lambda tag: [needs(*RUNNERS[tag][1])]))
def test_each_library_that_can_run_here_plays_the_recorded_games(unpacked, games, tag, tmp_path):
    flags, runner = RUNNERS[tag]
    _, folder = unpacked(tag)
    program = tmp_path / "games.exe"
    source = RECORDED.with_name("games.c")
    options = ["-std=gnu99", "-Wall", "-Wextra", "-Werror", f"-I{paths.CPP}/include", *flags]
    succeed([*wheels.compiler(wheels.TARGETS[tag].triple, "cc"), *options, source, "-o", program])
    has, out = {*cpu_features().split()}, tmp_path / "out"
    able = [each for each in variants(tag) if has.issuperset(each.features)]
    assert able
    quiet = os.environ | {"WINEPREFIX": str(tmp_path / "wine"), "WINEDEBUG": "-all"}
    for variant in able:
        out.unlink(missing_ok=True)
        library = folder / "rungs" / "compiled" / file_name(variant)
        succeed([*runner, program, library, out, *games], env=quiet)
        assert hashlib.sha256(out.read_bytes()).hexdigest() == RECORDED.read_text().strip()
