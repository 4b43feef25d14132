"""Small faults, each of which some test must notice: `python -m tests.proof.mutants`.

They are data: a TOML file for each area, in it `["FILE"."FAULT"]` with what `Mutant` lists.
"""

import dataclasses
import tomllib
from pathlib import Path

# Whose tests see a fault, by pytest's marks: `make test`'s, or only `make test-all`'s.
TIERS = {"default": "not slow and not system", "system": "not slow"}


@dataclasses.dataclass(frozen=True)
class Mutant:
    """One small fault, as a substitution of text.

    Attributes:
        area: the file of TOML that it is of.
        file: which file of the source tree it changes.
        fault: what it breaks, in a line.
        old: a text that is there exactly once.
        new: what replaces it.
        tests: which must notice: files of tests, or `file::test`, the likeliest first.
        tier: of `TIERS`.
        hangs: whether it is noticed by tests that never end.
    """

    area: str
    file: str
    fault: str
    old: str
    new: str
    tests: tuple[str, ...]
    tier: str = "default"
    hangs: bool = False

    def changed(self, root: Path) -> str:
        """Returns the file with the fault in it."""
        text = (root / self.file).read_text()
        found = text.count(self.old)
        assert found == 1, f"{self.fault}: {self.file} holds {self.old!r} {found} times, not once"
        return text.replace(self.old, self.new)


MUTANTS = [
    Mutant(area.stem, file, fault, **fields | {"tests": tuple(fields["tests"])})
    for area in sorted(Path(__file__).parent.glob("*.toml"))
    for file, faults in tomllib.loads(area.read_text()).items()
    for fault, fields in faults.items()
]
