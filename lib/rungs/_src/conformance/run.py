"""Plays the suite's cases in an environment."""

import dataclasses
from collections.abc import Iterable

import chess

from rungs._src.conformance import environments
from rungs._src.conformance.environment import Environment, Outcome
from rungs._src.conformance.suite import ENDINGS, GOES_ON, OPEN, TRUNCATED, Case
from rungs._src.processes.workers import Workers
from rungs.errors import (
    ConfigurationError,
    UnavailableError,
    UnsupportedError,
    WorkerDiedError,
)

PASSES, FAILS, NOT_OFFERED = "passes", "fails", "not offered"

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
    board = case.board()
    try:
        found = _played(environment, case, board)
    except UnsupportedError as error:
        return Result(case.id, NOT_OFFERED, found=str(error))
    except Exception as error:
        message = " ".join(f"{type(error).__name__}: {error}".split())
        return Result(case.id, FAILS, board.fen(), "no error", message)
    if found is None:
        return Result(case.id, PASSES)
    return Result(case.id, FAILS, board.fen(), *found)


def run(environment: Environment, cases: Iterable[Case]) -> list[Result]:
    """Plays cases in this process; see `check`."""
    return [check(environment, case) for case in cases]


def unavailable(cases: Iterable[Case], error: UnavailableError) -> list[Result]:
    """Returns the results for an environment that is not installed."""
    found = " ".join(str(error).split())
    return [Result(case.id, NOT_OFFERED, found=found) for case in cases]


def run_aside(name: str, cases: Iterable[Case]) -> list[Result]:
    """Plays cases in a process of its own, which the environment may crash.

    Args:
        name: of `rungs._src.conformance.environments.make`.
        cases: of a suite.

    Raises:
        ConfigurationError: there is no such environment.
        UnavailableError: it is not installed here.
    """
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
                results.append(Result(case.id, FAILS, case.board().fen(), "no crash", last))
                served = None
    finally:
        if served:
            served.close()
    return results


class _Served:
    """An environment in a process of its own."""

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


def _played(environment: Environment, case: Case, board: chess.Board) -> tuple[str, str] | None:
    """Plays a case, also on `board`; returns what was expected and found where they differ."""
    environment.begin(case.fen, case.chess960, case.max_plies)
    for move in case.moves:
        if (outcome := environment.outcome()).over:
            if case.ending == OPEN and not outcome.terminated:
                return None
            return "the game goes on", _in_words(outcome)
        if move not in (legal := environment.legal_moves()):
            return f"{move} is legal", _moves("legal are", legal)
        environment.play(move)
        board.push_uci(move)
    differs = None
    if case.ending is not None:
        differs = _ending(case, environment.outcome())
    if not differs and case.legal is not None:
        differs = _legal(case.legal, environment.legal_moves())
    return differs


def _ending(case: Case, outcome: Outcome) -> tuple[str, str] | None:
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


def _legal(expected: tuple[str, ...], found: list[str]) -> tuple[str, str] | None:
    missing, also = sorted(set(expected) - set(found)), sorted(set(found) - set(expected))
    if not missing and not also:
        if len(found) > len(set(found)):
            return "every move once", "some are listed twice"
        return None
    count = f"{len(expected)} legal moves"
    lacks = [_moves("lacks", missing)] if missing else []
    return count, "; ".join(lacks + ([_moves("also has", also)] if also else []))


def _moves(what: str, moves: Iterable[str], count: int = 8) -> str:
    """Returns a list of moves as text, a long one abbreviated."""
    listed = list(moves)
    more = f" and {len(listed) - count} more" if len(listed) > count else ""
    return f"{what} {' '.join(listed[:count]) or 'none'}{more}"


def _in_words(outcome: Outcome) -> str:
    if not outcome.over:
        return "the game goes on"
    how = " and ".join(word for word in ("terminated", "truncated") if getattr(outcome, word))
    return f"{how}, by {outcome.reason}" if outcome.reason else how
