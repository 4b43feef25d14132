"""Games of a network, move by move, to be looked at."""

import contextlib

import chess
import numpy as np
import pandas as pd

import rungs
from rungs.chess import Reason, move_of, random_actions
from rungs.train import NetworkPolicy


def games(
    network, count: int, *, seed: int, max_plies: int = 200, device: str = "cpu"
) -> pd.DataFrame:
    """Plays a network's White against a random Black, and notes every move; it samples, as in
    training.

    Games end undecided at `max_plies`. Returns a row per ply, and one for each start: `game`,
    `ply`, `move` (SAN; none at the start), `fen` after it, and `result` of the game ("1-0", "0-1",
    "1/2-1/2", or "*" where it was cut).
    """
    white = NetworkPolicy(network, seed=seed, device=device)
    with contextlib.closing(
        rungs.make("chess", "cpp", count, mask="bits", max_plies=max_plies)
    ) as env:
        rng = np.random.default_rng(seed)
        observation, info = env.reset(seed=seed)
        boards = [chess.Board() for _ in range(count)]
        rows: list[tuple] = [(game, 0, None, board.fen()) for game, board in enumerate(boards)]
        playing, results = set(range(count)), ["*"] * count
        for ply in range(1, max_plies + 1):
            mask = info["action_mask"]
            actions = white(observation, mask) if ply % 2 else random_actions(mask, rng)
            observation, _, terminated, truncated, info = env.step(actions)
            for game in sorted(playing):
                board = boards[game]
                move = move_of(int(actions[game]), board)
                assert move  # it was legal
                rows.append((game, ply, board.san_and_push(move), board.fen()))
                if terminated[game] or truncated[game]:
                    results[game] = _result(Reason(info["reason"][game]), ply)
                    playing.discard(game)
            if not playing:
                break
    frame = pd.DataFrame(rows, columns=["game", "ply", "move", "fen"])
    frame["result"] = frame["game"].map(dict(enumerate(results)))
    return frame.sort_values(["game", "ply"], ignore_index=True)


def first_won(played: pd.DataFrame) -> pd.DataFrame:
    """Returns the first game of `games` that White has won, or the first of all."""
    won = played[played["result"] == "1-0"]["game"]
    return played[played["game"] == (won.min() if len(won) else 0)]


def _result(reason: Reason, ply: int) -> str:
    """Writes how a game ended with a ply, White's where odd."""
    if reason == Reason.MAX_PLIES:
        return "*"
    if reason != Reason.CHECKMATE:
        return "1/2-1/2"
    return "1-0" if ply % 2 else "0-1"
