"""What an agent sees: the layouts of `cpp/env/{observation,planes}.hpp`, by name."""

import numpy as np

_PIECES = ("pawns", "knights", "bishops", "rooks", "queens", "king")

# Ranges of the 72 int8 of obs="board", and what they hold.
BOARD_FIELDS = {
    (0, 63): "squares a1 to h8: own pawn 1, knight 2, … king 6; theirs -1 … -6; empty 0",
    (64, 65): "own right to castle: short, long",
    (66, 67): "their right to castle: short, long",
    (68, 68): "file of a legal en-passant capture, else -1",
    (69, 69): "halfmove clock, at most 127",
    (70, 70): "how often the position stood before, 0 to 2",
    (71, 71): "side to move: 0 White, 1 Black",
}

HISTORY = 8


def _plane_names() -> tuple[str, ...]:
    names = []
    for plies in range(HISTORY):
        when = f"{plies} plies ago" if plies else "now"
        names += [f"own {piece}, {when}" for piece in _PIECES]
        names += [f"their {piece}, {when}" for piece in _PIECES]
        names += [f"position stood before, {when}", f"position stood twice before, {when}"]
    names += ["Black is to move", "number of the move"]
    names += [
        f"{side} right to castle {way}" for side in ("own", "their") for way in ("short", "long")
    ]
    return (*names, "halfmove clock")


# What each of AlphaZero's 119 planes shows.
PLANE_NAMES = _plane_names()

# Planes whose squares all hold a number; as a word of `bitplanes` it is the number itself.
NUMBER_PLANES = tuple(map(PLANE_NAMES.index, ("number of the move", "halfmove clock")))

# Shape and dtype of one board's observation, in the order of `rungs::env::ObservationFormat`.
OBSERVATIONS = {
    "board": ((72,), np.int8),
    "planes": ((len(PLANE_NAMES), 8, 8), np.float32),
    "bitplanes": ((len(PLANE_NAMES),), np.uint64),
}
