"""Small faults, each of which some test must notice: `python -m tests.proof.mutants`.

They are data: a TOML file for each area, in it a table for each file that has faults, and there
`"FAULT" = [OLD, NEW, TEST…]`, as `Mutant` says. A fault that names no test has the `tests` of its
table, else of its area; `"system"` and `"hangs"` among the tests say `tier` and `hangs`.
"""

import dataclasses
import tomllib
from collections.abc import Iterator
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
        tests: which must notice: files of tests, or `file::test`, the likeliest first; in TOML
            from `tests/` on.
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


def _read(area: Path) -> Iterator[Mutant]:
    """Yields the mutants of an area."""
    tables = tomllib.loads(area.read_text())
    of_area = tables.pop("tests", [])
    for file, faults in tables.items():
        of_file = faults.pop("tests", of_area)
        for fault, (old, new, *rest) in faults.items():
            tests = [test for test in rest if test not in ("system", "hangs")] or of_file
            yield Mutant(
                area.stem,
                file,
                fault,
                old,
                new,
                tuple(f"tests/{test}" for test in tests),
                "system" if "system" in rest else "default",
                "hangs" in rest,
            )


MUTANTS = [
    mutant for area in sorted(Path(__file__).parent.glob("*.toml")) for mutant in _read(area)
]
