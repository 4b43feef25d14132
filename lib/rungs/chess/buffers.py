"""The arrays a chess environment writes its outputs to."""

import dataclasses

import numpy as np

from rungs.chess.actions import NUM_ACTIONS, NUM_PLANES

OBSERVATION_SIZE = 72
MASKS = {"bool": ((NUM_ACTIONS,), np.bool_), "bits": ((NUM_PLANES,), np.uint64)}


@dataclasses.dataclass(frozen=True)
class Buffers:
    """One array per output, allocated once; every step overwrites them.

    Attributes:
        observation: (N, 72) int8, see `cpp/env/observation.hpp`.
        mask: (N, 4672) bool or (N, 73) uint64.
        reward: (N,) float32.
        terminated: (N,) bool.
        truncated: (N,) bool.
        reason: (N,) int8, a `rungs.chess.reason.Reason`; 0 where no episode ended.
        player: (N,) int8, the side to move: 0 White, 1 Black.
        final_observation: (N, 72) int8, the last observation of each board's last episode.
    """

    observation: np.ndarray
    mask: np.ndarray
    reward: np.ndarray
    terminated: np.ndarray
    truncated: np.ndarray
    reason: np.ndarray
    player: np.ndarray
    final_observation: np.ndarray

    @classmethod
    def allocate(cls, num_envs: int, mask: str) -> "Buffers":
        """Zeroed arrays for `num_envs` boards with masks in format `mask`."""
        mask_shape, mask_dtype = MASKS[mask]
        return cls(
            observation=np.zeros((num_envs, OBSERVATION_SIZE), np.int8),
            mask=np.zeros((num_envs, *mask_shape), mask_dtype),
            reward=np.zeros(num_envs, np.float32),
            terminated=np.zeros(num_envs, np.bool_),
            truncated=np.zeros(num_envs, np.bool_),
            reason=np.zeros(num_envs, np.int8),
            player=np.zeros(num_envs, np.int8),
            final_observation=np.zeros((num_envs, OBSERVATION_SIZE), np.int8),
        )
