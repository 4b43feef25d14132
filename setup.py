"""Compiles the C++ for each kind of processor into the wheel, which then fits every Python."""

import os
import runpy
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py

HERE = Path(__file__).parent
FLAGS = "-O3 -std=c++20 -shared -fPIC -pthread -static-libstdc++ -static-libgcc -s -x c++"


def compilers() -> list[str]:
    """Returns the compiler to use, Clang before g++: its code steps boards faster."""
    asked = [os.environ["CXX"]] if "CXX" in os.environ else ["clang++", "g++"]
    return [name for name in asked if shutil.which(name.split()[0])][:1]


class Build(build_py):
    """Adds compiled code to the package, but to an editable one, which compiles when it is used."""

    def run(self):
        super().run()
        if self.editable_mode:
            return
        found = compilers()
        if not found:
            sys.exit("Rungs: no C++ compiler is here. Install a wheel of Rungs, or clang++ or g++.")
        variants = runpy.run_path(str(HERE / "lib/rungs/compile/variants.py"))
        folder = Path(self.build_lib, "rungs", "compiled")
        folder.mkdir(parents=True, exist_ok=True)
        header = HERE / "cpp" / "bindings" / "api.hpp"
        commands = [
            [
                *found[0].split(),
                *FLAGS.split(),
                *variant.flags,
                str(header),
                "-o",
                str(folder / variants["file_name"](variant)),
            ]
            for variant in variants["of_machine"](os.environ.get("RUNGS_MACHINE"))
        ]
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(lambda command: subprocess.run(command, check=True), commands))


class Wheel(bdist_wheel):
    """Says that the wheel is for every Python 3 on one platform."""

    def get_tag(self):
        return "py3", "none", super().get_tag()[2]


class Compiled(Distribution):
    """Has code for one platform, though no module of Python's."""

    def has_ext_modules(self):
        return True


setup(cmdclass={"build_py": Build, "bdist_wheel": Wheel}, distclass=Compiled)
