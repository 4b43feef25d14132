"""Compiles the C++ for each kind of processor into the wheel, which then fits every Python."""

import hashlib
import os
import runpy
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import ClassVar

from setuptools import Command, Distribution, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py

HERE = Path(__file__).parent
# In cpp/bindings.
SOURCES = ("c_api", "c_cartpole", "c_chess", "c_network", "c_search", "learn")
OPENMP_SOURCES = ("cartpole", "chess", "thread_pool")
FLAGS = "-O3 -std=c++20 -ffp-contract=off -fvisibility=hidden"
# By the first letters of what Python calls a platform. Code for Windows is MinGW's.
COMPILE = {"linux": "-fPIC", "macosx": "-fPIC", "win": ""}
LINK = {
    "linux": "-pthread -static-libstdc++ -static-libgcc -s -Wl,--version-script="
    + shlex.quote(str(HERE / "cpp/bindings/exports.map")),
    "macosx": "-pthread",
    "win": "-static -s",
}


def compilers(platform: str) -> list[str]:
    """Returns the compiler to use, Clang before g++: its code steps boards faster."""
    usual = ["g++"] if platform.startswith("win") else ["clang++", "g++"]
    asked = [os.environ["CXX"]] if "CXX" in os.environ else usual
    return [name for name in asked if shutil.which(name.split()[0])][:1]


def openmp_compilers(platform: str) -> list[str]:
    """Returns the g++ that compiles OpenMP's loops, on Linux: any runtime serves its code."""
    asked = os.environ.get("CXX", "g++")
    is_gcc = "g++" in Path(asked.split()[0]).name and shutil.which(asked.split()[0])
    return [asked] if platform.startswith("linux") and is_gcc else []


def processor_features() -> set[str]:
    """Returns this processor's instruction sets, as Linux names them; none on other systems.

    None either where code is compiled for another machine.
    """
    cpuinfo = Path("/proc/cpuinfo")
    if "_PYTHON_HOST_PLATFORM" in os.environ or not cpuinfo.exists():
        return set()
    return set(cpuinfo.read_text().split())


class Build(build_py):
    """Adds compiled code to the package, but to an editable one, which compiles when it is used."""

    def run(self):
        super().run()
        if self.editable_mode:
            return
        # Others than this machine's are asked for by _PYTHON_HOST_PLATFORM, CXX, macOS's ARCHFLAGS.
        platform = sysconfig.get_platform()
        found = compilers(platform)
        if not found:
            sys.exit("Rungs: no C++ compiler is here. Install a wheel of Rungs, or clang++ or g++.")
        variants = runpy.run_path(str(HERE / "lib/rungs/_src/native/variants.py"))
        made = variants["of_machine"](platform.rpartition("-")[2])
        with_openmp = made
        if os.environ.get("RUNGS_VARIANTS") != "all":
            made = variants["for_processor"](made, processor_features())
            with_openmp = made[:1]
        if platform.startswith("win") and "g++" in found[0]:
            made = made[-1:]  # MinGW's g++ doesn't align its stack as wider vectors need it
        folder = Path(self.build_lib, "rungs", "compiled")
        libraries = [
            (compiler, variant, openmp)
            for compilers, variants_made, openmp in (
                (found, made, False),
                (openmp_compilers(platform), with_openmp, True),
            )
            for compiler in compilers
            for variant in variants_made
        ]

        def build(library):
            compiler, variant, openmp = library
            file = folder / variants["file_name"](variant, openmp)
            file.parent.mkdir(parents=True, exist_ok=True)
            flags = variants["flags_for"](variant, compiler)
            compile_library(compiler, platform, flags, openmp, file)

        with ThreadPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(build, libraries))
        write_c_package(folder, self.distribution.get_version())
        # `native.wheel` compares what it loads with these, as `sha256sum --check` does.
        package = folder.parent
        files = sorted(folder.rglob("*.so"))
        hashes = [hashlib.sha256(file.read_bytes()).hexdigest() for file in files]
        names = [file.relative_to(package).as_posix() for file in files]
        lines = [f"{each}  {name}\n" for each, name in zip(hashes, names, strict=True)]
        (folder / "sha256sums").write_bytes("".join(lines).encode())  # no line ends of Windows


def compile_library(
    compiler: str, platform: str, variant: tuple[str, ...], openmp: bool, file: Path
) -> None:
    """Compiles one variant.

    Code with OpenMP's loops is not linked with a runtime: it takes the one that it finds in the
    process, PyTorch's or what `rungs._src.threads.openmp` loads.
    """
    (compiles,) = [COMPILE[name] for name in COMPILE if platform.startswith(name)]
    (links,) = [LINK[name] for name in LINK if platform.startswith(name)]
    options = [*os.environ.get("ARCHFLAGS", "").split()]
    names = OPENMP_SOURCES if openmp else SOURCES
    includes = "".join(f'#include "{name}.cpp"\n' for name in names)
    with tempfile.TemporaryDirectory() as objects:
        flags = [*FLAGS.split(), *compiles.split(), *variant, *(["-fopenmp"] if openmp else [])]
        # All in one unit, as each would compile the same headers.
        source = Path(objects, "library.cpp")
        source.write_text(includes)
        command = [*compiler.split(), "-c", *flags, *options, f"-I{HERE / 'cpp' / 'bindings'}"]
        subprocess.run([*command, source], cwd=objects, check=True)
        # The linker reads its flags where they stand.
        linked = Path(objects, file.name)  # beside which zig puts what is not for a wheel
        made = [*sorted(Path(objects).glob("*.o*")), "-o", linked, *shlex.split(links)]
        if "ziglang" in compiler:  # it links so in any case, and by `-static` means an archive
            made = [flag for flag in made if flag != "-static"]
        if platform.startswith("linux") and not openmp:
            made.append(f"-Wl,-soname,{file.name}")
        subprocess.run([*compiler.split(), "-shared", *options, *made], check=True)
        shutil.move(linked, file)


def write_c_package(folder: Path, version: str) -> None:
    """Writes what programs in other languages need beside the library: the folder is a prefix."""
    for source, place in (
        ("include/rungs.h", "include"),
        ("package/rungs.pc", "lib/pkgconfig"),
        ("package/rungsConfig.cmake", "lib/cmake/rungs"),
        ("package/rungsConfigVersion.cmake", "lib/cmake/rungs"),
    ):
        path = HERE / "cpp" / source
        (folder / place).mkdir(parents=True, exist_ok=True)
        (folder / place / path.name).write_text(path.read_text().replace("@VERSION@", version))


class Archive(Command):
    """Makes dist/rungs-VERSION-PLATFORM.tar.gz: the C library, as a wheel holds it."""

    user_options: ClassVar[list] = []

    def initialize_options(self):
        pass

    def finalize_options(self):
        pass

    def run(self):
        self.run_command("build_py")
        compiled = Path(self.get_finalized_command("build_py").build_lib, "rungs", "compiled")
        name = f"rungs-{self.distribution.get_version()}-{sysconfig.get_platform()}"
        pythons = shutil.ignore_patterns("sha256sums", "librungs-openmp-*")
        with tempfile.TemporaryDirectory() as parent:
            shutil.copytree(compiled, Path(parent, name), ignore=pythons)
            shutil.make_archive(str(Path("dist", name).resolve()), "gztar", parent, name)


class Wheel(bdist_wheel):
    """Says that the wheel is for every Python 3 on one platform."""

    def get_tag(self):
        return "py3", "none", super().get_tag()[2]


class Compiled(Distribution):
    """Has code for one platform, though no module of Python's."""

    def has_ext_modules(self):
        return True


setup(cmdclass={"archive": Archive, "build_py": Build, "bdist_wheel": Wheel}, distclass=Compiled)
