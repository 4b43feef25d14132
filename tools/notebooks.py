"""Checks by mypy that notebooks call what is there, with arguments that it takes.

Cells are written without types, so the rest of what mypy says of them is left out.
"""

import re
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import mypy.api
import nbformat
from nbconvert import PythonExporter

# Errors of names that were changed in modules and not in notebooks.
CHECKED = re.compile(r"Module.* has no attribute|\[call-arg\]")


def main() -> int:
    """Prints the errors of all notebooks; returns 1 if there are any."""
    with TemporaryDirectory() as folder:
        scripts = []
        for path in sorted(Path("notebooks").rglob("*.ipynb")):
            notebook = nbformat.read(path, as_version=4)
            script = Path(folder, f"{path.parent.name}_{path.stem}.py")
            script.write_text(PythonExporter().from_notebook_node(notebook)[0])
            scripts.append(str(script))
        printed, failed, _ = mypy.api.run(["--check-untyped-defs", *scripts])
    errors = [Path(line).name for line in printed.splitlines() if CHECKED.search(line)]
    print(*errors, f"{len(scripts)} notebooks, {len(errors)} wrong calls", sep="\n")
    if failed:
        print(failed)
    return int(bool(errors or failed))


if __name__ == "__main__":
    sys.exit(main())
