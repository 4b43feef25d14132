"""Builds a wheel for every platform on any of them: `python tools/wheels.py [TAG...]`, into dist/.

zig, of the extra `wheels`, compiles for all. Its cache keeps the C and C++ libraries of each.
"""

import argparse
import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
FOLDERS, FILES = ("cpp", "lib/rungs"), ("README.md", "pyproject.toml", "setup.py")


class Target(NamedTuple):
    """A platform that a wheel is for.

    Attributes:
        system: the platform, as Python calls it on such a machine.
        triple: as zig calls it, with the C library's or the system's oldest version.
    """

    system: str
    triple: str


# By the wheels' tags. glibc 2.17 is of 2012, and musl's tag is of what zig brings, 1.2.
TARGETS = {
    "manylinux_2_17_x86_64": Target("linux-x86_64", "x86_64-linux-gnu.2.17"),
    "manylinux_2_17_aarch64": Target("linux-aarch64", "aarch64-linux-gnu.2.17"),
    "musllinux_1_2_x86_64": Target("linux-x86_64", "x86_64-linux-musl"),
    "musllinux_1_2_aarch64": Target("linux-aarch64", "aarch64-linux-musl"),
    "macosx_11_0_x86_64": Target("macosx-11.0-x86_64", "x86_64-macos.11.0"),
    "macosx_11_0_arm64": Target("macosx-11.0-arm64", "aarch64-macos.11.0"),
    "win_amd64": Target("win-amd64", "x86_64-windows-gnu"),
}


def compiler(triple: str, language: str = "c++") -> list[str]:
    """Returns the command of zig's compiler for a target, without debug information.

    Args:
        triple: of a target.
        language: "c++" or "cc".

    Raises:
        SystemExit: zig is not installed.
    """
    package = importlib.util.find_spec("ziglang")
    if package is None or package.origin is None:
        sys.exit("zig is not here: pip install ziglang")
    # The optimisation is also that of the C++ library, which is compiled where code is linked.
    return [str(Path(package.origin).with_name("zig")), language, "-target", triple, "-O3", "-g0"]


def build(tag: str, out: Path) -> Path:
    """Builds the wheel of a tag of `TARGETS` into a folder, and returns its file.

    Raises:
        SystemExit: zig is not installed.
        subprocess.CalledProcessError: zig refuses the sources.
    """
    target = TARGETS[tag]
    host = {"CXX": " ".join(compiler(target.triple)), "_PYTHON_HOST_PLATFORM": target.system}
    host |= {"RUNGS_VARIANTS": "all"}
    # A copy, as what setuptools leaves in a tree would be in the next platform's wheel; always at
    # the same place, as by its path zig may find again what it has compiled.
    folder = ROOT / "build" / "wheels" / tag
    shutil.rmtree(folder, ignore_errors=True)
    for name in FOLDERS:
        shutil.copytree(ROOT / name, folder / name, symlinks=True)
    for name in FILES:
        shutil.copy(ROOT / name, folder)
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", out]
    option = f"--config-settings=--build-option=--plat-name={tag}"
    subprocess.run([*pip, option, folder], env=os.environ | host, check=True)
    (wheel,) = out.glob(f"*-py3-none-{tag}.whl")
    return wheel


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tags", nargs="*", choices=[[], *TARGETS], metavar="TAG", help="all")
    for tag in parser.parse_args().tags or TARGETS:
        wheel = build(tag, ROOT / "dist")
        print(f"{wheel.stat().st_size / 1e6:.1f} MB  {wheel.relative_to(ROOT)}", flush=True)


if __name__ == "__main__":
    main()
