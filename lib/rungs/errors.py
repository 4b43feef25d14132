"""The errors that Rungs raises, all of them `RungsError`."""

from typing import Self

import gymnasium.error

__all__ = [
    "BusyError",
    "CompilerError",
    "ConfigurationError",
    "DivergedError",
    "EngineError",
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

    No package index has Rungs: the source tree or a wheel's file is what is installed.
    """
    wanted = f"[{','.join(extras)}]"
    return f"pip install '.{wanted}' in a clone of Rungs, or './THE_WHEEL.whl{wanted}'"


class RungsError(Exception):
    """Anything Rungs itself has to say; it can be pickled, as pools of processes do."""

    def __reduce__(self) -> tuple:
        # Exception's own would call `__init__` with the message, which is not what all take.
        return _unpickled, (type(self), self.args), self.__dict__


def _unpickled(kind: type[RungsError], args: tuple) -> RungsError:
    return kind.__new__(kind, *args)


class ConfigurationError(RungsError, ValueError):
    """An argument has a wrong value, type, shape or dtype; the message names it."""


class OversubscriptionWarning(RuntimeWarning):
    """More threads or processes are asked for than there are cores to run them."""


class WorkerDiedError(RungsError, RuntimeError):
    """A worker process ended without being asked to, raised, or took too long; it is named.

    Attributes:
        worker: its number.
    """

    def __init__(self, worker: int, why: str):
        self.worker = worker
        super().__init__(f"worker {worker} {why}")


class MainGuardError(RungsError, RuntimeError):
    """A script that starts processes lacks `if __name__ == "__main__":`; the message shows it."""

    def __init__(self) -> None:
        super().__init__(
            "this script starts processes, each of which imports it and would start them again; "
            "what starts them must stand below a guard:\n\n"
            'if __name__ == "__main__":\n'
            "    env = ...\n"
        )


class IllegalActionError(RungsError, gymnasium.error.InvalidAction, ValueError):
    """An action is not legal on its board. Nothing was changed on any board.

    The legal ones are in `info["action_mask"]`; `sample_actions` draws some of them at random.

    Attributes:
        board: index of the board in the batch.
        action: the action id that was given.
        uci: the move it stands for, as UCI writes it, or None where it leaves the board.
        fen: the position it is illegal in.

    All are None where Gymnasium's `AsyncVectorEnv` raises a worker's error again: it makes a new
    one of the message alone.
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
        """Makes the error of an action on a board; arguments as the attributes."""
        move = uci or "a move off the board"
        message = (
            f"board {board}: action {action} ({move}) is illegal in {fen}; "
            'info["action_mask"] says which are legal, and sample_actions() draws such'
        )
        return cls(message, board, action, uci, fen)


class InvalidActionError(RungsError, gymnasium.error.InvalidAction, ValueError):
    """An action is none that there is. Nothing was changed in any environment.

    Attributes:
        env: its number.
        action: what was given.
    """

    def __init__(self, env: int, action: int, allowed: str = "0 or 1"):
        self.env, self.action = env, action
        super().__init__(f"environment {env}: action {action} is not {allowed}")


class InvalidFenError(RungsError, ValueError):
    """A FEN is malformed, or its position is impossible; the message says why."""


class InvalidStateError(RungsError, ValueError):
    """A state or snapshot is none of this environment: corrupt, of other settings or rung."""


class DivergedError(RungsError, ArithmeticError):
    """Learning came to a loss or a gradient that is not finite; no weight was moved by it."""


class EngineError(RungsError, RuntimeError):
    """A UCI engine could not be started, died, or did not answer in time. Nothing was changed.

    Attributes:
        board: index of the board that it was to move on, or None where it could not be started.
    """

    def __init__(self, message: str, board: int | None = None):
        self.board = board
        super().__init__(message if board is None else f"board {board}: {message}")


class StorageError(RungsError, OSError):
    """A file or folder can't be written: a full disk, no permission; the message names it."""


class UnavailableError(RungsError, RuntimeError):
    """Something this machine or installation lacks; the message says what, and how to get it."""


class UnsupportedError(RungsError, NotImplementedError):
    """An environment has no way to do what the conformance suite asks for; it is named."""


class CompilerError(RungsError, RuntimeError):
    """C++ could not be compiled or loaded; the message holds what the compiler said."""


class BusyError(RungsError, RuntimeError):
    """An environment was called while another thread was in it. Nothing was changed."""


class MismatchError(RungsError, AssertionError):
    """Two rungs that should be the same environment gave different outputs."""
