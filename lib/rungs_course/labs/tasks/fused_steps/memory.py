"""A GPU's memory that counts who comes."""

import numpy as np


class Memory:
    """An array that a simulated kernel reads and writes, number by number, and that counts it.

    Args:
        values: what it begins with; copied.

    Attributes:
        values: what is there.
        accesses: loads and stores so far.
    """

    def __init__(self, name: str, values: np.ndarray):
        self._name, self.values, self.accesses = name, values.copy(), 0
        self.shape, self.size = values.shape, values.size

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, index):
        return self.values[self._counted(index)].item()

    def __setitem__(self, index, value) -> None:
        self.values[self._counted(index)] = value

    def _counted(self, index) -> tuple[int, ...]:
        """Counts one access, and refuses what a GPU would let a kernel do to others' memory."""
        place = tuple(int(i) for i in (index if isinstance(index, tuple) else (index,)))
        shown = f"{self._name}[{', '.join(map(str, place))}]"
        if len(place) != len(self.shape):
            raise IndexError(f"{shown} is no single number of shape {self.shape}")
        if not all(0 <= i < length for i, length in zip(place, self.shape, strict=True)):
            raise IndexError(f"{shown} is outside: the array has shape {self.shape}")
        self.accesses += 1
        return place
