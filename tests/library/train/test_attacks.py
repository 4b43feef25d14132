"""Attacks on squares, compared with python-chess."""

import chess
import torch

import rungs
from rungs._src.train.attacks import attack_states


def times(board, side, square):
    return min(2, len(board.attackers(side, square)))


def test_states_are_those_of_python_chess():
    fens = ["8/8/8/3q4/8/8/3R4/3RK2k w - - 0 1", "k7/8/8/8/3pP3/8/8/K7 b - e3 0 1"]
    played = rungs.make("chess", "cpp", 300, opening_plies=(0, 200))
    studied = rungs.make("chess", "cpp", 2, start_fens=fens)
    for env in (played, studied):
        observation, _ = env.reset(seed=1)
        states_of_boards = attack_states(torch.from_numpy(observation))
        for states, fen in zip(states_of_boards, env.fens(), strict=True):
            board = chess.Board(fen)
            for square, state in enumerate(states.tolist()):
                real = square if board.turn else chess.square_mirror(square)
                mover, opponent = (
                    times(board, side, real) for side in (board.turn, not board.turn)
                )
                assert state == 3 * mover + opponent, (fen, real)
