"""CartPole's arrays on the host, as NumPy owns them and C++ sees them."""

from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from rungs._src.cartpole.carts.carts import Outputs
from rungs._src.cartpole.settings import CartPoleSettings
from rungs._src.core.memory import zeroed_lines
from rungs._src.native.abi import Api, described

# Arrays end with a whole register, however many environments there are.
_LANES = 64


class Arrays:
    """The state and the outputs of a batch, each array on cache lines of its own.

    Args:
        num_envs: how many environments.
        first_env: the number of the first.
        settings: theirs.

    Attributes:
        state: (4, N) of the settings' dtype: x, x_dot, theta, theta_dot.
        steps: (N,) int32, of the episode.
        episode: (N,) uint32, its number.
        outputs: views for the caller; an observation's numbers lie N apart.
    """

    def __init__(self, num_envs: int, first_env: int, settings: CartPoleSettings):
        stride = -(-num_envs // _LANES) * _LANES
        kinds: dict[str, tuple[int, DTypeLike]] = {
            "state": (4, settings.dtype),
            "steps": (1, np.int32),
            "episode": (1, np.uint32),
            "observation": (4, np.float32),
            "reward": (1, np.float32),
            "terminated": (1, np.bool_),
            "truncated": (1, np.bool_),
            "ended": (1, np.bool_),
            "final_observation": (4, np.float32),
            "chosen": (1, np.int8),
        }
        whole = {
            name: zeroed_lines(rows * stride * np.dtype(dtype).itemsize)
            .view(dtype)
            .reshape(rows, stride)
            for name, (rows, dtype) in kinds.items()
        }
        self._whole, self._settings = whole, settings
        self._sizes = {"num_envs": num_envs, "stride": stride, "first_env": first_env}
        rows = {name: array[:, :num_envs] for name, array in whole.items()}
        self.state, self.steps, self.episode = rows["state"], rows["steps"][0], rows["episode"][0]
        self.outputs = Outputs(
            rows["observation"].T,
            **{name: rows[name][0] for name in ("reward", "terminated", "truncated", "ended")},
            final_observation=rows["final_observation"].T,
        )

    def batch(self, api: Api) -> Any:
        """Makes the struct for C++; it has addresses, which keep no array alive.

        Raises:
            CompilerError: C++ has other settings or arrays; the message names the first.
        """
        structures, settings = described(api).structures, self._settings
        config = structures["CartPoleConfig"](
            seed=0,
            precision=np.dtype(settings.dtype).itemsize,
            autoreset=settings.autoreset_mode.name,
            max_steps=settings.max_episode_steps,
            workload=settings.workload,
        )
        return structures["CartPoleBatch"](config=config, **self._sizes, **self._whole)

    def dump(self) -> dict:
        """Returns what decides what comes next."""
        saved = {name: getattr(self, name) for name in ("state", "steps", "episode")}
        return saved | {"ended": self.outputs.ended}

    def load(self, saved: dict) -> None:
        """Takes what `dump` gave."""
        for name, array in self.dump().items():
            array[...] = saved[name]
        self.outputs.observation[...] = self.state.T
