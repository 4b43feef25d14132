"""An agent's analysis of one position: candidate moves, and the expected result."""

import contextlib
import dataclasses

import chess
import numpy as np

import rungs
from rungs.chess import action_on, move_of
from rungs.devel.selfplay import MASK, Table, search_in_words
from rungs.selfplay import NetworkPlayer


@dataclasses.dataclass(frozen=True)
class Candidate:
    """A legal move, also as SAN, and the agent's estimates of it."""

    move: chess.Move
    san: str
    prior: float  # probability by the network alone
    visits: int  # simulations that went there
    value: float | None  # mean of them, -1 to 1 for the side to move; None without visits


@dataclasses.dataclass(frozen=True)
class Thoughts:
    """An agent's analysis of a position."""

    # all legal moves: the one it plays, then by visits, then by prior
    candidates: tuple[Candidate, ...]
    value: float  # expected result, -1 to 1 for the side to move
    search: str  # its rule and size, in words

    @property
    def chosen(self) -> Candidate:
        """The move that it plays."""
        return self.candidates[0]


def think(player: NetworkPlayer, board: chess.Board) -> Thoughts:
    """Returns a player's analysis of a position; the moves before it count for repetitions."""
    start = board.root().fen()
    with contextlib.closing(rungs.make("chess", "cpp", 1, mask=MASK, start_fens=[start])) as env:
        observation, info = env.reset()
        replayed = board.root()
        for past in board.move_stack:
            action = action_on(past, replayed)
            replayed.push(past)
            observation, _, _, _, info = env.step([action])
        result = player.look(Table(env, observation, info, [board], np.ones(1, bool)))
    candidates = []
    for k in range(int(result.counts[0])):
        move = move_of(int(result.actions[0, k]), board)
        assert move  # it is legal
        visits = int(result.visits[0, k])
        value = float(result.action_values[0, k]) if visits else None
        prior = float(result.priors[0, k])
        candidates.append(Candidate(move, board.san(move), prior, visits, value))
    played = move_of(int(result.chosen[0]), board)
    candidates.sort(
        key=lambda candidate: (candidate.move != played, -candidate.visits, -candidate.prior)
    )
    search = search_in_words(player.policy, player.simulations)
    return Thoughts(tuple(candidates), float(result.value[0]), search)
