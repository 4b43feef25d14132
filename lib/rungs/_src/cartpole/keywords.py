"""What `rungs.make("cartpole", ...)` takes, as editors and type checkers read it.

The settings themselves, with defaults and checks, are declared where they belong:
`CartPoleSettings`, `CartPoleVectorEnv` and the classes of the rungs. A test holds these types to
them.
"""

from collections.abc import Sequence
from typing import Literal, TypeAlias, TypedDict

import numpy as np
from gymnasium.vector import AutoresetMode

# The rungs whose outputs are NumPy's arrays; those of the others are PyTorch's tensors.
HostCartPoleRung: TypeAlias = Literal["gymnasium", "subproc", "cpp", "openmp", "threads"]
CartPoleRung: TypeAlias = HostCartPoleRung | Literal["torch", "numba"]


class CartPoleKeywords(TypedDict, total=False):
    """The keywords of `rungs.make("cartpole", rung, num_envs, ...)`, each with its type.

    What each means is said by `rungs.cartpole.CartPoleVectorEnv` (`seed`, `first_env`), by
    `rungs.cartpole.CartPoleSettings` (`dtype` to `autoreset_mode`), and by the classes of the
    rungs, each of which takes some of the others.
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
    timeout: float | None
    device: Literal["cpu", "cuda"]
    execution: Literal["eager", "graph", "compile"]
    threads_per_block: int
    validate: bool
