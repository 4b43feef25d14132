"""An evaluator that any position and action give some numbers, and games to search."""

import chess
import numpy as np

from rungs._src.chess.buffers import MAX_LEGAL

_ODD = np.uint64(0x9E3779B97F4A7C15)


def _mixed(words):
    """Scrambles uint64, as splitmix64 does."""
    words = (words ^ words >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ words >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    return words ^ words >> np.uint64(31)


def _reals(words):
    """uint64 as float32 from -1 to 1, rounded so that many are equal."""
    return (np.round((words >> np.uint64(40)) / 2.0**24 * 32) / 16 - 1).astype(np.float32)


def evaluate(observation, actions, counts):
    """Logits and values that depend on all that is seen, and on nothing else."""
    octets = np.ascontiguousarray(observation).view(np.uint8).reshape(len(counts), -1)
    places = np.arange(1, octets.shape[1] + 1, dtype=np.uint64) * _ODD
    hashes = _mixed((_mixed(places) * octets.astype(np.uint64)).sum(1, dtype=np.uint64))
    width = int(counts.max())
    logits = 2 * _reals(_mixed(hashes[:, None] ^ actions[:, :width].astype(np.uint64) * _ODD))
    return logits, _reals(_mixed(hashes ^ _ODD))


def assert_evaluated(observation, actions, counts):
    """Makes sure that lists are lists, on the way to `evaluate`."""
    assert actions.shape == (len(counts), MAX_LEGAL)
    assert ((actions >= 0).sum(1) == counts).all()
    assert (counts > 0).all()
    return evaluate(observation, actions, counts)


def random_fens(rng, number, plies=120):
    """FENs after random plies, some of them shuffles without a pawn: near 50 moves, too."""
    fens = []
    while len(fens) < number:
        board = chess.Board()
        for _ in range(int(rng.integers(plies + 1))):
            moves = list(board.legal_moves)
            if not moves or board.is_insufficient_material():
                break
            board.push(moves[rng.integers(len(moves))])
        if rng.random() < 0.3:
            board.halfmove_clock = int(rng.integers(80, 100))
        if not board.is_game_over() and board.halfmove_clock < 100:
            fens.append(board.fen())
    return fens


# Few pieces, and little time: repetitions, 50 moves and mates are close.
ENDINGS = (
    "8/8/8/8/8/5k2/4q3/7K w - - 0 1",
    "7k/8/5K2/6Q1/8/8/8/8 w - - 94 60",
    "8/8/4k3/8/8/4K3/4P3/8 w - - 97 70",
    "6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1",
    "k7/8/1K6/8/8/8/8/7R w - - 90 80",
    "8/P6k/8/8/8/8/p6K/8 w - - 0 1",
    "8/8/8/3k4/8/3K4/3R4/8 b - - 99 99",
)
