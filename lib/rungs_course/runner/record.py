"""Keeping a run's results as this machine's recorded ones."""

import json
import shutil
from pathlib import Path

from rungs._src.core.atomic import atomic_write
from rungs._src.machine.describe import SAME, describe, differing, slug
from rungs.errors import ConfigurationError
from rungs_course import pages, paths
from rungs_course.measure import results
from rungs_course.runner import manifest as manifests
from rungs_course.runner import pace, recorded
from rungs_course.runner.chain import OUT


def record(out: Path = OUT, root: Path = paths.ROOT) -> Path:
    """Keeps how long the notebooks of the run in `out` took, and its results if it is "full".

    Results go to `data/recorded/<machine>/`, in place of what was recorded there of the same
    notebooks, with a `record.json` that says of which machine, versions and runs they are; and into
    the README and the page of machines. `rungs_course.runner.recorded.check` says whether they are
    fit to be offered.

    Returns:
        What was written: the folder, or of a run of another size the file of its seconds.

    Raises:
        ConfigurationError: the run is not complete, or of another machine than this, a result is
            of another one or does not say where it comes from, or what was recorded before can't
            be read or is of another machine; nothing was recorded.
    """
    manifest = manifests.read(out)
    if not manifests.is_complete(manifest):
        raise ConfigurationError(f"the run in {out} is not complete; finish it with --resume")
    _require_here(f"the run in {out}", manifest["machine"])
    folder = Path("data") / "recorded" / slug()
    if (root / folder / recorded.NAME).exists():
        before = recorded.read(root / folder)["machine"]
        # Of tables from before processors were named, their numbers are not known.
        known = tuple(name for name in SAME if before.get(name) is not None)
        _require_here(f"the record in {folder}", before, known)
    if manifest["settings"]["size"] != "full":
        return pace.record(manifest, root / folder)
    files = sorted((out / "results").glob("[0-9][0-9]_*.csv"))
    for file in files:
        _require_here(str(file), results.load(file).attrs["provenance"])
    numbers = {name[:2] for name in manifest["notebooks"]}
    for old in (root / folder).glob("[0-9][0-9]_*.csv"):
        if old.name[:2] in numbers and not (out / "results" / old.name).exists():
            old.unlink()
    for file in files:
        with atomic_write(root / folder / file.name) as unfinished:
            shutil.copyfile(file, unfinished)
    pace.record(manifest, root / folder)
    with atomic_write(root / folder / recorded.NAME) as unfinished:
        unfinished.write_text(json.dumps(recorded.describe(manifest, root / folder), indent=1))
    pages.write_machines(root)
    usable = recorded.of_runs(root / folder)
    if usable.issuperset(pages.NEEDED):
        pages.write(root, folder, manifest["machine"], usable)
    return root / folder


def _require_here(what: str, machine: dict, names: tuple[str, ...] = SAME) -> None:
    if apart := differing(machine, describe(), names):
        raise ConfigurationError(f"{what} is of another machine than this one: {apart}")
