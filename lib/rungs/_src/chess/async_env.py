"""Two halves of the boards in flight: one is stepped while the other waits for its actions."""

import threading
from collections.abc import Sequence
from concurrent.futures import Future, wait
from typing import Any, Unpack

import gymnasium
import numpy as np
from numpy.typing import ArrayLike

from rungs._src.chess.boards.threads import ThreadsBoards
from rungs._src.chess.keywords import ChessKeywords
from rungs._src.chess.vector_env import ChessVectorEnv
from rungs._src.core.arguments import Seed, integer, seeds, seeds_of
from rungs._src.core.exclusive import OneCaller
from rungs._src.processes.interrupt import uninterrupted
from rungs._src.threads.helper import HelperThread
from rungs.errors import ConfigurationError


class AsyncChessEnv(OneCaller):
    """Boards in two halves that take turns, so that inference and simulation overlap.

    This is the double buffering of Sample Factory (Petrenko et al., ICML 2020, section 3.3). `recv`
    returns a half that waits for actions, `send` gives it some and starts its step, and meanwhile
    the next `recv` returns the other half::

        env = rungs.make_async("chess", num_envs=512)
        env.reset()
        while True:
            observation, reward, terminated, truncated, info = env.recv()
            env.send(policy(observation, info["action_mask"]))

    Halves take turns strictly, and board `i` plays the same games as in one environment of all
    boards: results don't depend on timing.

    Args:
        num_envs: number of boards, even. A `seed` may be a sequence with one for each.
        **settings: of `rungs.make("chess", "threads", ...)`.
    """

    def __init__(self, num_envs: int, **settings: Unpack[ChessKeywords]):
        self.num_envs = integer("num_envs", num_envs, 2, 2**31 - 1)
        if self.num_envs % 2:
            raise ConfigurationError(f"num_envs={num_envs} has no two halves")
        half = self.num_envs // 2
        first = integer("first_board", settings.get("first_board", 0), 0, 2**31 - 1 - half)
        every = seeds("seed", settings.get("seed", 0), self.num_envs)
        self.halves: tuple[ChessVectorEnv[np.ndarray], ...] = tuple(
            ChessVectorEnv(
                half,
                ThreadsBoards,
                **settings | {"first_board": first + start, "seed": self._of_half(every, start)},
            )
            for start in (0, half)
        )
        self._helper = HelperThread()
        self._lock = threading.RLock()
        self._begun = self._closed = False

    def reset(self, *, seed: int | Sequence[int] | np.ndarray | None = None) -> None:
        """Begins an episode on every board; the next two `recv` return both halves' first outputs.

        A step that is in flight is finished first, and its outputs are dropped. `seed` is as for
        `ChessVectorEnv.reset`: one, or one for each board.
        """
        with self._alone("reset"):
            self._check_open()
            every = None if seed is None else seeds("seed", seed, self.num_envs)
            if self._begun:
                wait(self._pending)
            starts = (0, self.num_envs // 2)
            self._begun = False  # until both halves are reset: an engine may fail
            with uninterrupted():
                outcomes = [
                    half.reset(seed=None if every is None else self._of_half(every, start))
                    for half, start in zip(self.halves, starts, strict=True)
                ]
                self._pending: list[Future] = [_done(*outcome) for outcome in outcomes]
                self._turn, self._received, self._begun = 0, False, True

    def recv(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Waits for the half whose turn it is. After Ctrl-C the next call returns the same half.

        Returns:
            What `step` returns, for half of the boards; `info["boards"]` is their slice of all
            boards. The arrays stay as they are until that half's next turn.

        Raises:
            IllegalActionError: one of the actions sent was illegal on its board. No board of the
                half has changed, and it waits for actions as before.
            gymnasium.error.NoAsyncCallError: this half was received already and waits for `send`.
            BusyError: another thread is in this environment; all its methods raise this.
        """
        with self._alone("recv"):
            self._check_begun()
            if self._received:
                raise gymnasium.error.NoAsyncCallError("send actions before the next recv", "recv")
            wait([self._pending[self._turn]])
            self._received = True
            observation, reward, terminated, truncated, info = self._pending[self._turn].result()
            half = self.num_envs // 2
            info["boards"] = slice(self._turn * half, (self._turn + 1) * half)
            return observation, reward, terminated, truncated, info

    def send(self, actions: ArrayLike) -> None:
        """Starts a step of the half that was received last by (N / 2,) integers, which are copied.

        Raises:
            ConfigurationError: actions have a wrong shape or dtype; nothing was started.
            gymnasium.error.NoAsyncCallError: no half was received.
        """
        with self._alone("send"):
            self._check_begun()
            if not self._received:
                raise gymnasium.error.NoAsyncCallError("recv a half before you send to it", "send")
            half = self.halves[self._turn]
            copied = np.array(half.checked(actions))
            with uninterrupted():
                self._pending[self._turn] = self._helper.submit(half.step, copied)
                self._turn, self._received = 1 - self._turn, False

    def wait(self) -> None:
        """Waits until no step is in flight."""
        with self._alone("wait"):
            self._check_begun()
            wait(self._pending)

    def fens(self) -> list[str]:
        """Returns the positions of all boards, once no step is in flight."""
        with self._alone("fens"):
            self.wait()
            return [fen for half in self.halves for fen in half.fens()]

    def close(self) -> None:
        """Finishes what is in flight; may be called twice."""
        with self._alone("close"):
            self._closed = True
            self._helper.close()
            for half in self.halves:
                half.close()

    def _of_half(self, seed: Seed, start: int) -> Seed:
        return seeds_of(seed, slice(start, start + self.num_envs // 2))

    def _check_open(self) -> None:
        if self._closed:
            raise gymnasium.error.ClosedEnvironmentError("the environment is closed")

    def _check_begun(self) -> None:
        self._check_open()
        if not self._begun:
            raise gymnasium.error.ResetNeeded("call reset() first")


def _done(observation: np.ndarray, info: dict) -> Future:
    """Returns a half's first outputs, as the future of a finished step."""
    nothing = np.zeros(len(observation), np.bool_)
    future: Future = Future()
    reward = np.zeros(len(observation), np.float32)
    future.set_result((observation, reward, nothing, nothing.copy(), info))
    return future
