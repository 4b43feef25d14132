"""pgx1's chess (wtedw 2026): Pgx's interface with move generation rewritten for TPUs, in JAX.

It has no package: clone `wtedw/pgx1`, and name the folder in the environment variable `RUNGS_PGX1`.
Its actions and its State are Pgx's.
"""

from typing import ClassVar

import numpy as np

from rungs_course.peers.actions import our_mask
from rungs_course.peers.peer import ChessPeer, Step
from rungs_course.peers.pgx import TO_THEIRS, PgxChess, import_jax


class Pgx1Chess(PgxChess):
    """See `PgxChess`; with `bits` it gives masks of bits and no observation, its own options for
    less memory.
    """

    STEP: ClassVar = Step(
        mask="4,672 bool, or 584 bytes of bits",
        observation="8×8×119 float32 with history, of the side to move, or none",
        draws=PgxChess.STEP.draws,
        reset="in the same step",
    )

    def __init__(self, num_envs: int = 1, threads: int = 1, *, bits: bool = False):
        self._bits = bits
        super().__init__(num_envs, threads)

    def _load(self) -> tuple:
        jax = import_jax("pgx1", "pgx1")
        import pgx1
        from pgx1.experimental import auto_reset

        env_settings = {"use_bitmask": self._bits, "return_observation": not self._bits}
        return jax, pgx1.make("chess", **env_settings), auto_reset

    def step(self, actions) -> tuple:
        outputs = super().step(actions)
        return (self._state.legal_action_bitmask, outputs[-1]) if self._bits else outputs

    def mask(self) -> np.ndarray:
        if not self._bits:
            return super().mask()
        words = np.asarray(self._state.legal_action_bitmask)
        peer_mask = np.unpackbits(words.view(np.uint8), axis=1, bitorder="little")
        return our_mask(peer_mask, TO_THEIRS)

    # It has no way to begin with another position.
    begin = ChessPeer.begin
