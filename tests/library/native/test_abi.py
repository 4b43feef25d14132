"""Structures are as C++ describes them; a difference in Python is an error that names the field."""

import ctypes

import numpy as np
import pytest

import rungs
from rungs._src.chess import buffers
from rungs._src.chess.boards import native
from rungs._src.chess.reason import Reason
from rungs._src.core.philox import Purpose
from rungs._src.native import abi, loader
from rungs.errors import CompilerError
from tests.tiers import system_tier

TEAM = """structure Team 32
field threads 0 i4
field schedule 4 i4 STATIC=0 DYNAMIC=1
field flags 8 *b1
field bytes 16 *u1
field rest 24 *V16
"""
VALUES = {"threads": 3, "schedule": "DYNAMIC", "flags": None, "bytes": None, "rest": None}


def team(values, text=TEAM):
    return abi.parse(text.encode()).structures["Team"](**values)


def test_a_pointer_takes_an_array_of_its_numbers_and_bytes_take_any():
    flags, numbers = np.zeros(2, np.bool_), np.zeros(2, np.float64)
    made = team(VALUES | {"flags": flags, "bytes": numbers, "rest": numbers})
    assert made.flags == flags.ctypes.data
    assert made.bytes == made.rest == numbers.ctypes.data
    with pytest.raises(CompilerError, match=r"flags.*bool.*float64"):
        team(VALUES | {"flags": numbers})


def test_all_fields_must_be_given_and_no_others():
    missing = {name: value for name, value in VALUES.items() if name != "rest"}
    wrong = {"rest": missing, "more": VALUES | {"more": 1}, "SLOW": VALUES | {"schedule": "SLOW"}}
    for named, values in wrong.items():
        with pytest.raises(CompilerError, match=f"Team.*{named}"):
            team(values)


@pytest.mark.parametrize(
    ("line", "other", "why"),
    [
        ("field flags 8", "field flags 12", "flags.* 8 .* 12 "),
        ("Team 32", "Team 40", "size.* 32 .* 40 "),
        ("threads 0 i4", "threads 0 i16", "threads.* i16"),
        ("field threads 0 i4\n", "", "schedule.* 0 .* 4 "),
    ],
)
def test_a_field_at_another_offset_is_named(line, other, why):
    assert line in TEAM
    with pytest.raises(CompilerError, match=f"Team: {why}"):
        team(VALUES, TEAM.replace(line, other))


def test_an_unknown_name_is_named():
    found = abi.described(loader.load())
    for kind in ("structures", "enumerations", "constants"):
        with pytest.raises(CompilerError, match="Nothing"):
            getattr(found, kind)["Nothing"]


@pytest.mark.parametrize("compiler", ["g++", *system_tier("cling")])
def test_every_compiler_describes_the_same(compiler):
    found = abi.described(loader.load(compiler))
    sizes = {name: ctypes.sizeof(each) for name, each in found.structures.items()}
    assert sizes["ChessBatch"] == 8 * (2 + len(buffers.OUTPUTS) + 5) + sizes["ChessConfig"]
    assert found.structures["ChessConfig"].number("mask", "LIST") == 2
    assert found.enumerations["Reason"] == {
        each.name: each for each in Reason if each != Reason.MAX_PLIES
    }
    assert found.enumerations["Purpose"] == {each.name: each for each in Purpose}
    assert "rungs_chess_perft" in found.functions


def test_an_output_or_a_setting_that_differs_is_named_where_boards_are_made(monkeypatch):
    for name, made in (("loud", ((), np.int8)), ("reward", ((), np.float64))):
        with monkeypatch.context() as patch:
            patch.setitem(buffers.OUTPUTS, name, lambda settings, made=made: made)
            with pytest.raises(CompilerError, match=f"ChessBatch: {name}"):
                rungs.make("chess", "cpp", 1)
    description = abi.parse(
        b"structure ChessConfig 16\nfield seed 0 u8\nfield loud 8 u4\n"
        b"structure ChessBatch 16\nfield config 0 ChessConfig\n"
    )
    monkeypatch.setattr(native, "described", lambda api: description)
    with pytest.raises(CompilerError, match="ChessConfig: loud"):
        rungs.make("chess", "cpp", 1)
