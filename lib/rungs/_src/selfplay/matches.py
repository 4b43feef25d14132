"""Matches between two players: many games side by side on one environment, and their PGN."""

import contextlib
import dataclasses
import itertools
import re
from collections import defaultdict
from collections.abc import Iterable
from typing import Final, Protocol

import chess
import chess.pgn
import numpy as np

import rungs
from rungs._src.chess.actions import move_of
from rungs._src.chess.reason import Reason
from rungs._src.chess.vector_env import ChessVectorEnv
from rungs._src.core.arguments import integer
from rungs._src.core.progress import Progress, Say, silent
from rungs._src.selfplay.elo import Pairs
from rungs.errors import ConfigurationError

MASK: Final = "list"  # the mask of environments that players choose on
_PAWNS: Final = {chess.PAWN: 1, chess.KNIGHT: 3, chess.BISHOP: 3, chess.ROOK: 5, chess.QUEEN: 9}
_DECISIVE = 5  # pawns ahead that win a game at the limit of plies
OPENING_PLIES: Final = 4
MAX_PLIES: Final = 400


@dataclasses.dataclass(frozen=True, eq=False)
class Table:
    """N games in each of which a player is to choose a move."""

    env: ChessVectorEnv  # with `opponent=None` and `mask="list"`; players don't change it
    observation: np.ndarray
    info: dict
    boards: list[chess.Board]  # the same games
    which: np.ndarray  # (N,) bool, the games to choose in


class Player(Protocol):
    """A player, which chooses moves; the players of a match have different names."""

    name: str

    def choose(self, table: Table) -> np.ndarray:
        """Returns an action for every board, (N,) int64; where `table.which` is False, any."""
        ...

    def close(self) -> None:
        """Ends threads and processes; may be called twice."""
        ...


@dataclasses.dataclass(frozen=True, eq=False)
class Match:
    """A finished game."""

    white: str
    black: str
    board: chess.Board  # with all moves
    reason: Reason | None  # `MAX_PLIES` where it was adjudicated, None where a clock ran out
    points: float  # White's: 1, 1/2 or 0
    opening: int = 0  # its number: of a match, two games have it, one with each colour

    @property
    def adjudicated(self) -> bool:
        """Returns whether material decided the game, at the limit of plies."""
        return self.reason == Reason.MAX_PLIES

    @property
    def termination(self) -> str:
        """Returns the reason of the end, in words."""
        if self.reason is None:
            return "time forfeit"
        return "adjudication" if self.adjudicated else self.reason.name.lower().replace("_", " ")

    def pgn(self, event: str) -> str:
        """Returns the game as PGN."""
        game = chess.pgn.Game.from_board(self.board)
        if self.adjudicated:
            ahead = material(self.board)
            game.end().comment = (
                f"at the limit of plies: material White {ahead:+}, {_DECISIVE} ahead wins"
            )
        result = {1.0: "1-0", 0.5: "1/2-1/2", 0.0: "0-1"}[self.points]
        for name, value in (
            ("Event", event), ("White", self.white), ("Black", self.black), ("Result", result),
            ("Termination", self.termination),
        ):  # fmt: skip
            # A tag is a line, in whose text quotes and backslashes are escaped.
            line = re.sub(r"[\x00-\x1f\x7f-\x9f]", " ", value)
            game.headers[name] = re.sub(r'(["\\])', r"\\\1", line)
        return game.accept(chess.pgn.StringExporter(columns=79))


def play(
    first: Player,
    second: Player,
    games: int,
    *,
    seed: int,
    opening_plies: int = OPENING_PLIES,
    max_plies: int = MAX_PLIES,
    say: Say = silent,
) -> list[Match]:
    """Plays a match: half of the games with each colour, from the same openings of random plies.

    Without openings deterministic players would repeat one game. Games that reach `max_plies` are
    adjudicated by material: a side that is five pawns or more ahead has won, otherwise it is a
    draw. Returns the games, first those that `first` begins.
    """
    half = half_of(games)
    openings = (opening_plies, opening_plies)
    env_settings = {"seed": seed, "opening_plies": openings, "max_plies": max_plies}
    with Progress(f"{first.name} against {second.name}", games, say) as progress:
        white = _play(first, second, half, env_settings, progress)
        played = white + _play(second, first, half, env_settings, progress)
        points = sum(m.points if m.white == first.name else 1 - m.points for m in played)
        progress.advance(0, f"{first.name} against {second.name}: {points:g} of {games} points")
    return played


def half_of(games: int) -> int:
    """Returns how many games of a match each player begins; raises ConfigurationError for odd
    numbers.
    """
    half, odd = divmod(integer("games", games, 2, 2**20), 2)
    if odd:
        raise ConfigurationError(f"games={games} is not even")
    return half


def material(board: chess.Board) -> int:
    """Returns how many pawns White is ahead; pieces count 3, 3, 5 and 9."""
    return sum(
        value * (len(board.pieces(piece, chess.WHITE)) - len(board.pieces(piece, chess.BLACK)))
        for piece, value in _PAWNS.items()
    )


def points_by_material(board: chess.Board) -> float:
    """Returns White's points in a game that is adjudicated."""
    ahead = material(board)
    return (1 + (ahead >= _DECISIVE) - (ahead <= -_DECISIVE)) / 2


def rule_in_words(max_plies: int) -> str:
    """Returns the rule of matches' begin and end, in words; results by different rules don't add
    up.
    """
    return (
        f"openings of {OPENING_PLIES} random plies; after {max_plies} plies a lead of {_DECISIVE} "
        "pawns wins"
    )


def pairs_of(matches: Iterable[Match]) -> dict[tuple[str, str], Pairs]:
    """Returns results by two players' names, the first's points in each opening's two games."""
    points: dict[tuple[str, str], defaultdict[int, float]] = {}
    for match in matches:
        names, won = (match.white, match.black), match.points
        if names[::-1] in points:
            names, won = names[::-1], 1 - won
        points.setdefault(names, defaultdict(float))[match.opening] += won
    return {names: Pairs.of(by_opening.values()) for names, by_opening in points.items()}


def _play(
    white: Player, black: Player, count: int, env_settings: dict, progress: Progress
) -> list[Match]:
    """Plays games in lockstep: `white` moves first in all, and then they take turns."""
    with contextlib.closing(rungs.make("chess", "cpp", count, mask=MASK, **env_settings)) as env:
        observation, info = env.reset()
        boards = [chess.Board(fen) for fen in env.fens()]
        # Black is to move where the opening's last ply would have ended the game and was left out.
        sides = [(white, black) if board.turn else (black, white) for board in boards]
        playing = np.ones(count, bool)
        matches: list[Match | None] = [None] * count
        for player in itertools.cycle((white, black)):
            table = Table(env, observation, info, boards, playing)
            actions = np.where(playing, player.choose(table), 0)
            for game in np.flatnonzero(playing):
                move = move_of(int(actions[game]), boards[game])
                assert move  # it was legal
                boards[game].push(move)
            # A board whose game is over plays on, and its results are ignored.
            actions[~playing] = info["action_mask"][~playing, 0]
            observation, reward, terminated, truncated, info = env.step(actions)
            for game in np.flatnonzero(playing & (terminated | truncated)):
                sign = -1 if boards[game].turn else 1  # the reward is of who has just moved
                points = (1 + sign * float(reward[game])) / 2
                reason = Reason(int(info["reason"][game]))
                if reason == Reason.MAX_PLIES:
                    points = points_by_material(boards[game])
                first, second = sides[game]
                matches[game] = Match(
                    first.name, second.name, boards[game], reason, points, int(game)
                )
                playing[game] = False
                progress.advance()
            if not playing.any():
                break
    return [match for match in matches if match]
