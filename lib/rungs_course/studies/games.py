"""Games played in the environment: one that was played by people, and many by chance."""

import chess
import numpy as np
import pandas as pd

import rungs
from rungs._src.chess.actions import NUM_ACTIONS, from_uci
from rungs._src.chess.policy import random_actions
from rungs._src.chess.reason import Reason

# Morphy against the Duke of Brunswick and Count Isouard, Paris 1858.
OPERA_GAME = (
    "e2e4 e7e5 g1f3 d7d6 d2d4 c8g4 d4e5 g4f3 d1f3 d6e5 f1c4 g8f6 f3b3 d8e7 b1c3 c7c6 c1g5 b7b5 "
    "c3b5 c6b5 c4b5 b8d7 e1c1 a8d8 d1d7 d8d7 h1d1 e7e6 b5d7 f6d7 b3b8 d7b8 d1d8"
)


def play(moves: str) -> pd.DataFrame:
    """Plays moves in the environment, on one board of the Python rung, from the initial position.

    Args:
        moves: as UCI writes them, with spaces between, all legal.

    Returns:
        A row per ply: `ply` from 1, `uci`, `san` (the move as chess players write it), `action`,
        `legal` (how many actions the mask allowed), `fen` (of the position reached), `reward` (of
        who moved), `terminated`, `reason` (in words).
    """
    env = rungs.make("chess", "python", 1, autoreset_mode="Disabled")
    _, info = env.reset()
    rows = []
    for ply, uci in enumerate(moves.split(), 1):
        (fen,), legal = env.fens(), int(info["action_mask"].sum())
        action = from_uci(uci, fen)
        san = chess.Board(fen).san(chess.Move.from_uci(uci))
        _, reward, terminated, _, info = env.step(np.array([action]))
        (fen,), reason = env.fens(), in_words(info["reason"][0])
        rows.append((ply, uci, san, action, legal, fen, reward[0], bool(terminated[0]), reason))
    names = ["ply", "uci", "san", "action", "legal", "fen", "reward", "terminated", "reason"]
    return pd.DataFrame(rows, columns=names)


def in_words(reason: int) -> str:
    """Names a code of `info["reason"]`: "threefold repetition"."""
    return Reason(reason).name.lower().replace("_", " ")


def play_at_random(num_envs: int, steps: int, *, seed: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Plays random legal actions, and asks at each position what a random action would have been.

    Args:
        num_envs: number of boards of the Python rung.
        steps: of all boards; where a game ends, the next begins.
        seed: of the games and of all actions.

    Returns:
        A row per position: `ply` (how many were played before), `legal` (how many actions are) and
        `hit`, whether one drawn from all 4,672 is among them. A row per game that ended: `reason`
        in words, `plies`.
    """
    env = rungs.make("chess", "python", num_envs, seed=seed)
    _, info = env.reset()
    rng = np.random.default_rng(seed)
    ply = np.zeros(num_envs, np.int64)
    positions, ended = [], []
    for _ in range(steps):
        mask = info["action_mask"]
        drawn = rng.integers(NUM_ACTIONS, size=num_envs)
        hit = mask[np.arange(num_envs), drawn]
        positions.append(pd.DataFrame({"ply": ply, "legal": mask.sum(axis=1), "hit": hit}))
        _, _, terminated, _, info = env.step(random_actions(mask, rng))
        ply = ply + 1
        ended += [(in_words(info["reason"][i]), ply[i]) for i in np.flatnonzero(terminated)]
        ply[terminated] = 0
    games = pd.DataFrame(ended, columns=["reason", "plies"])
    return pd.concat(positions, ignore_index=True), games
