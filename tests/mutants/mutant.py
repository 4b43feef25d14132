"""A fault, as a substitution of text."""

import dataclasses
from pathlib import Path

# Whose tests see a fault, by pytest's marks: `make test`'s, or only `make test-all`'s.
TIERS = {"default": "not slow and not system", "system": "not slow"}


@dataclasses.dataclass(frozen=True)
class Mutant:
    """One small fault.

    Attributes:
        name: what it is called, in a word or a few with hyphens.
        file: which file of the source tree it changes.
        old: a text that is there exactly once.
        new: what stands there instead.
        breaks: what it breaks, in a line.
        tests: who must notice: files of tests, or `file::test`, the likeliest first.
        tier: of `TIERS`.
    """

    name: str
    file: str
    old: str
    new: str
    breaks: str
    tests: tuple[str, ...]
    tier: str = "default"

    def changed(self, root: Path) -> str:
        """The file with the fault in it."""
        text = (root / self.file).read_text()
        found = text.count(self.old)
        assert found == 1, f"{self.name}: {self.file} holds {self.old!r} {found} times, not once"
        return text.replace(self.old, self.new)
