"""Compiles the C API to WebAssembly: `python -m tools.wasm`, for JavaScript.

zig, of the extra `wheels`, compiles it, on any platform. It keeps what it has compiled.
"""

import gzip
import re
import subprocess
from pathlib import Path

from rungs_course.paths import WASM
from tools.wheels import ROOT, compiler

SOURCES = ("c_api", "c_cartpole", "c_chess", "c_network", "c_search")
# Every engine has SIMD128 since 2023. A reactor has no `main`: `_initialize` is called first.
FLAGS = (
    *("-msimd128", "-mexec-model=reactor", "-s", "-std=c++20", "-ffp-contract=off"),
    *("-fno-exceptions", "-fno-rtti", "-fvisibility=hidden"),
)


def exported() -> list[str]:
    """Returns the names of what the module exports: what `rungs.h` declares, malloc and free."""
    header = (ROOT / "cpp/include/rungs.h").read_text()
    return [*re.findall(r"^RUNGS_API [^(]*?(\w+)\(", header, re.MULTILINE), "malloc", "free"]


def build(out: Path) -> None:
    """Compiles the module into a file.

    Raises:
        SystemExit: zig is not installed.
        subprocess.CalledProcessError: zig refuses the sources.
    """
    sources = [ROOT / "cpp" / "bindings" / f"{name}.cpp" for name in SOURCES]
    exports = [f"-Wl,--export={name}" for name in exported()]
    out.parent.mkdir(parents=True, exist_ok=True)
    zig = compiler("wasm32-wasi")
    subprocess.run([*zig, *FLAGS, *exports, *sources, "-o", out], check=True)
    out.chmod(0o644)


if __name__ == "__main__":
    build(WASM)
    content = WASM.read_bytes()
    sizes = f"{len(content) / 1e3:.0f} kB, {len(gzip.compress(content)) / 1e3:.0f} kB by gzip"
    print(f"{sizes}  {WASM.relative_to(ROOT)}")
