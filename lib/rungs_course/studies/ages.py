"""The same opening, played by agents of several ages."""

from collections.abc import Iterable

import chess
import pandas as pd

from rungs._src.selfplay.players import NetworkPlayer
from rungs_course.analysis import think


def same_opening(players: Iterable[NetworkPlayer], opening: str, plies: int) -> pd.DataFrame:
    """Has each player go on from an opening, against itself.

    Args:
        players: who plays, each by its name.
        opening: its moves in SAN, such as "e4 e5 Nf3".
        plies: how many each plays, fewer where the game ends before.

    Returns:
        A row per ply: `who`, `ply` (from the game's start), `san` and `uci` of the move, and
        `fen` after it.
    """
    rows = []
    for player in players:
        board = chess.Board()
        for san in opening.split():
            board.push_san(san)
        for _ in range(plies):
            if board.is_game_over():
                break
            chosen = think(player, board).chosen
            board.push(chosen.move)
            ply = len(board.move_stack)
            rows.append((player.name, ply, chosen.san, chosen.move.uci(), board.fen()))
    return pd.DataFrame(rows, columns=["who", "ply", "san", "uci", "fen"])
