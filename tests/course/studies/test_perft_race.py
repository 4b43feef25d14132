"""Move generators side by side."""

import pytest

from rungs._src.chess.engine import find_program
from rungs._src.chess.perft import perft_cpp, perft_python
from rungs.errors import EngineError, MismatchError
from rungs_course.measure.valgrind import have_valgrind
from rungs_course.nb03_perft import engine_name, instructions_by_header, perft_race, stockfish

DEPTHS = {"start": 3, "Kiwipete": 2}


def test_all_count_the_same_and_are_timed():
    frame = perft_race({"ours": perft_cpp, "python": perft_python}, DEPTHS, repeats=2)
    assert len(frame) == 2 * 2 * 2
    assert set(frame.query("position == 'start'")["leaves"]) == {8902}
    assert set(frame.query("position == 'Kiwipete'")["leaves"]) == {2039}
    assert (frame["seconds"] > 0).all()


def test_one_that_miscounts_is_named():
    with pytest.raises(MismatchError, match="liar"):
        perft_race({"ours": perft_cpp, "liar": lambda fen, depth: 1}, DEPTHS, repeats=1)


@pytest.mark.skipif(not find_program("stockfish"), reason="stockfish is not installed")
def test_stockfish_counts_too():
    program = find_program("stockfish")
    assert engine_name(program).startswith("Stockfish")
    with stockfish(program) as count:
        perft_race({"ours": perft_cpp, "Stockfish": count}, DEPTHS, repeats=1)


def test_a_program_that_stops_is_an_error():
    with pytest.raises(EngineError, match="true stopped"), stockfish("true"):
        pass


@pytest.mark.system
@pytest.mark.skipif(not have_valgrind(), reason="valgrind is not installed")
def test_instructions_are_counted_by_header():
    few, more = (
        instructions_by_header(boards=4, steps=10, mask=mask).set_index("header")["instructions"]
        for mask in ("bits", "bool")
    )
    assert few["chess/movegen.hpp"] == more["chess/movegen.hpp"] > 50
    # 73 planes of 64 bytes each, by registers of 32.
    assert more["env/mask.hpp"] > 73 * 2
    assert few.sum() < more.sum()
    assert few.get("the C++ library", 0) < 20
