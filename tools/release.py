"""Builds a release of the last commit into dist/ and tries it: `tools/release.py [PYTHON...]`.

A release is the source distribution and, from it, this platform's wheel. Each is installed in an
empty environment of each Python, where it plays the recorded games.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
DIST = ROOT / "dist"
GAMES = ROOT / "tests" / "proof" / "anywhere" / "games.py"


def build(folder: Path) -> list[Path]:
    """Builds both files from a copy of the last commit in `folder`, and returns them."""
    archive = subprocess.run(["git", "archive", "HEAD"], cwd=ROOT, check=True, capture_output=True)
    subprocess.run(["tar", "--extract", "-C", folder], input=archive.stdout, check=True)
    subprocess.run([sys.executable, "setup.py", "--quiet", "sdist"], cwd=folder, check=True)
    made = folder / "dist"
    (source,) = made.iterdir()
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", made]
    subprocess.run([*pip, source], env=os.environ | {"RUNGS_VARIANTS": "all"}, check=True)
    DIST.mkdir(exist_ok=True)
    return [Path(shutil.copy(file, DIST)) for file in sorted(made.iterdir())]


def pythons() -> list[str]:
    """Returns the Pythons on the path that Rungs supports and that start."""
    found = (shutil.which(f"python3.{minor}") for minor in range(11, 30))
    return [path for path in found if path and not subprocess.run([path, "-c", ""]).returncode]


def try_out(file: Path, python: str, folder: Path) -> str:
    """Plays the recorded games in an empty environment; returns which library played them."""
    subprocess.run([python, "-m", "venv", folder], check=True)
    own = folder / "bin" / "python"
    subprocess.run([own, "-m", "pip", "install", "--quiet", file], check=True)
    plain = {name: value for name, value in os.environ.items() if not name.startswith("RUNGS_")}
    play = [own, "-P", GAMES]
    return subprocess.check_output(play, env=plain, cwd=folder, text=True).strip()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pythons", nargs="*", metavar="PYTHON", help="default: those on the path")
    chosen = parser.parse_args().pythons or pythons()
    with tempfile.TemporaryDirectory() as folder:
        files = build(Path(folder))
    for file in files:
        print(f"{file.stat().st_size / 1e6:.1f} MB  {file.relative_to(ROOT)}", flush=True)
    for python in chosen:
        for file in files:
            with tempfile.TemporaryDirectory() as folder:
                played = try_out(file, python, Path(folder))
            print(f"{python}: {file.name} plays the recorded games by {played}", flush=True)


if __name__ == "__main__":
    main()
