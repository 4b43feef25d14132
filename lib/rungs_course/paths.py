"""Folders of the source tree, whose notebooks, figures and data the course reads and writes."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# The C API in WebAssembly, which `make wasm` compiles.
WASM = ROOT / "lib" / "rungs" / "compiled" / "rungs.wasm"
