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

    What it holds is the rung's own, and never changes. It is trusted, not checked, so it stays in
    its process: `get_state` makes a state that can be sent.

    Attributes:
        indices: (n,) int64, the boards that were copied.
        seed: whose random numbers they drew, or (N,) uint64 of each board of their environment.
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
        """Makes sure that boards of a rung with these settings can become the copies.

        Raises:
            InvalidStateError: they can't; the message says what differs.
        """
        theirs = self.settings.given() | {"layout": self.layout}
        ours = settings.given() | {"layout": layout}
        for name in ours:
            if theirs[name] != ours[name]:
                raise InvalidStateError(
                    "the snapshot is of another environment: "
                    f"{name} is {shown(theirs[name])}, not {shown(ours[name])}"
                )

    def __reduce__(self) -> NoReturn:
        raise InvalidStateError("a snapshot stays in its process: get_state() makes what can leave")
