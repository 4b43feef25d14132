"""Keeping a run's results as this machine's recorded ones."""

import shutil
from pathlib import Path

from rungs import paths
from rungs.core.atomic import written
from rungs.course import manifest as manifests
from rungs.course import pace
from rungs.course.chain import OUT
from rungs.errors import ConfigurationError
from rungs.machine.describe import slug
from rungs.measure import results
from rungs.show import readme


def record(out: Path = OUT, root: Path = paths.ROOT) -> Path:
    """Keeps how long the notebooks of the run in `out` took, and its results if it is "full".

    Results go to `data/recorded/<machine>/` and into the README.

    Returns:
        What was written: the folder, or of a run of another size the file of its seconds.

    Raises:
        ConfigurationError: the run is not complete, or a result does not say where it comes from;
            nothing was recorded.
    """
    manifest = manifests.read(out)
    if not manifests.is_complete(manifest):
        raise ConfigurationError(f"the run in {out} is not complete; finish it with --resume")
    folder = Path("data") / "recorded" / slug()
    if manifest["settings"]["size"] != "full":
        return pace.record(manifest, root / folder)
    files = sorted((out / "results").glob("[0-9][0-9]_*.csv"))
    for file in files:
        results.load(file)
    for file in files:
        with written(root / folder / file.name) as unfinished:
            shutil.copyfile(file, unfinished)
    pace.record(manifest, root / folder)
    if all((root / folder / name).exists() for name in readme.NEEDED):
        readme.write(root, folder)
    return root / folder
