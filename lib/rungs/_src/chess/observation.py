"""The observations of `cpp/env/observation.hpp`, by name."""

from typing import Any, Literal, TypeAlias

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
        when = f"{plies} {'ply' if plies == 1 else 'plies'} ago" if plies else "now"
        names += [f"own {piece}, {when}" for piece in _PIECES]
        names += [f"their {piece}, {when}" for piece in _PIECES]
        names += [f"position stood before, {when}", f"position stood twice before, {when}"]
    names += ["Black is to move", "number of the move"]
    names += [
        f"{side} right to castle {castling}"
        for side in ("own", "their")
        for castling in ("short", "long")
    ]
    return (*names, "halfmove clock")


def _other(name: str) -> str:
    owner, feature = name.split(" ", 1)
    return " ".join(({"own": "their", "their": "own"}.get(owner, owner), feature))


# The contents of AlphaZero's 119 planes.
PLANE_NAMES = _plane_names()

# By plane, the index of the plane that shows the same of the other side.
_OTHERS = [PLANE_NAMES.index(_other(name)) for name in PLANE_NAMES]

# Planes whose squares all hold a number; as a word of `bitplanes` it is the number itself.
NUMBER_PLANES = tuple(map(PLANE_NAMES.index, ("number of the move", "halfmove clock")))

_PLANES = (len(PLANE_NAMES), 8, 8)

# By `obs` and `dtype`: shape and dtype of one board's observation. The first of an `obs` is its
# default. NumPy has no bfloat16: arrays hold its bits.
OBSERVATIONS: dict[tuple[str, str], tuple[tuple[int, ...], type[Any]]] = {
    ("planes", "float32"): (_PLANES, np.float32),
    ("planes", "uint8"): (_PLANES, np.uint8),
    ("planes", "bfloat16"): (_PLANES, np.uint16),
    ("board", "int8"): ((72,), np.int8),
    ("bitplanes", "uint64"): ((len(PLANE_NAMES),), np.uint64),
}
DtypeName: TypeAlias = Literal["int8", "float32", "uint8", "bfloat16", "uint64"]
# The values of the setting `obs`, and what each means.
ObsName: TypeAlias = Literal["board", "planes", "bitplanes"]
OBS = {
    "board": "(N, 72) int8 (`cpp/env/observation.hpp`)",
    "planes": "(N, 119, 8, 8) of `dtype`, AlphaZero's with eight positions of history "
    "(`cpp/env/observation.hpp`)",
    "bitplanes": "(N, 119) uint64, the same for `rungs.chess.unpack_planes`",
}


def dtypes_of(obs: str) -> tuple[str, ...]:
    """Returns the dtypes of an `obs`, its default first."""
    return tuple(dtype for name, dtype in OBSERVATIONS if name == obs)


def format_name(obs: str, dtype: str) -> str:
    """Returns a format's name in `rungs::env::ObservationFormat`: "PLANES", "PLANES_UINT8"."""
    return (obs if dtype == dtypes_of(obs)[0] else f"{obs}_{dtype}").upper()


def mirrored(observation: np.ndarray, obs: str) -> np.ndarray:
    """Returns the observation of the side that is not to move, an array like it: the board flipped.

    The flag of the side to move is the same.

    Args:
        observation: (..., 72) int8 or (..., 119, 8, 8) of any dtype, of the side to move.
        obs: "board" or "planes".
    """
    flipped = np.empty_like(observation)
    if obs == "board":
        squares = observation[..., :64].reshape(*observation.shape[:-1], 8, 8)
        flipped[..., :64] = -squares[..., ::-1, :].reshape(*observation.shape[:-1], 64)
        flipped[..., 64:66], flipped[..., 66:68] = observation[..., 66:68], observation[..., 64:66]
        flipped[..., 68:] = observation[..., 68:]
        return flipped
    flipped[...] = observation[..., _OTHERS, ::-1, :]
    return flipped
