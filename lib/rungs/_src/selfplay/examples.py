"""Positions to learn from: observations, search's policies and values, and games' outcomes."""

import dataclasses
from collections.abc import Iterable

import numpy as np

from rungs._src.chess.actions import NUM_ACTIONS, target_of
from rungs._src.chess.buffers import MAX_LEGAL


@dataclasses.dataclass(frozen=True)
class Examples:
    """N positions to learn from, each with a policy over its legal actions, without padding."""

    observation: np.ndarray  # (N, 72) int8, of the side to move
    count: np.ndarray  # (N,) int16, the number of legal actions
    action: np.ndarray  # (sum of `count`,) int16, in order of id, position by position
    policy: np.ndarray  # (sum of `count`,) float16, search's probability of each action
    outcome: np.ndarray  # (N,) int8, of the game for the side to move: 1, 0 or -1
    value: np.ndarray  # (N,) float16, search's value to that side, from -1 to 1

    def __len__(self) -> int:
        return len(self.count)

    def arrays(self) -> dict[str, np.ndarray]:
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}

    def actions(self) -> np.ndarray:
        """Returns the legal actions as the environment lists them, (N, 218) int16."""
        return self._listed(self.action, -1)

    def policies(self) -> np.ndarray:
        """Returns the policies in that order, (N, 218) float32, padded with 0; each sums to 1."""
        policies = self._listed(self.policy.astype(np.float32), 0.0)
        return policies / policies.sum(axis=1, keepdims=True)  # half precision had rounded them

    def value_targets(self, value_mix: float) -> np.ndarray:
        """Returns targets of values, (N,) float32: outcomes, and `value_mix` of values."""
        outcome, value = self.outcome.astype(np.float32), self.value.astype(np.float32)
        return outcome + np.float32(value_mix) * (value - outcome)

    def _listed(self, entries: np.ndarray, padding: float) -> np.ndarray:
        lists = np.full((len(self), MAX_LEGAL), padding, entries.dtype)
        lists[np.arange(MAX_LEGAL) < self.count[:, None]] = entries
        return lists

    def rows(self, index: np.ndarray) -> "Examples":
        """Returns the positions of some indices, (M,) int64, in their order."""
        ends = self.count.cumsum(dtype=np.int64)
        count = self.count[index].astype(np.int64)
        # `shift`: old offset less new offset of each row's entries.
        new = count.cumsum()
        shift = (ends[index] - count) - (new - count)
        entries = np.arange(new[-1] if len(new) else 0) + shift.repeat(count)
        return Examples(
            self.observation[index],
            self.count[index],
            self.action[entries],
            self.policy[entries],
            self.outcome[index],
            self.value[index],
        )


_NONE = Examples(
    observation=np.empty((0, 72), np.int8),
    count=np.empty(0, np.int16),
    action=np.empty(0, np.int16),
    policy=np.empty(0, np.float16),
    outcome=np.empty(0, np.int8),
    value=np.empty(0, np.float16),
)
DTYPES = {name: array.dtype for name, array in _NONE.arrays().items()}


def joined(parts: Iterable[Examples]) -> Examples:
    rows = [part.arrays() for part in (_NONE, *parts)]
    return Examples(**{name: np.concatenate([arrays[name] for arrays in rows]) for name in DTYPES})


# The minimum and maximum of each number of an observation: `rungs._src.chess.observation`.
_MIN = np.array([-6] * 64 + [0, 0, 0, 0, -1, 0, 0, 0], np.int8)
_MAX = np.array([6] * 64 + [1, 1, 1, 1, 7, 127, 2, 1], np.int8)
_ON_BOARD = np.array([target_of(action) is not None for action in range(NUM_ACTIONS)])
_ROUNDED = 0.01  # half precision, of 218 numbers: 0.0005 of their sum, and 218 * 2**-25


def examples_flaw(arrays: dict[str, np.ndarray]) -> str:
    """Returns why arrays of any kind are no positions to learn from, in words; "" if they are."""
    if arrays.keys() != DTYPES.keys():
        return f"the arrays are {sorted(map(str, arrays))}, not {sorted(DTYPES)}"
    for name, dtype in DTYPES.items():
        if not isinstance(arrays[name], np.ndarray) or arrays[name].dtype != dtype:
            return f"{name}: not an array of {dtype}"
    count, action, policy = (arrays[name] for name in ("count", "action", "policy"))
    if count.ndim != 1 or ((count < 1) | (count > MAX_LEGAL)).any():
        return f"count: not one dimension of 1 to {MAX_LEGAL}"
    entries = (int(count.sum(dtype=np.int64)),)
    shapes = {"observation": (len(count), 72), "action": entries, "policy": entries}
    for name, array in arrays.items():
        shape = shapes.get(name, count.shape)
        if array.shape != shape:
            return f"{name}: shape {array.shape}, not {shape}"
    if not len(count):
        return ""
    observation = arrays["observation"]
    if ((observation < _MIN) | (observation > _MAX)).any():
        return "observation: numbers that no board has"
    if action.min() < 0 or action.max() >= NUM_ACTIONS or not _ON_BOARD[action].all():
        return "action: ids that no legal action has"
    first = count.cumsum(dtype=np.int64) - count
    rises = np.diff(action) > 0
    rises[first[1:] - 1] = True
    if not rises.all():
        return "action: not in order of id"
    if not ((policy >= 0) & (policy <= 1)).all():
        return "policy: not 0 to 1"
    sums = np.add.reduceat(policy, first, dtype=np.float32)
    if (abs(sums - 1) > _ROUNDED).any():
        return "policy: a position's does not sum to 1"
    if ((arrays["outcome"] < -1) | (arrays["outcome"] > 1)).any():
        return "outcome: not -1, 0 or 1"
    if not (abs(arrays["value"]) <= 1).all():
        return "value: not -1 to 1"
    return ""
