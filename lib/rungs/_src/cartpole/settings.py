"""What all rungs of CartPole are told."""

import dataclasses

from gymnasium.vector import AutoresetMode

from rungs._src.core.arguments import autoreset_mode as mode_of
from rungs._src.core.arguments import choice, integer

DTYPES = ("float64", "float32")


@dataclasses.dataclass(frozen=True)
class CartPoleSettings:
    """The settings of `rungs.cartpole.CartPoleVectorEnv`, which says what they mean.

    Raises:
        ConfigurationError: a setting is wrong; the message names it.
    """

    dtype: str = "float64"
    workload: int = 1
    max_episode_steps: int = 500
    autoreset_mode: AutoresetMode = AutoresetMode.SAME_STEP

    def __post_init__(self) -> None:
        checked = {
            "dtype": choice("dtype", self.dtype, DTYPES),
            "workload": integer("workload", self.workload, 1, 10**6),
            "max_episode_steps": integer("max_episode_steps", self.max_episode_steps, 1, 2**31 - 1),
            "autoreset_mode": mode_of(self.autoreset_mode),
        }
        for name, value in checked.items():
            object.__setattr__(self, name, value)
