"""The contract of the chess environment: what every rung takes, gives and refuses."""

import abc
import contextlib
import dataclasses
from collections.abc import Sequence

import chess
import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode

from rungs import state
from rungs.arguments import integer
from rungs.batch_env import BatchEnv
from rungs.chess.actions import NUM_ACTIONS, action_of, move_of
from rungs.chess.buffers import Buffers
from rungs.chess.engine import EngineProcess, UciEngine
from rungs.chess.observation import OBSERVATIONS
from rungs.chess.settings import ChessSettings
from rungs.chess.unpack import unpack_mask
from rungs.errors import ConfigurationError, IllegalActionError
from rungs.memory import on_host


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
        seed: 0 to 2**64 - 1. All randomness is a pure function of (seed, board, episode, ply).
        first_board: the number of this batch's first board, where it is part of a larger one: its
            boards play the same as theirs. Errors name boards by these numbers.
        opponent: None, and one step is one ply of self-play; or "random", and one step is the
            agent's ply and the reply, chosen uniformly among the legal actions in order of id; or a
            `rungs.chess.engine.UciEngine`, and it replies. The agent is White where board number +
            episode number is even.
        obs: "board", (N, 72) int8 (`cpp/env/observation.hpp`); "planes", (N, 119, 8, 8) float32,
            AlphaZero's with eight positions of history (`cpp/env/planes.hpp`); or "bitplanes",
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
        opening_plies: how many random plies are played before an episode begins, (least, most),
            all numbers between equally likely. They count for repetition, not for `max_plies`.
            No ply before the agent's first ends the game: where one would, it is left out.

    Raises:
        ConfigurationError: an argument is wrong; the message names it.
        InvalidFenError: a start is malformed, impossible, or a game that is over.
    """

    def __init__(
        self,
        num_envs: int,
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
    ):
        self.num_envs = integer("num_envs", num_envs, 1, 2**31 - 1)
        self._seed = integer("seed", seed, 0, 2**64 - 1)
        self.first_board = integer("first_board", first_board, 0, 2**31 - 1)
        self.settings = ChessSettings(
            opponent, obs, mask, autoreset_mode, max_plies, start_fens, opening_plies
        )
        actions = gymnasium.spaces.Discrete(NUM_ACTIONS)
        self._describe(self.settings.autoreset_mode, _observation_space(obs), actions)
        self._buffers = self._allocate(obs, mask)
        self._ended = self._buffers.ended
        self._engine = EngineProcess(opponent) if isinstance(opponent, UciEngine) else None

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
        self._check_open()
        which = self._reset_mask(seed, options or {})
        first = seed is not None or not self._begun
        seed = self._seed if seed is None else integer("seed", seed, 0, 2**64 - 1)
        with self._unchanged_on_engine_error():
            self._seed = seed
            self._buffers.reason[...] = 0
            self._reset(which, 0 if first else None)
            self._begun = True
            self._ended[:] = False if which is None else self._ended & ~which
            self._num_ended = int(self._ended.sum())
            self._engine_opens(np.ones(self.num_envs, np.bool_) if which is None else which)
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
            ConfigurationError: actions have a wrong shape or dtype, or `out` has.
            EngineError: the engine failed to reply; no board has changed.
            gymnasium.error.ResetNeeded: no reset came before, or with DISABLED a board has ended.
        """
        self._check_begun("step")
        actions = self.checked(actions)
        if out is not None and not out.is_like(self._buffers):
            raise ConfigurationError("out is not one of this environment's rollout()")
        self._refuse_ended()
        if out is None and not self._engine:
            self._num_ended = self._step(actions, None)  # entering contexts takes longer than that
        else:
            with self._unchanged_on_engine_error(), self._writing_to(out or self._buffers):
                if self._engine:
                    self._step_against_engine(actions)
                else:
                    self._num_ended = self._step(actions, None)
        out, info = self._buffers, self._info()
        if self.autoreset_mode == AutoresetMode.SAME_STEP and self._num_ended:
            info["final_obs"] = out.final_observation
            info["_final_obs"] = info["_final_info"] = self._ended
            info["final_info"] = {"reason": out.reason}
        return out.observation, out.reward, out.terminated, out.truncated, info

    def rollout(self, length: int) -> tuple[Buffers, list[Buffers]]:
        """Memory for the outputs of several steps.

        Args:
            length: how many steps.

        Returns:
            All outputs, zeroed, with a first axis of `length`; and for each step views of its own,
            for `step`.
        """
        length = integer("length", length, 1, 2**31 - 1)
        whole = Buffers.allocate((length, self.num_envs), self.settings.obs, self.settings.mask)
        return whole, [whole.rows(step) for step in range(length)]

    def fens(self) -> list[str]:
        """The position of every board as a FEN."""
        self._check_begun("fens")
        return [self._fen(board) for board in range(self.num_envs)]

    def legal_moves(self, board: int) -> dict[str, int]:
        """The legal moves of one board as UCI writes them, each with its action, in their order.

        None where the board's episode has ended and the next has not begun.

        Args:
            board: its index in the batch.
        """
        self._check_begun("legal_moves")
        index = integer("board", board, 0, self.num_envs - 1)
        if self._stays_ended[index]:
            return {}
        position = chess.Board(self._fen(index))
        bits = on_host(self._buffers.mask[index])
        if self.settings.mask == "bits":
            bits = unpack_mask(bits)
        actions = np.flatnonzero(bits).tolist()
        return {move_of(action, position).uci(): action for action in actions}

    def get_state(self) -> bytes:
        """All that decides what comes next, to go on from it with `set_state` on the same rung."""
        self._check_begun("get_state")
        ended = np.flatnonzero(self._stays_ended).tolist()
        return state.pack(self._identity() | {"seed": self._seed, "ended": ended}, self._dump())

    def set_state(self, saved: bytes):
        """Goes on from what `get_state` returned, in this environment or one made like it.

        Only `obs` and `mask` may differ, but observations with history need a state with history.

        Returns:
            observation and info, as `reset` does.

        Raises:
            InvalidStateError: `saved` is corrupt or of another rung, version, number of boards or
                setting; nothing has changed.
        """
        self._check_open()
        identity, payload = state.unpack(saved, self._identity())
        self._seed = identity["seed"]
        self._load(payload)
        self._buffers.reason[...] = 0
        self._ended[:] = False
        self._ended[identity["ended"]] = True
        self._num_ended = len(identity["ended"])
        self._begun = True
        return self._buffers.observation, self._info()

    def close_extras(self, **kwargs) -> None:
        """Stops the engine, if there is one (called by `close`)."""
        if self._engine:
            self._engine.close()

    @abc.abstractmethod
    def _reset(self, which: np.ndarray | None, episode: int | None) -> None:
        """Begins `episode`, or each board's next, where `which` is set; fills the buffers."""

    @abc.abstractmethod
    def _step(self, actions: np.ndarray, replies: np.ndarray | None) -> int:
        """Plays (N,) int64 `actions` and fills the buffers, or raises and changes nothing.

        `replies` are the opponent's actions where an engine plays it. Returns how many episodes
        ended.
        """

    @abc.abstractmethod
    def _begin_with(self, replies: np.ndarray) -> None:
        """Plays an engine's first plies, (N,) int64, -1 for none, unless they end a game."""

    @abc.abstractmethod
    def _fen(self, board: int) -> str:
        """The position of one board."""

    @abc.abstractmethod
    def _episode(self, board: int) -> int:
        """The number of a board's episode."""

    @abc.abstractmethod
    def _layout(self) -> str:
        """What `_dump` writes, in words that change when it does."""

    @abc.abstractmethod
    def _dump(self) -> bytes:
        """The state of all boards."""

    @abc.abstractmethod
    def _load(self, payload: bytes) -> None:
        """Takes what `_dump` gave; fills observations, masks and players."""

    def _illegal(self, board: int, action: int, fen: str) -> IllegalActionError:
        """The error that names an illegal action on one board of the batch."""
        move = move_of(action, chess.Board(fen))
        return IllegalActionError(self.first_board + board, action, move and move.uci(), fen)

    def _allocate(self, obs: str, mask: str) -> Buffers:
        """The outputs' memory."""
        return Buffers.allocate((self.num_envs,), obs, mask)

    def _write_to(self, buffers: Buffers) -> None:
        """Has outputs written to `buffers`."""
        self._buffers, self._ended = buffers, buffers.ended

    @contextlib.contextmanager
    def _writing_to(self, buffers: Buffers):
        """Has outputs written to `buffers`, from now on unless the block raises."""
        before = self._buffers
        if buffers is before:
            yield
            return
        # Which boards stay ended is read before it is written.
        buffers.ended[:] = self._ended
        self._write_to(buffers)
        try:
            yield
        except BaseException:
            self._write_to(before)
            raise

    def _info(self) -> dict:
        out = self._buffers
        return {"action_mask": out.mask, "player": out.player, "reason": out.reason}

    def _identity(self) -> dict:
        settings = dataclasses.asdict(self.settings)
        del settings["obs"], settings["mask"]
        settings["autoreset_mode"] = self.settings.autoreset_mode.name
        return {
            "env": "chess",
            "layout": self._layout(),
            "num_envs": self.num_envs,
            "first_board": self.first_board,
        } | settings

    def _step_against_engine(self, actions: np.ndarray) -> None:
        replies = self._engine_replies(actions)
        ended_before = self._ended.copy()
        self._num_ended = self._step(actions, replies)
        same_step = self.settings.autoreset_mode == AutoresetMode.SAME_STEP
        self._engine_opens(self._ended if same_step else ended_before)

    def _engine_replies(self, actions: np.ndarray) -> np.ndarray:
        """What the engine answers to each action; -1 where it has nothing to answer."""
        positions = {}
        for i, action in enumerate(actions.tolist()):
            if self._stays_ended[i]:
                continue
            position = chess.Board(self._fen(i))
            move = move_of(action, position)
            if move is None or move not in position.legal_moves:
                raise self._illegal(i, action, position.fen())
            position.push(move)
            positions[i] = position
        return self._ask_engine(positions)

    def _engine_opens(self, begun: np.ndarray) -> None:
        """Where an episode has just begun and the engine is White, lets it play its first ply."""
        if not self._engine:
            return
        positions = {}
        for i in np.flatnonzero(begun).tolist():
            position = chess.Board(self._fen(i))
            agent_is_black = (self.first_board + i + self._episode(i)) % 2 == 1
            if (not position.turn) != agent_is_black:
                positions[i] = position
        self._begin_with(self._ask_engine(positions))

    def _ask_engine(self, positions: dict[int, chess.Board]) -> np.ndarray:
        replies = np.full(self.num_envs, -1)
        for i, position in positions.items():
            if any(position.legal_moves):
                move = self._engine.reply(position, self.first_board + i)
                replies[i] = action_of(move, not position.turn)
        return replies

    @contextlib.contextmanager
    def _unchanged_on_engine_error(self):
        """Puts everything back where an engine fails half-way through."""
        if not self._engine:
            yield
            return
        names = ("_seed", "_begun", "_num_ended")
        saved = {name: getattr(self, name) for name in names}
        buffers = self._buffers.save()
        boards = self._dump()
        try:
            yield
        except BaseException:
            self._load(boards)
            vars(self).update(saved)
            self._buffers.restore(buffers)
            raise


def _observation_space(obs: str) -> gymnasium.spaces.Box:
    shape, dtype = OBSERVATIONS[obs]
    if obs == "planes":
        return gymnasium.spaces.Box(0, np.inf, shape, dtype)
    return gymnasium.spaces.Box(np.iinfo(dtype).min, np.iinfo(dtype).max, shape, dtype)
