"""What is drawn of bitboards is what the rules say."""

import chess
import pytest

from rungs_course import nb03_bitboards

BOARDS = [nb03_bitboards.after(plies) for plies in range(len(nb03_bitboards.OPERA_GAME))]


def test_the_game_ends_in_mate():
    board = nb03_bitboards.after(len(nb03_bitboards.OPERA_GAME))
    assert board.is_checkmate()
    assert board.turn  # who moves is drawn as White


@pytest.mark.parametrize("way", range(8))
def test_a_fill_ends_where_the_piece_is_stopped(way):
    east, north = ((0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1), (-1, 0), (-1, 1))[way]
    for board in BOARDS[::5]:
        for square in chess.SQUARES:
            expected, file, rank = 1 << square, square % 8 + east, square // 8 + north
            while 0 <= file < 8 and 0 <= rank < 8 and not board.piece_at(8 * rank + file):
                expected |= 1 << (8 * rank + file)
                file, rank = file + east, rank + north
            *grown, filled = nb03_bitboards.fill_stages(1 << square, ~board.occupied, way)
            assert filled == expected
            assert all(a & ~b == 0 for a, b in zip(grown, [*grown[1:], filled], strict=True))


def test_only_pieces_that_shield_their_king_are_pinned():
    board = chess.Board("4r1k1/8/8/8/7b/8/4NP2/4K3 w - - 0 1")
    assert nb03_bitboards.pinned(board) == [chess.E2, chess.F2]


def test_the_widget_offers_the_pieces_of_who_moves_and_draws_one():
    widget = nb03_bitboards.explore_bitboards(24)
    assert widget.children[1].value is not None  # a piece, and so a picture, from the start
    plies, piece, _ = widget.children
    assert len(piece.options) == chess.popcount(nb03_bitboards.after(24).occupied_co[chess.WHITE])
    plies.value = 0
    assert {name[0] for name, _ in piece.options} == set("PRNBQK")
