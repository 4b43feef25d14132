"""The errors that Rungs raises, all of them `RungsError`."""

from typing import Self

import gymnasium.error

__all__ = [
    "BusyError",
    "CompilerError",
    "ConfigurationError",
    "DivergedError",
    "EngineError",
    "GameError",
    "IllegalActionError",
    "InvalidActionError",
    "InvalidFenError",
    "InvalidStateError",
    "MainGuardError",
    "MismatchError",
    "OversubscriptionWarning",
    "RungsError",
    "StorageError",
    "UnavailableError",
    "UnsupportedError",
    "WorkerDiedError",
    "install_hint",
]


def install_hint(*extras: str) -> str:
    """Returns how to install extras of `pyproject.toml`: `install_hint("train")`.

    Rungs is on no package index: it is installed from the source tree or from a wheel file.
    """
    wanted = f"[{','.join(extras)}]"
    return f"pip install '.{wanted}' in a clone of Rungs, or './THE_WHEEL.whl{wanted}'"


class RungsError(Exception):
    """The base class of all errors of Rungs; it can be pickled, as process pools require."""

    def __reduce__(self) -> tuple:
        # `Exception.__reduce__` would call `__init__` with the message, which not all accept.
        return _unpickled, (type(self), self.args), self.__dict__


def _unpickled(kind: type[RungsError], args: tuple) -> RungsError:
    return kind.__new__(kind, *args)


class ConfigurationError(RungsError, ValueError):
    """An argument has a wrong value, type, shape or dtype; the message names it."""


class OversubscriptionWarning(RuntimeWarning):
    """More threads or processes are requested than there are cores to run them."""


class WorkerDiedError(RungsError, RuntimeError):
    """A worker process, number `worker`, died, raised, or took too long; the message names it."""

    def __init__(self, worker: int, why: str):
        self.worker = worker
        super().__init__(f"worker {worker} {why}")


class MainGuardError(RungsError, RuntimeError):
    """A script that starts processes lacks `if __name__ == "__main__":`; the message shows it."""

    def __init__(self) -> None:
        super().__init__(
            "this script starts processes, each of which imports it and would start them again; "
            "put the code that starts them below a guard:\n\n"
            'if __name__ == "__main__":\n'
            "    env = ...\n"
        )


class IllegalActionError(RungsError, gymnasium.error.InvalidAction, ValueError):
    """An action is not legal on its board. Nothing was changed on any board.

    The legal ones are in `info["action_mask"]`; `sample_actions` draws legal ones at random.

    Attributes:
        board: index of the board in the batch.
        action: the action id that was given.
        uci: the action's move in UCI notation, or None where it leaves the board.
        fen: the position it is illegal in.

    All are None where Gymnasium's `AsyncVectorEnv` re-raises a worker's error: it makes a new one
    from the message alone.
    """

    def __init__(
        self,
        message: object,
        board: int | None = None,
        action: int | None = None,
        uci: str | None = None,
        fen: str | None = None,
    ):
        self.board, self.action, self.uci, self.fen = board, action, uci, fen
        super().__init__(str(message))

    @classmethod
    def of(cls, board: int, action: int, uci: str | None, fen: str) -> Self:
        """Makes the error for an action on a board; the arguments are the attributes."""
        move = uci or "a move off the board"
        message = (
            f"board {board}: action {action} ({move}) is illegal in {fen}; "
            'info["action_mask"] marks legal actions, and sample_actions() draws from them'
        )
        return cls(message, board, action, uci, fen)


class InvalidActionError(RungsError, gymnasium.error.InvalidAction, ValueError):
    """An action, `action`, is not valid in environment `env`. Nothing was changed anywhere."""

    def __init__(self, env: int, action: int, allowed: str = "0 or 1"):
        self.env, self.action = env, action
        super().__init__(f"environment {env}: action {action} is not {allowed}")


class InvalidFenError(RungsError, ValueError):
    """A FEN is malformed, or its position is impossible; the message says why."""


class InvalidStateError(RungsError, ValueError):
    """A state or snapshot is not of this environment: corrupt, or of other settings or rung.

    Also where `copy` or `pickle` can't copy an object; the message says what does.
    """


class DivergedError(RungsError, ArithmeticError):
    """Training reached a loss or gradient that is not finite; it changed no weight."""


class EngineError(RungsError, RuntimeError):
    """A UCI engine could not be started, died, or did not answer in time. Nothing was changed.

    Attributes:
        board: index of the board that it was to move on, or None where it could not be started.
    """

    def __init__(self, message: str, board: int | None = None):
        self.board = board
        super().__init__(message if board is None else f"board {board}: {message}")


class GameError(RungsError, RuntimeError):
    """A game of one's own raised an exception, or returned something wrong; the message names it.

    The environment has to be reset.
    """


class StorageError(RungsError, OSError):
    """A file or folder can't be written: a full disk, no permission; the message names it."""


class UnavailableError(RungsError, RuntimeError):
    """Something this machine or installation lacks; the message says what, and how to get it."""


class UnsupportedError(RungsError, NotImplementedError):
    """An environment can't do what the conformance suite requires; the message names it."""


class CompilerError(RungsError, RuntimeError):
    """C++ could not be compiled or loaded; the message holds what the compiler said."""


class BusyError(RungsError, RuntimeError):
    """An environment was called while another thread was in it. Nothing was changed."""


class MismatchError(RungsError, AssertionError):
    """Two rungs that should be the same environment gave different outputs."""
