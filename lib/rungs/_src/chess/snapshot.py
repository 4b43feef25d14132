"""Copies of boards that are kept in memory, to be put back as often as wanted."""

import dataclasses
from typing import Any, NoReturn

import numpy as np

from rungs._src.chess.settings import ChessSettings
from rungs._src.core.arguments import Seed, shown
from rungs.errors import InvalidStateError


@dataclasses.dataclass(frozen=True, eq=False)
class Snapshot:
    """Copies of boards; `ChessVectorEnv.snapshot` makes them, `restore` puts them back.

    Its content is in the rung's own format, and never changes. It is trusted, not checked, so it
    stays in its process: `get_state` makes a state that can be sent.

    Attributes:
        indices: (n,) int64, the boards that were copied.
        seed: by which they drew random numbers; or (N,) uint64, one per board of their environment.
        settings: those of their environment.
        layout: what their rung keeps of a board, as `Boards.layout` returns it.
        boards: the copies, as `CopyableBoards.save` made them.
    """

    indices: np.ndarray
    seed: Seed
    settings: ChessSettings = dataclasses.field(repr=False)
    layout: str = dataclasses.field(repr=False)
    boards: Any = dataclasses.field(repr=False)

    def check_fits(self, settings: ChessSettings, layout: str) -> None:
        """Raises InvalidStateError, which names what differs, unless copies fit such a rung."""
        saved = self.settings.given() | {"layout": self.layout}
        expected = settings.given() | {"layout": layout}
        for name in expected:
            if saved[name] != expected[name]:
                raise InvalidStateError(
                    "the snapshot is of another environment: "
                    f"{name} is {shown(saved[name])}, not {shown(expected[name])}"
                )

    def __reduce__(self) -> NoReturn:
        raise InvalidStateError("a snapshot stays in its process: get_state() makes what can leave")
