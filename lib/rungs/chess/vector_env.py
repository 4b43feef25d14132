"""The contract of the chess environment: what every rung takes, gives and refuses."""

import abc
from collections.abc import Sequence

import chess
import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from rungs.chess.actions import NUM_ACTIONS, move_of
from rungs.chess.buffers import OBSERVATION_SIZE, Buffers
from rungs.chess.settings import ChessSettings, integer
from rungs.errors import ConfigurationError


class ChessVectorEnv(VectorEnv, abc.ABC):
    """A batch of chess games for reinforcement learning.

    An action is one of AlphaZero's 4672, from the mover's point of view (`cpp/chess/action.hpp`).
    An observation is 72 int8, from the same point of view (`cpp/env/observation.hpp`). Both `reset`
    and `step` put into `info`:

    - `action_mask`: the legal actions, in the format asked for with `mask`;
    - `player`: (N,) int8, the side to move, 0 White, 1 Black;
    - `reason`: (N,) int8, why the episode that this step ended did so (`rungs.chess.reason`).

    A game ends by checkmate, stalemate, insufficient material, 50 moves or threefold repetition, as
    python-chess's `outcome(claim_draw=True)` says of the position reached. `reward` is +1 for the
    agent's mate, -1 for its opponent's, else 0. Autoreset is gymnasium's SAME_STEP: a board whose
    episode ended is already at its next one, and where any did, `info` has `final_obs` and
    `final_info`, whose rows count where `_final_obs` is set.

    The arrays returned are the environment's own: the next `step` or `reset` overwrites them. Copy
    what you keep.

    Args:
        num_envs: number of boards, at least 1.
        seed: 0 to 2**64 - 1. All randomness is a pure function of (seed, board, episode, ply).
        opponent: None, and one step is one ply of self-play; or "random", and one step is the
            agent's ply and the reply, chosen uniformly among the legal actions in order of id.
            The agent is White where board number + episode number is even.
        obs: "board".
        mask: "bool", (N, 4672) bool, or "bits", (N, 73) uint64: bit `a % 64` of word `a // 64`.
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

    metadata = {"autoreset_mode": AutoresetMode.SAME_STEP}  # noqa: RUF012 (gymnasium's name)

    def __init__(
        self,
        num_envs: int,
        *,
        seed: int = 0,
        opponent: str | None = None,
        obs: str = "board",
        mask: str = "bool",
        max_plies: int | None = None,
        start_fens: Sequence[str] = (chess.STARTING_FEN,),
        opening_plies: tuple[int, int] = (0, 0),
    ):
        self.num_envs = integer("num_envs", num_envs, 1, 2**31 - 1)
        self._seed = integer("seed", seed, 0, 2**64 - 1)
        self.settings = ChessSettings(opponent, obs, mask, max_plies, start_fens, opening_plies)
        self.single_observation_space = gymnasium.spaces.Box(
            -128, 127, (OBSERVATION_SIZE,), np.int8
        )
        self.single_action_space = gymnasium.spaces.Discrete(NUM_ACTIONS)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self._buffers = Buffers.allocate(self.num_envs, mask)
        self._ended = np.zeros(self.num_envs, np.bool_)
        self._begun = False

    def reset(self, *, seed: int | None = None, options: dict | None = None):
        """Begins an episode on every board.

        Args:
            seed: begins episode 0 of this seed. Without it, the first reset begins episode 0 of the
                constructor's seed and later ones begin each board's next episode.
            options: none are known.

        Returns:
            observation (N, 72) int8, and info.
        """
        self._check_open()
        if options:
            raise ConfigurationError(f"unknown reset options: {', '.join(map(str, options))}")
        if seed is not None:
            self._seed = integer("seed", seed, 0, 2**64 - 1)
        first_episode = seed is not None or not self._begun
        self._buffers.reason.fill(0)
        self._reset(0 if first_episode else None)
        self._begun = True
        return self._buffers.observation, self._info()

    def step(self, actions):
        """Plays one action on every board.

        Args:
            actions: (N,) integers, an array or anything NumPy sees as one without a copy.

        Returns:
            observation (N, 72) int8, reward (N,) float32, terminated (N,) bool, truncated (N,)
            bool, and info.

        Raises:
            IllegalActionError: an action is not legal on its board; no board has changed.
            ConfigurationError: actions have a wrong shape or dtype.
            gymnasium.error.ResetNeeded: no reset came before.
        """
        self._check_begun("step")
        self._step(self._checked(actions))
        out = self._buffers
        info = self._info()
        ended = np.logical_or(out.terminated, out.truncated, out=self._ended)
        if ended.any():
            info["final_obs"] = out.final_observation
            info["_final_obs"] = info["_final_info"] = ended
            info["final_info"] = {"reason": out.reason}
        return out.observation, out.reward, out.terminated, out.truncated, info

    def fens(self) -> list[str]:
        """The position of every board as a FEN."""
        self._check_begun("fens")
        return [self._fen(board) for board in range(self.num_envs)]

    def legal_moves(self, board: int) -> dict[str, int]:
        """The legal moves of one board as UCI writes them, each with its action, in their order.

        Args:
            board: its index in the batch.
        """
        self._check_begun("legal_moves")
        index = integer("board", board, 0, self.num_envs - 1)
        position = chess.Board(self._fen(index))
        bits = self._buffers.mask[index]
        if self.settings.mask == "bits":
            bits = np.unpackbits(bits.view(np.uint8), bitorder="little")
        actions = np.flatnonzero(bits).tolist()
        return {move_of(action, position).uci(): action for action in actions}

    @abc.abstractmethod
    def _reset(self, episode: int | None) -> None:
        """Begins `episode` on every board, or each board's next; fills the buffers."""

    @abc.abstractmethod
    def _step(self, actions: np.ndarray) -> None:
        """Plays (N,) int64 `actions` and fills the buffers, or raises and changes nothing."""

    @abc.abstractmethod
    def _fen(self, board: int) -> str:
        """The position of one board."""

    def _info(self) -> dict:
        out = self._buffers
        return {"action_mask": out.mask, "player": out.player, "reason": out.reason}

    def _check_open(self) -> None:
        if self.closed:
            raise gymnasium.error.ClosedEnvironmentError("the environment is closed")

    def _check_begun(self, method: str) -> None:
        self._check_open()
        if not self._begun:
            raise gymnasium.error.ResetNeeded(f"call reset() before {method}()")

    def _checked(self, actions) -> np.ndarray:
        actions = np.asarray(actions)
        if actions.shape != (self.num_envs,):
            raise ConfigurationError(f"actions have shape {actions.shape}, not ({self.num_envs},)")
        if not np.issubdtype(actions.dtype, np.integer) or actions.dtype == np.uint64:
            raise ConfigurationError(f"actions have dtype {actions.dtype}, not int64")
        return np.ascontiguousarray(actions, np.int64)
