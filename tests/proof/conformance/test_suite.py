"""The suite says what python-chess says."""

import chess
import pytest

from rungs import conformance
from rungs._src.conformance.environments import PythonChess
from rungs._src.conformance.run import PASSES, check
from rungs._src.conformance.suite import ENDINGS, load
from rungs.errors import ConfigurationError

SUITE = load()
BY_ID = {case.id: case for case in SUITE.cases}


def played(case):
    board = case.board()
    for move in case.moves:
        board.push(board.parse_uci(move))  # refuses what is illegal
    return board


@pytest.mark.parametrize("case", SUITE.cases, ids=lambda case: case.id)
def test_python_chess_says_the_same(case):
    board = played(case)
    if case.legal is not None and case.group != "after the end":
        assert sorted(move.uci() for move in board.legal_moves) == list(case.legal)
    ends = {
        "checkmate": board.is_checkmate(),
        "stalemate": board.is_stalemate(),
        "insufficient material": board.is_insufficient_material(),
        "fifty moves": board.is_fifty_moves(),
        "threefold repetition": board.is_repetition(3),
    }
    if case.ending in ENDINGS:
        assert ends[case.ending]
        if case.ending != "checkmate":
            assert not board.is_checkmate()
    elif case.ending is not None:
        assert not any(ends.values())
    if case.rewards is not None and case.ending == "checkmate":
        assert case.rewards == ((-1, 1) if board.turn == chess.WHITE else (1, -1))
    elif case.rewards is not None:
        assert case.rewards == (0, 0)


def test_python_chess_behind_the_protocol_passes():
    results = conformance.run(PythonChess(), SUITE.cases)
    assert {result.status for result in results} == {PASSES}


def test_every_group_has_cases_and_says_what_it_is_about():
    assert {case.group for case in SUITE.cases} == set(SUITE.groups)
    for case in SUITE.cases:
        assert case.why
        assert case.legal is not None or case.ending is not None, case.id
        assert board_is_valid(case)


def board_is_valid(case):
    # Two published positions have a check that no game leads to.
    may = chess.STATUS_IMPOSSIBLE_CHECK | chess.STATUS_TOO_MANY_CHECKERS
    return not case.board().status() & ~may


def test_what_the_issue_of_a_case_is_is_in_it():
    assert len(BY_ID["most-moves-white"].legal) == len(BY_ID["most-moves-black"].legal) == 218
    assert "e5d6" in BY_ID["ep-white"].legal
    for name in ("ep-pinned-on-file", "ep-pinned-on-rank", "ep-pinned-on-diagonal"):
        assert played(BY_ID[name]).ep_square == chess.D6
        assert "e5d6" not in BY_ID[name].legal
    board = played(BY_ID["castle-rook-captured"])
    assert board.piece_at(chess.H1) == chess.Piece.from_symbol("R")
    assert "e1g1" not in BY_ID["castle-rook-captured"].legal
    assert played(BY_ID["fifty-moves-and-mate"]).halfmove_clock == 100
    assert played(BY_ID["fifty-moves-and-mate-from-the-start"]).halfmove_clock == 100
    assert len(BY_ID["limit-of-its-own"].moves) > 512


GROUP = 'version=1\n[[group]]\nname="a"\nsource=""\nwhat=""\nkind='
CASE = f'{GROUP}"law"\n[[case]]\nid="x"\nwhy=""\ngroup='


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("version = 1", "has no 'group'"),
        ("version = ", "can't be read"),
        (f'{CASE}"b"', "'x' is there twice, or of"),
        (f'case=[]\n{GROUP}"odd"', "of kind 'odd'"),
        (f'{CASE}"a"\nlegall=""', "legall"),
        (f'{CASE}"a"\nending="lost"', "ends by 'lost'"),
    ],
)
def test_a_malformed_suite_is_refused(tmp_path, text, says):
    (tmp_path / "suite.toml").write_text(text)
    with pytest.raises(ConfigurationError, match=says):
        load(tmp_path / "suite.toml")


def test_an_unknown_group_is_named():
    assert {case.group for case in SUITE.of_groups(["limits"]).cases} == {"limits"}
    with pytest.raises(ConfigurationError, match=r"no group castles; there are: .*castling"):
        SUITE.of_groups(["castles"])


def test_a_case_is_played_whole_again():
    environment = PythonChess()
    assert [check(environment, BY_ID["castle-mates"]).status for _ in range(2)] == [PASSES] * 2
