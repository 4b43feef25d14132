"""The contract of the chess environment: what every rung accepts, returns and rejects."""

import contextlib
import dataclasses
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode
from numpy.typing import ArrayLike

from rungs._src.chess.actions import NUM_ACTIONS, legal_actions
from rungs._src.chess.boards.boards import Boards, CopyableBoards
from rungs._src.chess.boards.engine import EngineBoards, EngineGame
from rungs._src.chess.buffers import POSITION
from rungs._src.chess.engine import UciEngine
from rungs._src.chess.fen import board_of
from rungs._src.chess.observation import OBSERVATIONS
from rungs._src.chess.settings import ChessSettings
from rungs._src.chess.snapshot import Snapshot
from rungs._src.core import state
from rungs._src.core.arguments import INT64, checked_indices, choice, integer, seeds, shown
from rungs._src.core.batch_env import ArrayT, BatchEnv, stays_ended
from rungs._src.core.buffers import Buffers
from rungs._src.core.memory import memory_for
from rungs._src.core.settings import split_settings
from rungs.errors import ConfigurationError, InvalidStateError, UnavailableError


class ChessVectorEnv(BatchEnv[ArrayT]):
    """A batch of chess games for reinforcement learning.

    An action is one of AlphaZero's 4672, from the mover's point of view (`cpp/chess/action.hpp`).
    Most are illegal in a position: `sample_actions` draws legal ones, `action_space.sample` any.
    An observation is from the same point of view. Both `reset` and `step` put into `info`:

    - `action_mask`: the actions that `step` accepts next, in the format that `mask` selects;
      with `mask="list"` also `action_count`, (N,) int16, how many of them are listed;
    - `player`: (N,) int8, the side to move, 0 White, 1 Black;
    - `reason`: (N,) int8, why the board's episode ended in this step (`rungs._src.chess.reason`).

    A game ends by checkmate, stalemate, insufficient material, 50 moves or threefold repetition, as
    python-chess's `outcome(claim_draw=True)` says of the position reached. `reward` is +1 for the
    agent's mate, -1 for its opponent's, else 0; without an `opponent` the agent is the side that
    has just moved.

    The arrays returned are the environment's own: the next `step` or `reset` overwrites them. Copy
    what you keep.

    Args:
        num_envs: number of boards, at least 1.
        boards: makes the boards: a class of `chess.boards`, one per rung. `rungs.make` finds it by
            the rung's name: `rungs.make("chess", "threads", num_envs)`.
        seed: 0 to 2**64 - 1. All randomness is a pure function of (seed, board, episode, ply). Or a
            sequence, a seed for each board, which then plays as board 0 of a batch with that seed,
            with that board's colour, too.
        first_board: the number of this batch's first board, where it is part of a larger batch: its
            boards play as that batch's of the same numbers do. Errors name boards by these numbers.
        **settings: those of `rungs.chess.ChessSettings`; and the rung's own, see its class, which
            change only time.

    Attributes:
        boards: the boards.
        num_envs: the number of boards of this process.
        device: where outputs are tensors, their device; else None.

    Raises:
        ConfigurationError: an argument is wrong; the message names it.
        InvalidFenError: a start is malformed, impossible, a game that is over, at a move beyond
            59,000, or has too many pieces for `mask="list"` (see `ChessSettings`).
        UnavailableError: the system has too little memory, or what the rung needs is not here.
    """

    def __init__(
        self,
        num_envs: int,
        boards: Callable[..., Boards],
        /,
        *,
        seed: int | Sequence[int] | np.ndarray = 0,
        first_board: int = 0,
        **settings: Any,
    ):
        num_envs = integer("num_envs", num_envs, 1, 2**31 - 1)
        self._seed = seeds("seed", seed, num_envs)
        first_board = integer("first_board", first_board, 0, 2**31 - 1)
        self.settings, rung_settings = split_settings(
            settings, ChessSettings, boards, ChessVectorEnv
        )
        with memory_for(f"num_envs={num_envs} boards"):
            self.boards = boards(num_envs, first_board, self.settings, **rung_settings)
        # The boards themselves, or a game in which an engine replies.
        self._game: Boards | EngineGame = self.boards
        if isinstance(self.settings.opponent, UciEngine):
            assert isinstance(self.boards, EngineBoards)  # others reject an engine
            self._game = EngineGame(self.boards)
        self.num_envs, self.first_board = self.boards.num_envs, self.boards.first_board
        self.device = self.boards.device
        self._host_shape = (self.num_envs,) if self.device is None else None  # of actions
        actions = gymnasium.spaces.Discrete(NUM_ACTIONS)
        self._describe(self.settings.autoreset_mode, _observation_space(self.settings), actions)
        self._write_to(self.boards.buffers)

    def reset(
        self,
        *,
        seed: int | Sequence[int] | np.ndarray | None = None,
        options: dict | None = None,
        out: Buffers | None = None,
    ) -> tuple[ArrayT, dict[str, Any]]:
        """Begins an episode on all boards, or some; returns observation (as `obs` says) and info.

        Args:
            seed: begins episode 0 of this seed, or in a sequence of each board's seed, as for the
                constructor. Without it, the first reset begins episode 0 of the constructor's seed,
                and later ones begin each board's next episode.
            options: {"reset_mask": (N,) bool} begins the next episode on the boards it marks and
                leaves the others as they are.
            out: as for `step`; rows of boards that are not reset are copied to it.

        Raises:
            ConfigurationError: a wrong seed or option, more or fewer seeds than boards, or `out`
                has a wrong shape or dtype; no board has changed.
            EngineError: the engine failed to open a game; no board has changed.
        """
        with self._alone("reset"):
            which, new_seed, first = self._reset_arguments(seed, options)
            before = self._buffers
            with contextlib.nullcontext() if out is None else self._writing_to(out):
                if out is not None and which is not None:
                    out.restore({name: getattr(before, name) for name in POSITION})
                self._game.reset(which, new_seed, 0 if first else None)
            self._seed, self._begun = new_seed, True
            self._buffers.reason[...] = 0
            self._ended[:] = False if which is None else self._ended & ~which
            self._num_ended = int(self._ended.sum())
            return self._buffers.observation, self._info()

    def step(
        self, actions: ArrayLike, out: Buffers | None = None
    ) -> tuple[ArrayT, ArrayT, ArrayT, ArrayT, dict[str, Any]]:
        """Plays one action on every board.

        Args:
            actions: (N,) integers, an array or anything NumPy sees as one without a copy.
            out: one of `rollout`'s buffers, to which this and all later outputs are written, so
                that they need no copy.

        Returns:
            observation (as `obs` says), reward (N,) float32, terminated (N,) bool, truncated (N,)
            bool, and info.

        Raises:
            IllegalActionError: an action is not legal on its board; no board has changed.
            BusyError: another thread is in this environment; all its methods raise this.
            ConfigurationError: actions have a wrong shape or dtype, or `out` has.
            EngineError: the engine failed to reply; no board has changed.
            gymnasium.error.ResetNeeded: no reset came before, or with DISABLED a board has ended.
        """
        # `_alone`, `checked` and `_writing_to` take longer than to step a small batch.
        if not self._lock.acquire(False):
            raise self._busy("step")
        try:
            if self.closed or not self._begun:
                self._check_begun("step")
            if not (
                type(actions) is np.ndarray
                and actions.dtype is INT64
                and actions.shape == self._host_shape
            ):
                actions = self.checked(actions)
            if self._num_ended:
                self._refuse_ended()
            if out is None:
                self._num_ended = self._game.step(actions)
            else:
                with self._writing_to(out):
                    self._num_ended = self._game.step(actions)
            info = self._info_arrays.copy()
            if self._num_ended != 0 and self.autoreset_mode == AutoresetMode.SAME_STEP:
                info["final_obs"] = self._buffers.final_observation
                info["_final_obs"] = info["_final_info"] = self._ended
                info["final_info"] = {"reason": self._buffers.reason}
            observation, reward, terminated, truncated = self._step_outputs
            return observation, reward, terminated, truncated, info
        finally:
            self._lock.release()

    def sample_actions(self, rng: np.random.Generator | int | None = None) -> ArrayT:
        """Chooses one uniformly random action per board of those that `step` accepts, (N,) int64.

        The same `rng` chooses the same actions on every rung, and the same as
        `rungs.chess.random_actions(info["action_mask"], rng)`; C++ rungs choose them in C++.

        Args:
            rng: a random generator; or the seed of a generator for this call alone; or None: other
                actions in each call and run.

        Raises:
            ConfigurationError: `rng` is none of these; or a board has ended and waits for a reset.
            gymnasium.error.ResetNeeded: no reset came before.
        """
        with self._alone("sample_actions"):
            self._check_begun("sample_actions")
            if rng is None:
                rng = np.random.default_rng()
            elif not isinstance(rng, np.random.Generator):
                rng = np.random.default_rng(integer("rng", rng, 0, 2**64 - 1))
            return self.boards.sample(rng)

    def rollout(self, length: int) -> tuple[Buffers, list[Buffers]]:
        """Allocates memory for the outputs of `length` steps.

        Returns:
            All outputs, zeroed, with a first axis of `length`; and for each step views of its rows,
            for `step`.
        """
        length = integer("length", length, 1, 2**31 - 1)
        with memory_for(f"length={length} steps of {self.num_envs} boards"):
            outputs = self.boards.allocate(length, self.num_envs)
        return outputs, [outputs.rows(step) for step in range(length)]

    def fens(self) -> list[str]:
        """Returns the position of every board as a FEN."""
        with self._alone("fens"):
            self._check_begun("fens")
            return self.boards.fens()

    def legal_moves(self, board: int) -> dict[str, int]:
        """Returns a board's legal moves in UCI notation, with their actions, in order of action.

        Castling is written as in Chess960, the king takes its rook ("e1h1"), in an environment
        whose starts are of Chess960: `start="chess960"`, or any of `start_fens` has a right to
        castle that classical chess does not have. Else it is the king's two squares ("e1g1").
        Empty where the board's episode has ended and the next has not begun.
        """
        with self._alone("legal_moves"):
            self._check_begun("legal_moves")
            index = integer("board", board, 0, self.num_envs - 1)
            if stays_ended(self.autoreset_mode, self._ended)[index]:
                return {}
            # From the rules, as the caller may have written to the mask.
            position = board_of(self.boards.fen(index), self.settings.chess960)
        legal = {move.uci(): action for action, move in legal_actions(position).items()}
        return dict(sorted(legal.items(), key=lambda entry: entry[1]))

    def get_state(self) -> bytes:
        """Returns all that later steps depend on, for `set_state` on the same rung."""
        with self._alone("get_state"):
            self._check_begun("get_state")
            return state.pack(
                self._identity() | {"seed": state.seed_number(self._seed)}, self.boards.dump()
            )

    def set_state(self, saved: bytes) -> tuple[ArrayT, dict[str, Any]]:
        """Goes on from what `get_state` returned, here or elsewhere; returns what `reset` does.

        Only `obs`, `dtype` and `mask` may differ, but observations with history need a state with
        history.

        Raises:
            InvalidStateError: `saved` is corrupt or of another rung, version, number of boards or
                setting; nothing has changed.
        """
        with self._alone("set_state"):
            self._check_open()
            seed, _, payload = state.unpack(saved, self._identity(), {}, self.num_envs)
            self._game.load(payload, seed)
            self._seed, self._begun = seed, True
            self._buffers.reason[...] = 0
            self._num_ended = int(self._ended.sum())
            return self._buffers.observation, self._info()

    def copy_boards(
        self, source: ArrayLike, target: ArrayLike, *, randomness: str = "same"
    ) -> tuple[ArrayT, dict[str, Any]]:
        """Overwrites boards `target` with copies of boards `source`; returns what `reset` does.

        All of `source` are read before any of `target` is written, so boards can change places. The
        copy's `reward`, `terminated`, `truncated` and `reason` are 0, as after a reset; an episode
        that has ended and not begun again has ended in the copy, too.

        Randomness is a function of seed, board number, episode and ply. With "same" a copy takes
        over its source's seed, board number and episode: given the same actions it goes on bit for
        bit as its source does, as a search needs it. With "own" it keeps its own, so that random
        numbers differ from then on, as games of a league need it. Either way, errors name boards by
        their place in the batch. `reset` gives a board its own seed and number back, and begins the
        episode after its current one.

        Args:
            source: (n,) integers, indices of boards in this batch; one may be there twice.
            target: (n,) integers, all different: board `target[k]` becomes what `source[k]` is.
            randomness: "same" or "own".

        Raises:
            ConfigurationError: indices have a wrong shape, dtype or length, are out of range, or
                name a target twice; no board has changed.
            UnavailableError: the rung keeps boards in other processes.
            gymnasium.error.ResetNeeded: no reset came before.
        """
        with self._alone("copy_boards"):
            self._check_begun("copy_boards")
            source = checked_indices("source", source, self.num_envs)
            target = self._targets("target", target, len(source))
            own_randomness = _has_own_randomness(randomness)
            return self._overwrite(self._copyable().save(source), target, own_randomness)

    def snapshot(self, indices: ArrayLike | None = None) -> Snapshot:
        """Copies boards, (n,) integers or None for all, for `restore`; quick, and in memory.

        Raises:
            ConfigurationError: indices have a wrong shape or dtype, or are out of range.
            UnavailableError: the rung keeps boards in other processes.
            gymnasium.error.ResetNeeded: no reset came before.
        """
        with self._alone("snapshot"):
            self._check_begun("snapshot")
            if indices is None:
                indices = np.arange(self.num_envs)
            indices = checked_indices("indices", indices, self.num_envs)
            copies = self._copyable().save(indices)
            return Snapshot(indices, self._seed, self.settings, self.boards.layout(), copies)

    def restore(
        self, snapshot: Snapshot, indices: ArrayLike | None = None, *, randomness: str = "same"
    ) -> tuple[ArrayT, dict[str, Any]]:
        """Overwrites boards with those of a snapshot, as often as wanted; returns as `reset` does.

        Args:
            snapshot: of this environment, or of another in this process with the same rung and
                settings, whatever its number of boards.
            indices: (n,) integers, all different: which boards become the n copies, in their order;
                None for those that were copied.
            randomness: see `copy_boards`. "own" goes on with this environment's seed; with "same"
                the snapshot's must be the same.

        Raises:
            InvalidStateError: it is not a snapshot, or of another rung, setting or, with "same",
                seed; no board has changed.
            ConfigurationError: as for `target` of `copy_boards`.
            UnavailableError: the rung keeps boards in other processes.
            gymnasium.error.ResetNeeded: no reset came before.
        """
        with self._alone("restore"):
            self._check_begun("restore")
            if not isinstance(snapshot, Snapshot):
                raise InvalidStateError(f"{shown(snapshot)} is not a Snapshot")
            snapshot.check_fits(self.settings, self.boards.layout())
            own_randomness = _has_own_randomness(randomness)
            if not own_randomness and not np.array_equal(snapshot.seed, self._seed):
                raise InvalidStateError(
                    f"the snapshot is of seed {shown(snapshot.seed)}, not {shown(self._seed)}: "
                    'only with randomness="own" can its boards continue here'
                )
            indices = snapshot.indices if indices is None else indices
            target = self._targets("indices", indices, len(snapshot.indices))
            return self._overwrite(snapshot.boards, target, own_randomness)

    def _copyable(self) -> CopyableBoards:
        if not isinstance(self.boards, CopyableBoards):
            raise UnavailableError(
                f"{type(self.boards).__name__} can't copy boards; cpp and threads can"
            )
        return self.boards

    def _targets(self, name: str, value: ArrayLike, count: int) -> np.ndarray:
        """Returns the indices of `count` different boards, (count,) int64."""
        target = checked_indices(name, value, self.num_envs)
        if len(target) != count:
            raise ConfigurationError(f"{name}: {len(target)} boards for {count} copies")
        times = np.bincount(target)
        if len(times) and times.max() > 1:
            raise ConfigurationError(f"{name} has board {times.argmax()} more than once")
        return target

    def _overwrite(
        self, copies: Any, target: np.ndarray, own_randomness: bool
    ) -> tuple[ArrayT, dict[str, Any]]:
        self._copyable().put(copies, target, own_randomness)
        self._num_ended = int(self._ended.sum())
        return self._buffers.observation, self._info()

    def serve(self) -> bool:
        """Steps this rank's boards for rank 0's environment until it is closed; returns True then.

        Where there is nothing to do, as on rank 0 and without `gather`, returns False at once.
        """
        self._check_open()
        return False

    def memory_bytes(self) -> int:
        """Returns the size of all boards' state, as the rung saves it, and of the outputs."""
        return len(self.boards.dump()) + self._buffers.memory_bytes()

    def close_extras(self, **kwargs: Any) -> None:
        """Ends the rung's processes (called by `close`)."""
        self._game.close()

    def _write_to(self, buffers: Buffers) -> None:
        self._buffers, self._ended = buffers, buffers.ended
        # Cached tuple that `step` returns, and its `info`.
        self._step_outputs = (
            buffers.observation,
            buffers.reward,
            buffers.terminated,
            buffers.truncated,
        )
        self._info_arrays = {
            "action_mask": buffers.mask,
            "player": buffers.player,
            "reason": buffers.reason,
        }
        if self.settings.mask == "list":
            self._info_arrays["action_count"] = buffers.action_count

    @contextlib.contextmanager
    def _writing_to(self, buffers: Buffers) -> Iterator[None]:
        """Writes outputs to `buffers`, which must be like ours, unless the block raises."""
        before = self._buffers
        if type(buffers) is not type(before) or not buffers.is_like(before):
            raise ConfigurationError("out is not one of this environment's rollout()")
        # A step reads which boards have ended before it writes that.
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

    def _info(self) -> dict[str, Any]:
        return self._info_arrays.copy()  # a copy, as users may add entries

    def _identity(self) -> dict:
        settings = dataclasses.asdict(self.settings)
        del settings["obs"], settings["dtype"], settings["mask"]
        del settings["start_fens" if self.settings.start else "start"]  # one gives the starts
        settings["autoreset_mode"] = self.settings.autoreset_mode.name
        return {
            "env": "chess",
            "layout": self.boards.layout(),
            "num_envs": self.num_envs,
            "first_board": self.first_board,
        } | settings


def _has_own_randomness(randomness: str) -> bool:
    return choice("randomness", randomness, ("same", "own")) == "own"


def _observation_space(settings: ChessSettings) -> gymnasium.spaces.Box:
    shape, dtype = OBSERVATIONS[settings.obs, settings.dtype]
    if settings.dtype == "float32":
        return gymnasium.spaces.Box(0, np.inf, shape, dtype)
    return gymnasium.spaces.Box(np.iinfo(dtype).min, np.iinfo(dtype).max, shape, dtype)
