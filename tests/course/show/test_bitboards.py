"""What is drawn of bitboards is what the rules say."""

import chess

from rungs_course import nb03_bitboards


def test_the_game_ends_in_mate():
    board = nb03_bitboards.after(len(nb03_bitboards.OPERA_GAME))
    assert board.is_checkmate()
    assert board.turn  # who moves is drawn as White


def test_a_fill_ends_where_the_piece_is_stopped():
    board = chess.Board("7k/8/8/8/3p4/8/8/R2Q3K w - - 0 1")
    found = [nb03_bitboards.filled(board, chess.A1, distance) for distance in (1, 3, 7)]
    steps = [
        {chess.B1, chess.A2},
        {chess.C1, chess.A3, chess.A4},
        {chess.square(0, r) for r in (4, 5, 6, 7)},
    ]
    assert list(map(set, found)) == [steps[0], steps[0] | steps[1], set.union(*steps)]


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
