"""Plays the suite's cases in an environment."""

import dataclasses
import math
from collections.abc import Iterable

import chess
import numpy as np

from rungs._src.conformance import environments
from rungs._src.conformance.environment import OPTIONAL, Environment, Outcome
from rungs._src.conformance.suite import ENDINGS, GOES_ON, OPEN, TRUNCATED, Case
from rungs._src.processes.workers import Workers
from rungs.errors import ConfigurationError, UnavailableError, UnsupportedError, WorkerDiedError

PASSES, FAILS, NOT_OFFERED = "passes", "fails", "not offered"

# The optional method of an environment that a case needs, by the case's field.
_ANSWERS = {"position": "fen", "illegal": "refuses_move", "actions": "action", "planes": "planes"}

# Seconds per case, as an environment may compile, or hang.
_TIMEOUT = 300.0


@dataclasses.dataclass(frozen=True)
class Result:
    """The result of a case.

    Attributes:
        case: its id.
        status: "passes", "fails", or "not offered", where the environment doesn't support it.
        fen: the position in which it failed, or "".
        expected: what must hold there, in words.
        found: what the environment did instead; or what it does not support.
    """

    case: str
    status: str
    fen: str = ""
    expected: str = ""
    found: str = ""


def check(environment: Environment, case: Case) -> Result:
    """Plays one case in an environment that is new or can `begin` again."""
    played = _Played(environment, case)
    try:
        difference = played.difference()
    except UnsupportedError as error:
        return Result(case.id, NOT_OFFERED, found=str(error))
    except Exception as error:
        message = " ".join(f"{type(error).__name__}: {error}".split())
        return Result(case.id, FAILS, played.fen, "no error", message)
    if difference is None:
        return Result(case.id, PASSES)
    return Result(case.id, FAILS, played.fen, *difference)


def run(environment: Environment, cases: Iterable[Case]) -> list[Result]:
    """Plays cases in this process; see `check`."""
    return [check(environment, case) for case in cases]


def unavailable(cases: Iterable[Case], error: UnavailableError) -> list[Result]:
    """Returns the results for an environment that is not installed."""
    message = " ".join(str(error).split())
    return [Result(case.id, NOT_OFFERED, found=message) for case in cases]


def run_aside(name: str, cases: Iterable[Case]) -> list[Result]:
    """Plays cases in a process of its own, which the environment of this name may crash."""
    environments.check(name)
    results: list[Result] = []
    served = None
    try:
        for case in cases:
            try:
                served = served or _served(name)
                results.append(served.call_one(0, _Served.check, case))
            except WorkerDiedError as error:
                last = str(error).strip().splitlines()[-1]
                results.append(Result(case.id, FAILS, case.start, "no crash", last))
                served = None
    finally:
        if served:
            served.close()
    return results


class _Served:
    def __init__(self, name: str):
        self._environment = environments.make(name)

    def check(self, case: Case) -> Result:
        return check(self._environment, case)


def _served(name: str) -> Workers:
    """Starts a process with an environment, which may start processes of its own."""
    try:
        return Workers(_Served, [(name,)], daemon=False, timeout=_TIMEOUT)
    except WorkerDiedError as error:
        # The error of the process is known here only as text.
        for kind in (ConfigurationError, UnavailableError):
            _, raised, message = str(error).rpartition(f"rungs.errors.{kind.__name__}: ")
            if raised:
                raise kind(message.strip()) from None
        message = str(error).strip().splitlines()[-1]
        if message.startswith("ModuleNotFoundError: No module named 'rungs"):
            raise  # a fault of ours
        raise UnavailableError(f"{name} can't be made: {message}") from None


# Expected, and observed.
_Difference = tuple[str, str]


class _Played:
    def __init__(self, environment: Environment, case: Case):
        self._environment, self._case, self.fen = environment, case, case.start

    def difference(self) -> _Difference | None:
        """Plays it; returns what was expected and found where they differ."""
        case, environment = self._case, self._environment
        for field, method in _ANSWERS.items():
            # Checked before it is played: other cases test the moves that lead there.
            lacks = getattr(type(environment), method) is getattr(Environment, method)
            if lacks and getattr(case, field):
                raise UnsupportedError(OPTIONAL[method])
        if case.refused:
            refused = environment.refuses_fen(case.start)
            return None if refused else ("the FEN is refused", "it is taken")
        if case.draws:
            return _compare_draws(case, [environment.drawn(*draw) for draw in case.draws])
        if case.autoreset or case.beside:
            game: Environment | _BesideOthers = _BesideOthers(environment, case)
        else:
            game = environment
            environment.begin(case.fen, case.chess960, case.max_plies)
        for number, moves in enumerate((*case.before, case.moves)):
            if number and not (outcome := game.outcome()).over:
                return "the game is over", _in_words(outcome)
            if number and case.autoreset == "next_step":
                game.play(None)  # type: ignore[arg-type]  # a batch takes it
            begun = number > 0 and case.autoreset == "same_step"
            if differs := self._moves(game, moves, begun):
                return differs
        return _ending(case, game.outcome()) or self._afterwards(game)

    def _moves(
        self, game: "Environment | _BesideOthers", moves: tuple[str, ...], begun: bool = False
    ) -> _Difference | None:
        """Plays moves; `begun`: whether the step before ended another game."""
        board = self._case.board()
        self.fen = board.fen()
        for number, move in enumerate(moves):
            if (outcome := game.outcome()).over and not (begun and number == 0):
                if self._case.ending == OPEN and not outcome.terminated:
                    return None  # nothing more is tested
                return "the game goes on", _in_words(outcome)
            if move not in (legal := game.legal_moves()):
                return f"{move} is legal", _listed("legal are", legal)
            game.play(move)
            board.push_uci(move)
            self.fen = board.fen()
        return None

    def _afterwards(self, game: "Environment | _BesideOthers") -> _Difference | None:
        """Compares what the environment says of the position that the case ends at."""
        case, environment = self._case, self._environment
        for move in case.illegal:
            if not environment.refuses_move(move):
                return f"{move} is refused", "it is played"
        if case.legal is not None and (differs := _legal(case.legal, game.legal_moves())):
            return differs
        if case.position is not None:
            observed = chess.Board(environment.fen(), chess960=case.chess960).fen()
            if observed != case.position:
                return case.position, observed
        for move, action in case.actions.items():
            if (observed := environment.action(move)) != action:
                return f"{move} is {action}", observed
        if case.planes:
            planes = environment.planes()
            for number, expected in case.planes.items():
                if (plane := _plane(planes[int(number)])) != expected:
                    return f"plane {number}: {_in_short(expected)}", _in_short(plane)
        return None


class _BesideOthers:
    """A case's game in a batch, between the two halves of the games in `beside`."""

    def __init__(self, environment: Environment, case: Case):
        self._beside, self._board, self._steps = case.beside, len(case.beside) // 2, 0
        self._batch = environment.batch(
            len(case.beside) + 1, case.autoreset or "disabled", case.max_plies
        )

    def play(self, move: str | None) -> None:
        moves: list[str | None] = [moves[self._steps] for moves in self._beside]
        moves.insert(self._board, move)
        self._batch.step(moves)
        self._steps += 1

    def legal_moves(self) -> list[str]:
        return self._batch.legal_moves(self._board)

    def outcome(self) -> Outcome:
        return self._batch.outcome(self._board)


def _plane(plane: np.ndarray) -> tuple[str, ...] | float:
    """Returns the squares that hold 1, where others hold 0; or the one value that all hold."""
    held = set(plane.ravel().tolist())
    if len(held) == 1 and held != {0}:
        return held.pop()
    if held <= {0, 1}:
        return tuple(chess.SQUARE_NAMES[square] for square in np.flatnonzero(plane))
    return math.nan  # unlike anything that is expected


def _in_short(plane: tuple[str, ...] | float) -> str:
    return f"{plane:g}" if isinstance(plane, int | float) else _listed("1 on", plane)


def _compare_draws(case: Case, draws: list[list[str]]) -> _Difference | None:
    """Compares random positions, all of which must be valid."""
    for fen in (fen for draw in draws for fen in draw):
        if not chess.Board(fen).is_valid():
            return "positions of chess", fen
    if case.drawn == "distinct":
        holds = all(len(set(draw)) > 1 for draw in draws)
    else:
        games = min(map(len, draws))
        count = len({tuple(draw[:games]) for draw in draws})
        holds = count == (1 if case.drawn == "same" else len(draws))
    return None if holds else (f"{case.drawn} positions", "they are not")


def _ending(case: Case, outcome: Outcome) -> _Difference | None:
    if case.ending is None:
        return None
    goes_on = case.ending in (GOES_ON, OPEN)
    truncated = case.ending == TRUNCATED
    right = outcome.terminated != (goes_on or truncated)
    if case.ending != OPEN:
        right &= outcome.truncated == truncated
    if right and case.ending in ENDINGS and outcome.reason is not None:
        right = outcome.reason == case.ending
    if not right:
        expected = {GOES_ON: "the game goes on", OPEN: "the game is not terminated"}
        return expected.get(str(case.ending), str(case.ending)), _in_words(outcome)
    if case.rewards is not None:
        sides = zip(("White", "Black"), case.rewards, outcome.rewards, strict=True)
        for side, expected_reward, reward in sides:
            if reward is not None and reward != expected_reward:
                return f"{side} gets {expected_reward:g}", f"{side} gets {reward:g}"
    return None


def _legal(expected: tuple[str, ...], observed: list[str]) -> _Difference | None:
    missing, extra = sorted(set(expected) - set(observed)), sorted(set(observed) - set(expected))
    if not missing and not extra:
        if len(observed) > len(set(observed)):
            return "every move once", "some are listed twice"
        return None
    count = f"{len(expected)} legal moves"
    lacks = [_listed("lacks", missing)] if missing else []
    return count, "; ".join(lacks + ([_listed("also has", extra)] if extra else []))


def _listed(label: str, moves: Iterable[str], count: int = 8) -> str:
    """Returns a list of moves or squares as text, a long one abbreviated."""
    listed = list(moves)
    more = f" and {len(listed) - count} more" if len(listed) > count else ""
    return f"{label} {' '.join(listed[:count]) or 'none'}{more}"


def _in_words(outcome: Outcome) -> str:
    if not outcome.over:
        return "the game goes on"
    words = " and ".join(word for word in ("terminated", "truncated") if getattr(outcome, word))
    return f"{words}, by {outcome.reason}" if outcome.reason else words
