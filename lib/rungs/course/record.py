"""Keeping a run's results as this machine's recorded ones."""

import shutil
from pathlib import Path

from rungs.atomic import written
from rungs.course import manifest as manifests
from rungs.course.chain import OUT
from rungs.errors import ConfigurationError
from rungs.machine.describe import slug
from rungs.measure import results
from rungs.show import readme


def record(out: Path = OUT, root: Path = manifests.ROOT) -> Path:
    """Copies the results of the run in `out` to `data/recorded/<machine>/` and into the README.

    Returns:
        The folder they went to.

    Raises:
        ConfigurationError: the run is not complete or not at size "full", or a result does not say
            where it comes from; nothing was recorded.
    """
    manifest = manifests.read(out)
    if (size := manifest["settings"]["size"]) != "full":
        raise ConfigurationError(
            f"the run in {out} is of size {size!r}; what is recorded is 'full'"
        )
    if not manifests.is_complete(manifest):
        raise ConfigurationError(f"the run in {out} is not complete; finish it with --resume")
    files = sorted((out / "results").glob("*.csv"))
    for file in files:
        results.load(file)
    folder = Path("data") / "recorded" / slug()
    for file in files:
        with written(root / folder / file.name) as unfinished:
            shutil.copyfile(file, unfinished)
    if all((root / folder / name).exists() for name in readme.NEEDED):
        readme.write(root, folder)
    return root / folder
