"""The keywords of `rungs.make("cartpole", ...)` for editors and type checkers."""

from collections.abc import Sequence
from typing import Literal, TypeAlias, TypedDict

import numpy as np
from gymnasium.vector import AutoresetMode

# The rungs whose outputs are NumPy's arrays; those of the others are PyTorch's tensors.
HostCartPoleRung: TypeAlias = Literal["cpp", "openmp", "threads"]
CartPoleRung: TypeAlias = HostCartPoleRung | Literal["torch"]


class CartPoleKeywords(TypedDict, total=False):
    """The keywords of `rungs.make("cartpole", rung, num_envs, ...)`, each with its type.

    Each is documented in `rungs.cartpole.CartPoleVectorEnv` (`seed`, `first_env`), in
    `rungs.cartpole.CartPoleSettings` (`dtype` to `autoreset_mode`), or in the classes of the
    rungs, each of which accepts some of the others.
    """

    seed: int | Sequence[int] | np.ndarray
    first_env: int

    dtype: Literal["float64", "float32"]
    workload: int
    max_episode_steps: int
    autoreset_mode: (
        AutoresetMode
        | Literal["SAME_STEP", "NEXT_STEP", "DISABLED", "SameStep", "NextStep", "Disabled"]
    )

    compiler: Literal["wheel", "g++", "cling"] | None
    threads: int | None
    device: Literal["cpu", "cuda"]
    execution: Literal["eager", "graph", "compile"]
    validate: bool
