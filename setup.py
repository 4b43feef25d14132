"""Compiles the C++ for each kind of processor into the wheel, which then fits every Python."""

import hashlib
import os
import runpy
import shutil
import subprocess
import sys
import sysconfig
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py

HERE = Path(__file__).parent
SOURCES = ("cartpole", "chess", "learn", "search", "thread_pool")  # in cpp/bindings
FLAGS = "-O3 -std=c++20 -ffp-contract=off -shared"
# By the first letters of what Python calls a platform. Code for Windows is MinGW's.
OF_PLATFORM = {
    "linux": "-fPIC -pthread -static-libstdc++ -static-libgcc -s",
    "macosx": "-fPIC -pthread",
    "win": "-static -s",
}


def compilers(platform: str) -> list[str]:
    """Returns the compiler to use, Clang before g++: its code steps boards faster."""
    usual = ["g++"] if platform.startswith("win") else ["clang++", "g++"]
    asked = [os.environ["CXX"]] if "CXX" in os.environ else usual
    return [name for name in asked if shutil.which(name.split()[0])][:1]


class Build(build_py):
    """Adds compiled code to the package, but to an editable one, which compiles when it is used."""

    def run(self):
        super().run()
        if self.editable_mode:
            return
        # Others than this machine's are asked for by _PYTHON_HOST_PLATFORM, CXX, macOS's ARCHFLAGS.
        platform = sysconfig.get_platform()
        (of_platform,) = [OF_PLATFORM[name] for name in OF_PLATFORM if platform.startswith(name)]
        found = compilers(platform)
        if not found:
            sys.exit("Rungs: no C++ compiler is here. Install a wheel of Rungs, or clang++ or g++.")
        variants = runpy.run_path(str(HERE / "lib/rungs/_src/native/variants.py"))
        made = variants["of_machine"](platform.rpartition("-")[2])
        if platform.startswith("win"):
            made = made[-1:]  # MinGW's g++ doesn't align its stack as wider vectors need it
        folder = Path(self.build_lib, "rungs", "compiled")
        folder.mkdir(parents=True, exist_ok=True)
        sources = [str(HERE / "cpp" / "bindings" / f"{name}.cpp") for name in SOURCES]
        commands = [
            [
                *found[0].split(),
                *FLAGS.split(),
                *variant.flags,
                *os.environ.get("ARCHFLAGS", "").split(),
                *sources,
                "-o",
                str(folder / variants["file_name"](variant)),
                *of_platform.split(),  # the linker reads them where they stand
            ]
            for variant in made
        ]
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(lambda command: subprocess.run(command, check=True), commands))
        # `native.wheel` compares what it loads with these, as `sha256sum --check` does.
        package = folder.parent
        files = sorted(folder.glob("*.so"))
        hashes = [hashlib.sha256(file.read_bytes()).hexdigest() for file in files]
        names = [file.relative_to(package).as_posix() for file in files]
        lines = [f"{each}  {name}\n" for each, name in zip(hashes, names, strict=True)]
        (folder / "sha256sums").write_bytes("".join(lines).encode())  # no line ends of Windows


class Wheel(bdist_wheel):
    """Says that the wheel is for every Python 3 on one platform."""

    def get_tag(self):
        return "py3", "none", super().get_tag()[2]


class Compiled(Distribution):
    """Has code for one platform, though no module of Python's."""

    def has_ext_modules(self):
        return True


setup(cmdclass={"build_py": Build, "bdist_wheel": Wheel}, distclass=Compiled)
