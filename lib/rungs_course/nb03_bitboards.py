"""Sets of squares to look into: how a fill grows, what is pinned, what answers a check, and the
planes of the mask that a piece is in.

All boards are seen from the side to move, as the generator sees them.
"""

import chess
import ipywidgets
import matplotlib.patches
import numpy as np
from IPython.display import display

from rungs._src.chess.actions import legal_actions, target_of
from rungs_course import plots
from rungs_course.boards import empty_board
from rungs_course.plots import image
from rungs_course.widgets import WHOLE_LABEL

# Paul Morphy against the Duke of Brunswick and Count Isouard, Paris 1858.
_OPERA_GAME = """
e4 e5 Nf3 d6 d4 Bg4 dxe5 Bxf3 Qxf3 dxe5 Bc4 Nf6 Qb3 Qe7 Nc3 c6 Bg5 b5 Nxb5 cxb5 Bxb5+ Nbd7
O-O-O Rd8 Rxd7 Rxd7 Rd1 Qe6 Bxd7+ Nxd7 Qb8+ Nxb8 Rd8#"""
OPERA_GAME = _OPERA_GAME.split()

_ALL = (1 << 64) - 1
_FILE_A, _RANK_1 = 0x0101010101010101, 0xFF
_FILE_H, _RANK_8 = _FILE_A << 7, _RANK_1 << 56
# As `kStep` and `kInside` of cpp/chess/bitboard.hpp: in compass order from the north.
_STEP = (8, 9, 1, 57, 56, 55, 63, 7)
_EDGE = (
    *(_RANK_1, _RANK_1 | _FILE_A, _FILE_A, _RANK_8 | _FILE_A),
    *(_RANK_8, _RANK_8 | _FILE_H, _FILE_H, _RANK_1 | _FILE_H),
)
_WAYS = {
    chess.ROOK: (0, 2, 4, 6),
    chess.BISHOP: (1, 3, 5, 7),
    chess.QUEEN: tuple(range(8)),
    chess.KING: tuple(range(8)),
}
# What is reached first, by two more, by four more.
_STAGES = (plots.BLUE, plots.SKY, plots.ORANGE)


def after(plies: int) -> chess.Board:
    """Returns the Opera Game's position after `plies` plies, seen from the side to move."""
    board = chess.Board()
    for san in OPERA_GAME[:plies]:
        board.push_san(san)
    return board if board.turn else board.mirror()


def pinned(board: chess.Board) -> list[int]:
    """Returns the squares of the mover's pinned pieces; the board is seen from that side."""
    own = chess.SquareSet(board.occupied_co[chess.WHITE])
    return [square for square in own if board.is_pinned(chess.WHITE, square)]


def fill_stages(pieces: int, empty: int, way: int) -> list[int]:
    """Fills as `fill` of cpp/chess/bitboard.hpp does, in one direction of the compass.

    Args:
        pieces: a set of squares.
        empty: the squares that let through.
        way: 0 is north, 1 north-east, and so on clockwise.

    Returns:
        The set at the beginning, and after steps by one, by two and by four.
    """
    stages, reach = [pieces], empty & ~_EDGE[way] & _ALL
    for distance in (1, 2, 4):
        pieces |= reach & _rotated(pieces, _STEP[way] * distance)
        reach &= _rotated(reach, _STEP[way] * distance)
        stages.append(pieces)
    return stages


def _rotated(bits: int, left: int) -> int:
    left %= 64
    return (bits << left | bits >> (64 - left)) & _ALL


def doublings(board: chess.Board, square: int):
    """Draws the three doublings of a fill: four boards, from the piece to all that it reaches.

    Args:
        board: seen from the side to move.
        square: of a slider, which fills its lines over empty squares.
    """
    titles = ("the piece", "by one", "by two", "by four")
    figure, axes = plots.axes(9.4, 2.9, ncols=4)
    stages = _all_ways(board, square)
    for number, (each, title) in enumerate(zip(axes, titles, strict=True)):
        _pieces(each, board, title, square)
        for stage in range(number):
            _dots(each, stages[stage + 1] & ~stages[stage], _STAGES[stage])
        bits = stages[number].bit_count()
        _say(each, f"{bits} bit{'s' if bits > 1 else ''} set")
    return figure


def explorer(board: chess.Board, square: int):
    """Draws what the generator knows of a piece: its fill, pins, the check mask, and its planes.

    Args:
        board: seen from the side to move.
        square: of one of the mover's pieces.
    """
    figure, axes = plots.axes(8.4, 8.8, nrows=2, ncols=2)
    (fill, bounds), (planes, words) = axes
    piece = f"{chess.piece_name(_type_at(board, square))} on {chess.square_name(square)}"
    slides = board.piece_type_at(square) in (chess.BISHOP, chess.ROOK, chess.QUEEN)
    _pieces(
        fill, board, f"the fill of the {piece}" if slides else f"the {piece} doesn't slide", square
    )
    if slides:
        stages = _all_ways(board, square)
        for stage, color in enumerate(_STAGES):
            _dots(fill, stages[stage + 1] & ~stages[stage], color)
        _say(fill, "dots: reached by one, two, four")
        _legend(fill)
    _bounds(bounds, board, square)
    _planes(planes, words, board, square)
    return figure


def _type_at(board: chess.Board, square: int) -> int:
    return board.piece_type_at(square) or 0


def _all_ways(board: chess.Board, square: int) -> list[int]:
    ways = _WAYS.get(_type_at(board, square), ())
    empty = ~board.occupied & _ALL
    grown = [fill_stages(1 << square, empty, way) for way in ways]
    stages = zip(*grown, strict=True)
    return [int(np.bitwise_or.reduce([np.uint64(bits) for bits in stage])) for stage in stages]


def _bounds(axes, board: chess.Board, square: int) -> None:
    (king,) = board.pieces(chess.KING, chess.WHITE)
    stuck = pinned(board)
    _pieces(axes, board, "pins and check mask", square)
    for at in stuck:
        _dots(axes, int(board.pin(chess.WHITE, at)) & ~board.occupied, plots.SKY)
        _ring(axes, at, plots.BLUE)
    checkers = list(board.checkers())
    if len(checkers) == 1:
        answer = chess.between(king, checkers[0]) | 1 << checkers[0]
        _dots(axes, answer & ~board.occupied, plots.ORANGE)
    for at in checkers:
        _ring(axes, at, plots.ORANGE)
    said = [f"{len(stuck)} pinned" if stuck else "nothing is pinned"]
    said.append({0: "no check", 1: "check"}.get(len(checkers), "double check: only the king moves"))
    _say(axes, ", ".join(said))


def _planes(axes, words, board: chess.Board, square: int) -> None:
    legal = sorted(action for action in legal_actions(board) if action % 64 == square)
    _pieces(
        axes, board, f"its legal actions: planes {', '.join(str(a // 64) for a in legal) or 'none'}"
    )
    axes.title.set_fontsize(9 if len(legal) < 9 else 6)
    named: dict[int, list[str]] = {}
    for action in legal:
        target = target_of(action)
        assert target is not None  # legal, so it stays on the board
        named.setdefault(target, []).append(str(action // 64))
    for target, texts in named.items():
        _dots(axes, 1 << target, "white", zorder=4)  # over a piece that is taken
        look = {"ha": "center", "va": "center", "fontsize": 8, "zorder": 5}
        axes.text(*_centre(target), "\n".join(texts), **look)
    _ring(axes, square, plots.BLACK)
    shown = legal[0] // 64 if legal else 0
    bits = sum(1 << action % 64 for action in legal_actions(board) if action // 64 == shown)
    empty_board(words, f"plane {shown}: all that may leave by it")
    _dots(words, bits, plots.BLUE)
    _say(words, f"0x{bits:016X}")


def explore_bitboards(plies: int):
    """Shows a position of the Opera Game and a piece of the reader's choice.

    Args:
        plies: after how many the widget begins.
    """
    position = ipywidgets.IntSlider(
        plies, min=0, max=len(OPERA_GAME) - 1, description="plies played", style=WHOLE_LABEL
    )
    piece = ipywidgets.Dropdown(description="piece")

    def choose(change=None):
        board = after(position.value)
        squares = chess.SquareSet(board.occupied_co[chess.WHITE])
        piece.options = [
            (f"{chess.piece_symbol(_type_at(board, at)).upper()}{chess.square_name(at)}", at)
            for at in squares
        ]
        piece.index = 0  # of a list that is replaced none is chosen

    def show(plies, square):
        if square is not None:
            display(image(explorer(after(plies), square)))

    choose()
    position.observe(choose, "value")
    output = ipywidgets.interactive_output(show, {"plies": position, "square": piece})
    return ipywidgets.VBox([position, piece, output])


def _say(axes, text: str) -> None:
    axes.set_xlabel(text, fontsize=8)


def _pieces(axes, board: chess.Board, title: str, square: int | None = None) -> None:
    empty_board(axes, title)
    for at, piece in board.piece_map().items():
        axes.text(*_centre(at), piece.unicode_symbol(), ha="center", va="center", fontsize=15)
    if square is not None:
        _ring(axes, square, plots.BLACK)


def _dots(axes, bits: int, color: str, **look) -> None:
    for square in chess.SquareSet(bits):
        axes.add_patch(matplotlib.patches.Circle(_centre(square), 0.25, color=color, **look))


def _ring(axes, square: int, color: str) -> None:
    look = {"fill": False, "edgecolor": color, "linewidth": 2}
    axes.add_patch(matplotlib.patches.Circle(_centre(square), 0.45, **look))


def _centre(square: int) -> tuple[float, float]:
    return square % 8 + 0.5, square // 8 + 0.5


def _legend(axes) -> None:
    marks = [matplotlib.patches.Patch(color=color) for color in _STAGES]
    axes.legend(marks, ("1", "2", "4"), loc="upper left", bbox_to_anchor=(1, 1), frameon=False)
