"""A struct that Python and C++ see differently is refused, by the name of the field."""

import ctypes

import pytest

from rungs.chess.boards.native import ChessBatch, Team
from rungs.compile import cling, layout
from rungs.errors import CompilerError


class Swapped(ctypes.Structure):
    """`rungs::openmp::Team`, with its first two fields in the wrong order."""

    _fields_ = (
        ("schedule", ctypes.c_int32),
        ("threads", ctypes.c_int32),
        ("chunk", ctypes.c_int64),
    )


class Short(ctypes.Structure):
    """`rungs::openmp::Team`, without its last field."""

    _fields_ = Team._fields_[:-1]


class Long(Team):
    """`rungs::openmp::Team`, and a field that nobody knows."""

    _fields_ = (("more", ctypes.c_int64),)


def check(**structs):
    layout.check(cling.load().rungs_chess_layout, structs)


def test_the_same_are_accepted():
    check(ChessBatch=ChessBatch, Team=Team)


@pytest.mark.parametrize(
    ("picture", "why"),
    [
        (Swapped, "Team: threads is 4 in Python, 0 in C"),
        (Long, "Team: size is 24 in Python, 16 in C"),
        (Short, "Team: chunk is None in Python, 8 in C"),
    ],
)
def test_a_field_elsewhere_is_named(picture, why):
    with pytest.raises(CompilerError, match=why):
        check(ChessBatch=ChessBatch, Team=picture)


def test_a_text_that_was_cut_is_said_to_be():
    def tell(address):
        lines = "".join(f"Team field{i} {i}\n" for i in range(1000)).encode()
        ctypes.memmove(address, lines[: layout._ROOM - 1] + b"\0", layout._ROOM)

    with pytest.raises(CompilerError, match="the layout of Team takes 4096 bytes or more"):
        layout.check(tell, {"Team": Team})
