"""Positions to learn from: what was seen, what search made of it, and how the game ended."""

import dataclasses
from collections.abc import Iterable

import numpy as np

from rungs.chess.buffers import MOST_LISTED


@dataclasses.dataclass(frozen=True)
class Positions:
    """N positions, each with a policy over its K legal actions, all of them in one run.

    Attributes:
        observation: (N, 72) int8, of the side to move.
        count: (N,) int16, how many actions are legal.
        action: (sum of `count`,) int16, the legal actions in order of id, position by position.
        policy: of the same shape, float16: how likely each is to be played, as search has it.
        outcome: (N,) int8, of the game for the side to move: 1, 0 or -1.
    """

    observation: np.ndarray
    count: np.ndarray
    action: np.ndarray
    policy: np.ndarray
    outcome: np.ndarray

    def __len__(self) -> int:
        return len(self.count)

    def arrays(self) -> dict[str, np.ndarray]:
        """Returns the arrays by name."""
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}

    def actions(self) -> np.ndarray:
        """Returns the legal actions as the environment lists them, (N, 218) int16."""
        return self._listed(self.action, -1)

    def policies(self) -> np.ndarray:
        """Returns the policies, (N, 218) float32, likewise; each sums to 1, 0 behind the last."""
        policies = self._listed(self.policy.astype(np.float32), 0.0)
        return policies / policies.sum(axis=1, keepdims=True)  # half precision had rounded them

    def _listed(self, entries: np.ndarray, nothing: float) -> np.ndarray:
        lists = np.full((len(self), MOST_LISTED), nothing, entries.dtype)
        lists[np.arange(MOST_LISTED) < self.count[:, None]] = entries
        return lists

    def rows(self, index: np.ndarray) -> "Positions":
        """Returns the positions of some indices, in their order."""
        ends = self.count.cumsum(dtype=np.int64)
        count = self.count[index].astype(np.int64)
        # Entry k of the rows' runs lies as far behind its run's first as behind the new run's.
        new = count.cumsum()
        shift = (ends[index] - count) - (new - count)
        entries = np.arange(new[-1] if len(new) else 0) + shift.repeat(count)
        return Positions(
            self.observation[index],
            self.count[index],
            self.action[entries],
            self.policy[entries],
            self.outcome[index],
        )


DTYPES = {
    "observation": np.int8,
    "count": np.int16,
    "action": np.int16,
    "policy": np.float16,
    "outcome": np.int8,
}


def joined(parts: Iterable[Positions]) -> Positions:
    """Returns all positions of some, one after the other."""
    rows = [each.arrays() for each in parts]
    empty = {name: np.empty(_shape(name), dtype) for name, dtype in DTYPES.items()}
    return Positions(
        **{name: np.concatenate([each[name] for each in (empty, *rows)]) for name in empty}
    )


def _shape(name: str) -> tuple[int, ...]:
    return (0, 72) if name == "observation" else (0,)


def fits(arrays: dict[str, np.ndarray]) -> bool:
    """Returns whether arrays are of positions: names, dtypes, shapes, and what must add up."""
    if {name: array.dtype for name, array in arrays.items()} != DTYPES:
        return False
    shapes = {name: array.shape for name, array in arrays.items()}
    many, entries = len(arrays["count"]), arrays["count"].sum(dtype=np.int64)
    wanted = {name: (many,) for name in DTYPES} | {"observation": (many, 72)}
    wanted |= {"action": (entries,), "policy": (entries,)}
    return shapes == wanted and bool((arrays["count"] > 0).all())
