"""The expectations of the suite's cases, by python-chess and by the published encodings alone.

Nothing of `rungs` is imported: AlphaZero's actions and planes are derived here once more, from
table S1 and S2 of its paper's supplement. `python -m tests.proof.conformance.expected` writes what
it derives into the suite, for each thing that a case asks; a test compares instead.
"""

import json
import re
from pathlib import Path

import chess

ROOT = Path(__file__).parents[3]
SUITE = ROOT / "lib" / "rungs" / "_src" / "conformance" / "suite.json"

# Checks that no game leads to, in two published positions: the rules still say how to go on.
PLAYABLE = chess.STATUS_IMPOSSIBLE_CHECK | chess.STATUS_TOO_MANY_CHECKERS

# Section 16.1 of the PGN standard, which python-chess reads more leniently.
FEN = re.compile(
    "[pnbrqkPNBRQK1-8/]+ [wb] (-|(?=[KQkq])K?Q?k?q?) (-|[a-h][36]) (0|[1-9][0-9]*) [1-9][0-9]*"
)


def board_at(case):
    """Returns the board at a case's end, with its moves on the stack; refuses illegal ones."""
    board = chess.Board(case.get("fen", chess.STARTING_FEN), chess960=case.get("chess960", False))
    assert not board.status() & ~PLAYABLE, f"{case['id']}: no position to begin at"
    for moves in case.get("before", []):
        played = board.copy()
        for move in moves:
            played.push(played.parse_uci(move))
        limit = case.get("max_plies")
        assert ending_of(played) or len(moves) == limit, f"{case['id']}: no game ended before"
    for move in case.get("moves", []):
        assert not ending_of(board), f"{case['id']}: over before {move}"
        board.push(board.parse_uci(move))
    return board


def ending_of(board):
    """Returns how a game ends in a position, a draw as soon as it could be claimed there; or ""."""
    ends = {
        "checkmate": board.is_checkmate(),
        "insufficient material": board.is_insufficient_material(),
        "stalemate": board.is_stalemate(),
        "fifty moves": board.is_fifty_moves(),
        "threefold repetition": board.is_repetition(3),
    }
    return next((name for name, holds in ends.items() if holds), "")


def is_refused(fen):
    """Says whether a FEN is malformed, or of a position that no game can be at."""
    if not FEN.fullmatch(fen):
        return True
    try:
        return bool(chess.Board(fen).status() & ~PLAYABLE)
    except ValueError:
        return True


def action_of(move, board):
    """Returns a legal move as one of AlphaZero's actions, as `Environment.action` writes them."""
    view = 0 if board.turn else 56
    origin, target = move.from_square ^ view, move.to_square ^ view
    east = chess.square_file(target) - chess.square_file(origin)
    north = chess.square_rank(target) - chess.square_rank(origin)
    if board.chess960 and board.is_castling(move) and move.from_square in (chess.E1, chess.E8):
        east = 2 if east > 0 else -2
    letters = ("N" if north > 0 else "S") * abs(north), ("E" if east > 0 else "W") * abs(east)
    if move.promotion not in (None, chess.QUEEN):
        plane = f"{''.join(letters)}={chess.piece_symbol(move.promotion)}"
    elif board.piece_type_at(move.from_square) == chess.KNIGHT:
        long = max(letters, key=len)[0]
        plane = long + "".join(letter[0] for letter in letters)
    else:
        plane = "".join(letter[:1] for letter in letters) + str(max(abs(east), abs(north)))
    return f"{chess.SQUARE_NAMES[origin]} {plane}"


def plane_of(number, board):
    """Returns one of AlphaZero's 119 planes of a position, as a case writes it."""
    mover = board.turn
    castling = {
        112: not mover,
        113: board.fullmove_number,
        114: board.has_kingside_castling_rights(mover),
        115: board.has_queenside_castling_rights(mover),
        116: board.has_kingside_castling_rights(not mover),
        117: board.has_queenside_castling_rights(not mover),
        118: board.halfmove_clock,
    }
    if number in castling:
        return int(castling[number]) or []
    ago, layer = divmod(number, 14)
    if ago > len(board.move_stack):
        return []
    board = board.copy()
    for _ in range(ago):
        board.pop()
    if layer >= 12:
        return int(board.is_repetition(layer - 10)) or []
    colour = mover if layer < 6 else not mover
    view = 0 if mover else 56
    pieces = board.pieces(layer % 6 + 1, colour)
    return [chess.SQUARE_NAMES[square] for square in sorted(square ^ view for square in pieces)]


def expected(case):
    """Returns a case as it is, but with all that it expects derived anew."""
    if "refused" in case:
        return case | {"refused": is_refused(case["fen"])}
    if "draws" in case:
        return case  # relations, no values
    board = board_at(case)
    over = ending_of(board)
    derived = {}
    if "ending" in case:
        plies = len(case.get("moves", []))
        truncated = "truncated" if plies == case.get("max_plies") else "none"
        derived["ending"] = over or ("open" if case["ending"] == "open" else truncated)
    if "rewards" in case:
        white = 0 if over != "checkmate" else 1 if board.turn == chess.BLACK else -1
        derived["rewards"] = [white, -white]
    if "legal" in case:
        ended = over or derived.get("ending") == "truncated"
        displayed = chess.Board() if case.get("autoreset") == "same_step" and ended else board
        stays = ended and displayed is board
        derived["legal"] = [] if stays else sorted(move.uci() for move in displayed.legal_moves)
    if "illegal" in case:
        legal = [] if over else [move.uci() for move in board.legal_moves]
        derived["illegal"] = [move for move in case["illegal"] if move not in legal]
    if "position" in case:
        derived["position"] = board.fen()
    if "actions" in case:
        moves = case["actions"] or sorted(move.uci() for move in board.legal_moves)
        derived["actions"] = {move: action_of(board.parse_uci(move), board) for move in moves}
    if "planes" in case:
        derived["planes"] = {number: plane_of(int(number), board) for number in case["planes"]}
    return case | derived


def as_text(suite):
    """Returns a suite as its file has it: a line for each of a group's and a case's fields."""

    def fields(entry, indent):
        lines = (f"{indent}{json.dumps(key)}: {json.dumps(entry[key])}" for key in entry)
        return ",\n".join(lines)

    groups = []
    for group in suite["groups"]:
        cases = [f"    {{\n{fields(case, '     ')}\n    }}" for case in group["cases"]]
        head = fields({key: group[key] for key in group if key != "cases"}, "   ")
        groups.append(f'  {{\n{head},\n   "cases": [\n' + ",\n".join(cases) + "\n   ]\n  }")
    head = fields({key: suite[key] for key in suite if key != "groups"}, " ")
    return f'{{\n{head},\n "groups": [\n' + ",\n".join(groups) + "\n ]\n}\n"


if __name__ == "__main__":
    suite = json.loads(SUITE.read_text())
    for group in suite["groups"]:
        group["cases"] = [expected(case) for case in group["cases"]]
    SUITE.write_text(as_text(suite))
