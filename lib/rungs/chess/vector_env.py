"""The contract of the chess environment: what every rung takes, gives and refuses."""

import contextlib
import dataclasses
from collections.abc import Callable, Sequence

import chess
import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode

from rungs.chess.actions import NUM_ACTIONS, action_of
from rungs.chess.boards.boards import Boards
from rungs.chess.boards.engine_plays import EnginePlays
from rungs.chess.buffers import Buffers
from rungs.chess.engine import UciEngine
from rungs.chess.observation import OBSERVATIONS
from rungs.chess.settings import ChessSettings
from rungs.core import state
from rungs.core.arguments import check_settings, integer
from rungs.core.batch_env import BatchEnv, stays_ended
from rungs.errors import ConfigurationError
from rungs.processes.interrupt import uninterrupted


class ChessVectorEnv(BatchEnv):
    """A batch of chess games for reinforcement learning.

    An action is one of AlphaZero's 4672, from the mover's point of view (`cpp/chess/action.hpp`).
    An observation is from the same point of view. Both `reset` and `step` put into `info`:

    - `action_mask`: the actions that `step` will take next, in the format asked for with `mask`;
    - `player`: (N,) int8, the side to move, 0 White, 1 Black;
    - `reason`: (N,) int8, why the episode that this step ended did so (`rungs.chess.reason`).

    A game ends by checkmate, stalemate, insufficient material, 50 moves or threefold repetition, as
    python-chess's `outcome(claim_draw=True)` says of the position reached. `reward` is +1 for the
    agent's mate, -1 for its opponent's, else 0.

    The arrays returned are the environment's own: the next `step` or `reset` overwrites them. Copy
    what you keep.

    Args:
        num_envs: number of boards, at least 1.
        boards: makes the boards: a class of `rungs.chess.boards`, one per rung. `rungs.make` names
            them: `rungs.make("chess", "threads", num_envs)`.
        seed: 0 to 2**64 - 1. All randomness is a pure function of (seed, board, episode, ply).
        first_board: the number of this batch's first board, where it is part of a larger one: its
            boards play the same as theirs. Errors name boards by these numbers.
        opponent: None, and one step is one ply of self-play; or "random", and one step is the
            agent's ply and the reply, chosen uniformly among the legal actions in order of id; or a
            `rungs.chess.engine.UciEngine`, and it replies. The agent is White where board number +
            episode number is even.
        obs: "board", (N, 72) int8 (`cpp/env/observation.hpp`); "planes", (N, 119, 8, 8) float32,
            AlphaZero's with eight positions of history (`cpp/env/observation.hpp`); or "bitplanes",
            (N, 119) uint64, the same for `rungs.chess.unpack.unpack_planes`.
        mask: "bool", (N, 4672) bool, or "bits", (N, 73) uint64: bit `a % 64` of word `a // 64`
            (`rungs.chess.unpack.unpack_mask`).
        autoreset_mode: gymnasium's, by member, name or value. SAME_STEP: a board whose episode
            ended is already at its next one, and where any did, `info` has `final_obs` and
            `final_info`, whose rows count where `_final_obs` is set. NEXT_STEP: it stays, its mask
            allows anything, and the next step ignores its action, begins the next episode and gives
            reward 0. DISABLED: it stays, its mask allows nothing, and `step` refuses until
            `reset(options={"reset_mask": ...})`.
        max_plies: an episode that has this many plies (both sides' counted) at the end of a step,
            and isn't over, is truncated. None: never.
        start_fens: positions that episodes start from, one chosen at random each time.
        opening_plies: how many random plies are played before an episode begins, (min, max),
            all numbers between equally likely. They count for repetition, not for `max_plies`.
            No ply before the agent's first ends the game: where one would, it is left out.
        **how: the rung's own settings, see its class. They change time and nothing else.

    Attributes:
        boards: the boards.
        num_envs: how many are this process's.
        device: where outputs are tensors, their device; else None.

    Raises:
        ConfigurationError: an argument is wrong; the message names it.
        InvalidFenError: a start is malformed, impossible, a game that is over, or at a move beyond
            59,000 (see `ChessSettings`).
    """

    def __init__(
        self,
        num_envs: int,
        boards: Callable[..., Boards],
        /,
        *,
        seed: int = 0,
        first_board: int = 0,
        opponent: str | UciEngine | None = None,
        obs: str = "board",
        mask: str = "bool",
        autoreset_mode: AutoresetMode | str = AutoresetMode.SAME_STEP,
        max_plies: int | None = None,
        start_fens: Sequence[str] = (chess.STARTING_FEN,),
        opening_plies: tuple[int, int] = (0, 0),
        **how,
    ):
        num_envs = integer("num_envs", num_envs, 1, 2**31 - 1)
        self._seed = integer("seed", seed, 0, 2**64 - 1)
        first_board = integer("first_board", first_board, 0, 2**31 - 1)
        self.settings = ChessSettings(
            opponent, obs, mask, autoreset_mode, max_plies, start_fens, opening_plies
        )
        check_settings(boards, how)
        self.boards = boards(num_envs, first_board, self.settings, **how)
        self.boards.agree(self._seed)
        if isinstance(opponent, UciEngine):
            self.boards = EnginePlays(self.boards)
        self.num_envs, self.first_board = self.boards.num_envs, self.boards.first_board
        self.device = self.boards.device
        actions = gymnasium.spaces.Discrete(NUM_ACTIONS)
        self._describe(self.settings.autoreset_mode, _observation_space(self.settings.obs), actions)
        self._write_to(self.boards.buffers)

    def reset(self, *, seed: int | None = None, options: dict | None = None):
        """Begins an episode on every board, or on some.

        Args:
            seed: begins episode 0 of this seed. Without it, the first reset begins episode 0 of the
                constructor's seed and later ones begin each board's next episode.
            options: {"reset_mask": (N,) bool} begins the next episode on the boards it marks and
                leaves the others as they are.

        Returns:
            observation (as `obs` says) and info.

        Raises:
            ConfigurationError: a wrong seed or option.
            EngineError: the engine failed to open a game; no board has changed.
        """
        with self._alone("reset"):
            if self.boards.elsewhere:
                with uninterrupted():
                    return self._reset(seed, options)
            return self._reset(seed, options)

    def _reset(self, seed: int | None, options: dict | None):
        self._check_open()
        which = self._reset_mask(seed, options)
        first = seed is not None or not self._begun
        seed = self._seed if seed is None else integer("seed", seed, 0, 2**64 - 1)
        self.boards.reset(which, seed, 0 if first else None)
        self._seed, self._begun = seed, True
        self._buffers.reason[...] = 0
        self._ended[:] = False if which is None else self._ended & ~which
        self._num_ended = int(self._ended.sum())
        return self._buffers.observation, self._info()

    def step(self, actions, out: Buffers | None = None):
        """Plays one action on every board.

        Args:
            actions: (N,) integers, an array or anything NumPy sees as one without a copy.
            out: where to write all outputs, from now on: one of `rollout`'s. So a rollout is
                written where it is read, and never copied.

        Returns:
            observation (as `obs` says), reward (N,) float32, terminated (N,) bool, truncated (N,)
            bool, and info.

        Raises:
            IllegalActionError: an action is not legal on its board; no board has changed.
            BusyError: another thread is in this environment; likewise of all its methods.
            ConfigurationError: actions have a wrong shape or dtype, or `out` has.
            EngineError: the engine failed to reply; no board has changed.
            gymnasium.error.ResetNeeded: no reset came before, or with DISABLED a board has ended.
        """
        if not self._lock.acquire(False):  # `_alone` takes longer than a small batch
            raise self._busy("step")
        try:
            if self.boards.elsewhere:
                with uninterrupted():
                    return self._step(actions, out)
            return self._step(actions, out)
        finally:
            self._lock.release()

    def _step(self, actions, out: Buffers | None):
        if self.closed or not self._begun:
            self._check_begun("step")
        actions = self.checked(actions)
        if out is not None and not self._is_ours(out):
            raise ConfigurationError("out is not one of this environment's rollout()")
        if self._num_ended:
            self._refuse_ended()
        if out is None:
            self._num_ended = self.boards.step(actions)  # entering a context takes longer than that
        else:
            with self._writing_to(out):
                self._num_ended = self.boards.step(actions)
        out, info = self._buffers, self._info()
        if self.autoreset_mode == AutoresetMode.SAME_STEP and self._num_ended:
            info["final_obs"] = out.final_observation
            info["_final_obs"] = info["_final_info"] = self._ended
            info["final_info"] = {"reason": out.reason}
        return out.observation, out.reward, out.terminated, out.truncated, info

    def rollout(self, length: int) -> tuple[Buffers, list[Buffers]]:
        """Allocates memory for the outputs of several steps.

        Args:
            length: how many steps.

        Returns:
            All outputs, zeroed, with a first axis of `length`; and for each step views of its own,
            for `step`.
        """
        length = integer("length", length, 1, 2**31 - 1)
        whole = self.boards.allocate(length, self.num_envs)
        return whole, [whole.rows(step) for step in range(length)]

    def fens(self) -> list[str]:
        """Returns the position of every board as a FEN."""
        with self._alone("fens"):
            self._check_begun("fens")
            return self.boards.fens()

    def legal_moves(self, board: int) -> dict[str, int]:
        """Returns one board's legal moves as UCI writes them, each with its action, in their order.

        None where the board's episode has ended and the next has not begun.

        Args:
            board: its index in the batch.
        """
        with self._alone("legal_moves"):
            self._check_begun("legal_moves")
            index = integer("board", board, 0, self.num_envs - 1)
            if stays_ended(self.autoreset_mode, self._ended)[index]:
                return {}
            # From the rules, as whoever has the mask may write to it.
            position = chess.Board(self.boards.fen(index))
        legal = {move.uci(): action_of(move, not position.turn) for move in position.legal_moves}
        return dict(sorted(legal.items(), key=lambda entry: entry[1]))

    def get_state(self) -> bytes:
        """Returns what decides what comes next, to go on from with `set_state` on the same rung."""
        with self._alone("get_state"):
            self._check_begun("get_state")
            return state.pack(self._identity() | {"seed": self._seed}, self.boards.dump())

    def set_state(self, saved: bytes):
        """Goes on from what `get_state` returned, in this environment or one made like it.

        Only `obs` and `mask` may differ, but observations with history need a state with history.

        Returns:
            observation and info, as `reset` does.

        Raises:
            InvalidStateError: `saved` is corrupt or of another rung, version, number of boards or
                setting; nothing has changed.
        """
        with self._alone("set_state"):
            self._check_open()
            numbers, payload = state.unpack(saved, self._identity(), {"seed": 2**64 - 1})
            self.boards.load(payload, numbers["seed"])
            self._seed, self._begun = numbers["seed"], True
            self._buffers.reason[...] = 0
            self._num_ended = int(self._ended.sum())
            return self._buffers.observation, self._info()

    def step_many(self, steps: int) -> int:
        """Plays random legal actions, so many on each board, in one launch; on the rung cuda alone.

        Args:
            steps: how many, at least 1.

        Returns:
            How many episodes ended; outputs are those of the last step.

        Raises:
            ConfigurationError: `steps` is wrong.
            UnavailableError: the rung is another.
            gymnasium.error.ResetNeeded: no reset came before, or with DISABLED a board has ended.
        """
        with self._alone("step_many"):
            steps = self._checked_steps(steps)
            ended = self.boards.step_many(steps)
            self._num_ended = int(self._ended.sum()) if self.boards.validate else 1
            return ended

    def serve(self) -> bool:
        """Works for another process's environment until that is closed, where this is its rank.

        Returns:
            Whether it was: with MPI, on all ranks but the first; else never.
        """
        self._check_open()
        served = self.boards.serve()
        if served:
            self.close()
        return served

    def memory_bytes(self) -> int:
        """Returns the size of all boards' state and outputs."""
        return self.boards.memory_bytes()

    def close_extras(self, **kwargs) -> None:
        """Lets go of the rung's processes (called by `close`)."""
        self.boards.close()

    def _is_ours(self, out) -> bool:
        """Says whether outputs can be written to `out`."""
        return type(out) is type(self._buffers) and out.is_like(self._buffers)

    def _write_to(self, buffers: Buffers) -> None:
        """Knows that outputs are written to `buffers`."""
        self._buffers, self._ended = buffers, buffers.ended

    @contextlib.contextmanager
    def _writing_to(self, buffers: Buffers):
        """Has outputs written to `buffers`, from now on unless the block raises."""
        before = self._buffers
        # Which boards stay ended is read before it is written.
        buffers.ended[:] = self._ended
        self._redirect(buffers)
        try:
            yield
        except BaseException:
            self._redirect(before)
            raise

    def _redirect(self, buffers: Buffers) -> None:
        self.boards.write_to(buffers)
        self._write_to(buffers)

    def _info(self) -> dict:
        out = self._buffers
        return {"action_mask": out.mask, "player": out.player, "reason": out.reason}

    def _identity(self) -> dict:
        settings = dataclasses.asdict(self.settings)
        del settings["obs"], settings["mask"]
        settings["autoreset_mode"] = self.settings.autoreset_mode.name
        return {
            "env": "chess",
            "layout": self.boards.layout(),
            "num_envs": self.num_envs,
            "first_board": self.first_board,
        } | settings


def _observation_space(obs: str) -> gymnasium.spaces.Box:
    shape, dtype = OBSERVATIONS[obs]
    if obs == "planes":
        return gymnasium.spaces.Box(0, np.inf, shape, dtype)
    return gymnasium.spaces.Box(np.iinfo(dtype).min, np.iinfo(dtype).max, shape, dtype)
