"""Sets of squares to look into: how a fill grows, what is pinned, which squares answer a check, and
the planes of the mask that a piece is in.

All boards are seen from the side to move, as the generator sees them.
"""

import chess
import ipywidgets
import matplotlib.patches
from IPython.display import display

from rungs.chess import legal_actions, target_of
from rungs_course import plots
from rungs_course.diagrams import OPERA_GAME, centre, dots, empty_board
from rungs_course.plots import image
from rungs_course.widgets import WHOLE_LABEL

_MOVES = OPERA_GAME.split()
# Squares from the piece that steps of one, two and four have reached together, and their colours.
_STAGES = {1: plots.BLUE, 3: plots.SKY, 7: plots.ORANGE}


def after(plies: int) -> chess.Board:
    """Returns the Opera Game's position after `plies` plies, seen from the side to move."""
    board = chess.Board()
    for move in _MOVES[:plies]:
        board.push_uci(move)
    return board if board.turn else board.mirror()


def pinned(board: chess.Board) -> list[int]:
    """Returns the squares of the mover's pinned pieces; the board is seen from that side."""
    white_pieces = chess.SquareSet(board.occupied_co[chess.WHITE])
    return [square for square in white_pieces if board.is_pinned(chess.WHITE, square)]


def filled(board: chess.Board, square: int, distance: int) -> chess.SquareSet:
    """Returns the empty squares to which a slider can go, up to a distance."""
    empty = board.attacks(square) - chess.SquareSet(board.occupied)
    return chess.SquareSet(at for at in empty if chess.square_distance(square, at) <= distance)


def draw_doublings(board: chess.Board, square: int):
    """Draws the three doublings of a slider's fill: four boards, from the piece to all that it
    reaches.
    """
    titles = {"the piece": 0, "by one": 1, "by two": 3, "by four": 7}
    figure, axes = plots.axes(9.4, 2.9, ncols=4)
    for panel, (title, distance) in zip(axes, titles.items(), strict=True):
        _pieces(panel, board, title, square)
        _draw_fill(panel, board, square, distance)
        _write(panel, f"bits set: {1 + len(filled(board, square, distance))}")
    return figure


def draw_generator(board: chess.Board, square: int):
    """Draws what the generator knows of a piece: its fill, pins, the check mask, and its planes."""
    figure, axes = plots.axes(8.4, 8.8, nrows=2, ncols=2)
    (fill, pins), (planes, plane) = axes
    piece = board.piece_type_at(square) or chess.PAWN
    name = f"{chess.piece_name(piece)} on {chess.square_name(square)}"
    if piece in (chess.BISHOP, chess.ROOK, chess.QUEEN):
        _pieces(fill, board, f"the fill of the {name}", square)
        _draw_fill(fill, board, square, 7)
        _write(fill, "dots: reached by one, two, four")
        marks = [matplotlib.patches.Patch(color=color) for color in _STAGES.values()]
        fill.legend(marks, ("1", "2", "4"), loc="upper left", bbox_to_anchor=(1, 1), frameon=False)
    else:
        _pieces(fill, board, f"the {name} doesn't slide", square)
    _draw_pins(pins, board, square)
    _draw_planes(planes, plane, board, square)
    return figure


def _draw_fill(axes, board: chess.Board, square: int, distance: int) -> None:
    for at in filled(board, square, distance):
        steps = chess.square_distance(square, at)
        dots(axes, [at], next(color for end, color in _STAGES.items() if steps <= end))


def _draw_pins(axes, board: chess.Board, square: int) -> None:
    (king,) = board.pieces(chess.KING, chess.WHITE)
    occupied, stuck, checkers = chess.SquareSet(board.occupied), pinned(board), board.checkers()
    _pieces(axes, board, "pins and check mask", square)
    for at in stuck:
        dots(axes, board.pin(chess.WHITE, at) - occupied, plots.SKY)
        _ring(axes, at, plots.BLUE)
    for at in checkers:
        if len(checkers) == 1:
            dots(axes, chess.SquareSet(chess.between(king, at)), plots.ORANGE)
        _ring(axes, at, plots.ORANGE)
    checks = ("no check", "check", "double check: only the king moves")[len(checkers)]
    _write(axes, f"{len(stuck)} pinned, {checks}" if stuck else f"nothing is pinned, {checks}")


def _draw_planes(axes, plane, board: chess.Board, square: int) -> None:
    """Draws the planes of a piece's actions, and next to them the bits of the first of those."""
    legal = sorted(action for action in legal_actions(board) if action % 64 == square)
    numbers = ", ".join(str(action // 64) for action in legal) or "none"
    _pieces(axes, board, f"its legal actions by plane: {numbers}", square)
    axes.title.set_fontsize(9 if len(legal) < 9 else 6)
    named: dict[int, list[str]] = {}
    for action in legal:
        target = target_of(action)
        assert target is not None  # legal, so it stays on the board
        named.setdefault(target, []).append(str(action // 64))
    for target, texts in named.items():
        dots(axes, [target], "white", zorder=4)  # over a piece that is taken
        look = {"ha": "center", "va": "center", "fontsize": 8, "zorder": 5}
        axes.text(*centre(target), "\n".join(texts), **look)
    first = legal[0] // 64 if legal else 0
    bits = chess.SquareSet(action % 64 for action in legal_actions(board) if action // 64 == first)
    empty_board(plane, f"plane {first}: all squares from which such a move may start")
    dots(plane, bits, plots.BLUE)
    _write(plane, f"0x{int(bits):016X}")


def explore_bitboards(plies: int):
    """Shows a position of the Opera Game and a piece of the reader's choice."""
    position = ipywidgets.IntSlider(
        plies, min=0, max=len(_MOVES) - 1, description="plies played", style=WHOLE_LABEL
    )
    piece = ipywidgets.Dropdown(description="piece")

    def choose(change=None):
        board = after(position.value)
        pieces = {at: board.piece_at(at) for at in chess.SquareSet(board.occupied_co[chess.WHITE])}
        piece.options = [(f"{symbol}{chess.square_name(at)}", at) for at, symbol in pieces.items()]
        piece.index = 0  # replacing the list has cleared the choice

    def show(plies, square):
        if square is not None:
            display(image(draw_generator(after(plies), square)))

    choose()
    position.observe(choose, "value")
    output = ipywidgets.interactive_output(show, {"plies": position, "square": piece})
    return ipywidgets.VBox([position, piece, output])


def _write(axes, text: str) -> None:
    axes.set_xlabel(text, fontsize=8)


def _pieces(axes, board: chess.Board, title: str, square: int) -> None:
    empty_board(axes, title)
    for at, piece in board.piece_map().items():
        axes.text(*centre(at), piece.unicode_symbol(), ha="center", va="center", fontsize=15)
    _ring(axes, square, plots.BLACK)


def _ring(axes, square: int, color: str) -> None:
    look = {"fill": False, "edgecolor": color, "linewidth": 2}
    axes.add_patch(matplotlib.patches.Circle(centre(square), 0.45, **look))
