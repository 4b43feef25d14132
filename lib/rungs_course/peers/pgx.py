"""Pgx's chess (Koyamada et al. 2023), in JAX on whatever device that finds."""

from typing import ClassVar

import numpy as np

from rungs.conformance import Outcome
from rungs.devel import cache
from rungs.devel.envs import check_not_asked
from rungs_course.peers import imported
from rungs_course.peers.actions import SPIEL_PLANES, inverse, our_mask, to_ours
from rungs_course.peers.peer import ChessPeer, Step

# (4672,) int64: our action of each of Pgx's, and Pgx's of each of ours; -1 off the board.
TO_OURS = to_ours(SPIEL_PLANES)
TO_THEIRS = inverse(TO_OURS)


def import_jax(name: str = "Pgx", module: str = "pgx"):
    """Imports Pgx, or a project like it, and JAX; makes JAX keep compiled code; returns JAX."""
    jax = imported(name, module, "jax")
    if not jax.config.jax_compilation_cache_dir:  # the user's own
        # Else every process compiles for ten seconds. With a size limit, JAX locks the folder.
        jax.config.update("jax_compilation_cache_dir", str(cache.directory() / "jax"))
        jax.config.update("jax_compilation_cache_max_size", 2**28)
    return jax


class PgxChess(ChessPeer):
    """See `ChessPeer`. A step is compiled when a number of boards is first stepped on a machine."""

    STEP: ClassVar = Step(
        mask="4,672 bool",
        observation="8×8×119 float32 with history, of the side to move",
        draws="stalemate, insufficient material, 50 moves, threefold repetition, 512 plies",
        reset="in the same step",
    )
    MAX_PLIES = 512

    def __init__(self, num_envs: int = 1, threads: int = 1):
        super().__init__(num_envs, threads)
        self._jax, env, auto_reset = self._load()
        jax = self._jax
        self._init = jax.jit(jax.vmap(env.init))
        self._step = jax.jit(jax.vmap(auto_reset(env.step, env.init)))
        self._play = jax.jit(jax.vmap(env.step))

    def _load(self) -> tuple:
        """Returns JAX, the chess environment, and the wrapper of its step that adds autoreset."""
        jax = import_jax()
        import pgx
        from pgx.experimental import auto_reset

        return jax, pgx.make("chess"), auto_reset

    def reset(self, seed: int) -> None:
        keys = self._jax.random.split(self._jax.random.PRNGKey(seed), self.num_envs)
        self._state = self._init(keys)
        self._keys = keys

    def step(self, actions) -> tuple:
        self._white = self._state._player_order[:, 0]
        self._state = self._jax.block_until_ready(self._step(self._state, actions, self._keys))
        return self._state.observation, self._state.legal_action_mask, self._state.rewards

    @property
    def ended(self) -> np.ndarray:  # type: ignore[override]
        return np.asarray(self._state.terminated | self._state.truncated)

    @property
    def result(self) -> np.ndarray:  # type: ignore[override]
        return np.asarray(self._state.rewards)[np.arange(self.num_envs), np.asarray(self._white)]

    def mask(self) -> np.ndarray:
        return our_mask(np.asarray(self._state.legal_action_mask), TO_THEIRS)

    def native(self, actions: np.ndarray):
        return self._jax.numpy.asarray(TO_THEIRS[actions], self._jax.numpy.int32)

    def begin(
        self, fen: str | None = None, chess960: bool = False, max_plies: int | None = None
    ) -> None:
        """See `Environment`; positions by `pgx.experimental.chess.from_fen`."""
        check_not_asked(chess960=chess960, max_plies=max_plies)
        super().begin()
        if fen:
            from pgx.experimental.chess import from_fen

            self.board.set_fen(fen)
            self._state = self._jax.tree_util.tree_map(lambda field: field[None], from_fen(fen))

    def legal_moves(self) -> list[str]:
        return self.named(TO_OURS[np.flatnonzero(np.asarray(self._state.legal_action_mask[0]))])

    def play(self, move: str) -> None:
        """See `Environment`; without autoreset."""
        self._state = self._play(self._state, self.pushed(move))

    def outcome(self) -> Outcome:
        state = self._state
        white, black = (float(state.rewards[0, player]) for player in state._player_order[0])
        return Outcome(bool(state.terminated[0]), bool(state.truncated[0]), (white, black))
