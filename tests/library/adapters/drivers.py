"""One thin driver per framework: chess behind its adapter, whose outputs are arrays by name.

A driver neither copies nor keeps an output, so that tests see the adapter's own memory. An entry
has a row per board; `final_obs` has one per episode that ended.
"""

from importlib import import_module

import gymnasium
import numpy as np

import rungs
from rungs._src.core.memory import on_host
from rungs.errors import IllegalActionError


def by_name(observation, reward, terminated, truncated, **others):
    flags = {"reward": reward, "terminated": terminated, "truncated": truncated}
    return {"observation": observation} | flags | others


def one_board(outputs):
    return {name: [row] for name, row in outputs.items()}


def host_array(tensor):
    """Returns an array of the environment's dtype: PyTorch has int64 in place of uint64."""
    array = on_host(tensor)
    return array.view(np.uint64) if array.dtype == np.int64 else array


def assert_same(outputs, expected):
    """Compares every entry of `outputs`, row by row."""
    for name, rows in outputs.items():
        for row, expected_row in zip(rows, expected[name], strict=True):
            np.testing.assert_array_equal(row, expected_row, err_msg=name)


class Driver:
    """What the frameworks have in common."""

    needs = None  # the module without which there is no adapter
    adapter = None  # its module and its class
    num_envs = 5
    mode = "SAME_STEP"
    opponent = "random"
    mask = "bool"
    seeds = (2**40 + 3, None, 7)  # of resets, in turn; None begins the next episodes
    illegal_action = IllegalActionError

    def __init__(self, **settings):
        module, name = self.adapter
        adapter = getattr(import_module(f"rungs.adapters.{module}"), name)
        self.env = adapter(self.num_envs, "cpp", **settings)

    def reset_ended(self, ended):
        return self.reset()

    def close(self):
        self.env.close()


class Rungs(Driver):
    """The environment that a driver's is compared with."""

    def __init__(self, driver, **settings):
        fixed = {"autoreset_mode": driver.mode, "opponent": driver.opponent, "mask": driver.mask}
        self.env = rungs.make("chess", "cpp", **{"num_envs": driver.num_envs} | fixed | settings)

    def reset(self, seed=None):
        observation, info = self.env.reset(seed=seed)
        zeros = np.zeros(self.env.num_envs)
        return info | by_name(observation, zeros, zeros, zeros, final_obs=[])

    def reset_ended(self, ended):
        observation, info = self.env.reset(options={"reset_mask": ended})
        return {name: rows[ended] for name, rows in (info | {"observation": observation}).items()}

    def step(self, actions):
        *outputs, info = self.env.step(actions)
        observation, _, terminated, truncated = outputs
        ended = terminated | truncated
        final = info.get("final_obs", np.zeros_like(observation))[ended]
        last = observation.copy()
        last[ended] = final
        others = {"done": ended, "final_obs": final, "last_observation": last}
        return by_name(*outputs, **info | others)


class Gymnasium(Driver):
    num_envs = 1
    mode = "DISABLED"
    opponent = None

    def __init__(self, **settings):
        self.env = gymnasium.make("rungs/Chess-v0", **settings)

    def reset(self, seed=None):
        observation, info = self.env.reset(seed=seed)
        return one_board({"observation": observation} | info)

    def step(self, actions):
        *outputs, info = self.env.step(actions[0])
        return one_board(by_name(*outputs, **info))


class PettingZoo(Driver):
    needs = "pettingzoo"
    num_envs = 1
    mode = "DISABLED"
    opponent = None

    def __init__(self, **settings):
        self.env = import_module("rungs.adapters.pettingzoo").raw_env(**settings)

    def reset(self, seed=None):
        self.env.reset(seed=seed)
        return one_board(self._observed())

    def step(self, actions):
        self.env.step(actions[0])
        white, black = self.env.possible_agents
        mover = white if self.env.agent_selection == black else black
        flags = (self.env.rewards, self.env.terminations, self.env.truncations)
        reason = self.env.infos[mover].get("reason", 0)
        outputs = self._observed()
        observation = outputs.pop("observation")
        outputs |= by_name(observation, *(flag[mover] for flag in flags), reason=reason)
        return one_board(outputs)

    def _observed(self):
        selected = self.env.agent_selection
        return self.env.observe(selected) | {"player": self.env.possible_agents.index(selected)}


class StableBaselines3(Driver):
    needs = "stable_baselines3"
    adapter = ("sb3", "ChessVecEnv")

    def reset(self, seed=None):
        if seed is not None:
            self.env.seed(seed)
        observation = self.env.reset()
        return {"observation": observation, "action_mask": self.env.env_method("action_masks")}

    def step(self, actions):
        observation, reward, done, infos = self.env.step(actions)
        return {
            "observation": observation,
            "action_mask": self.env.env_method("action_masks"),
            "reward": reward,
            "done": done,
            "truncated": [info.get("TimeLimit.truncated", False) for info in infos],
            "reason": [info.get("reason", 0) for info in infos],
            "final_obs": [info["terminal_observation"] for info in infos if info],
        }


class Jax(Driver):
    needs = "jax"
    opponent = None
    mask = "list"
    seeds = (2**40 + 3, [5, 2**64 - 1, 0, 5, 3])  # no reset is without one

    def __init__(self, **settings):
        self._jax = import_module("jax")
        functions = import_module("rungs.adapters.jax").ChessFunctions(self.num_envs, **settings)
        self._init, self._step = functions.init, self._jax.jit(functions.step)
        self.illegal_action = self._jax.errors.JaxRuntimeError

    def reset(self, seed):
        self._state, outputs = self._init(seed)
        return self.arrays(outputs)

    def step(self, actions):
        stepped = self._step(self._state, actions.astype(np.int32))
        self._state, outputs = self._jax.block_until_ready(stepped)
        return self.arrays(outputs)

    @staticmethod
    def arrays(outputs):
        arrays = {name: np.asarray(array) for name, array in outputs._asdict().items()}
        ended = arrays["terminated"] | arrays["truncated"]
        mask, final = arrays.pop("mask"), arrays.pop("final_observation")
        if outputs.action_count is None:
            mask = mask.view(np.uint64)
            del arrays["action_count"]
        return arrays | {"action_mask": mask, "final_obs": final[ended]}


class Torch(Driver):
    needs = "torch"

    def __init__(self, **settings):
        env = Rungs(self, **settings).env
        self.env = import_module("rungs.adapters.torch").TorchEnv(env)

    def reset(self, seed=None):
        observation, info = self.env.reset(seed=seed)
        tensors = info | {"observation": observation}
        return {name: host_array(tensor) for name, tensor in tensors.items()}

    def step(self, actions):
        *outputs, info = self.env.step(import_module("torch").from_numpy(actions))
        arrays = {name: host_array(tensor) for name, tensor in by_name(*outputs, **info).items()}
        if "final_obs" in arrays:
            ended = arrays["terminated"] | arrays["truncated"]
            arrays["final_obs"] = arrays["final_obs"][ended]
        return arrays


class TorchRL(Driver):
    needs = "torchrl"
    adapter = ("torchrl", "ChessEnv")

    def __init__(self, **settings):
        super().__init__(**settings)
        self._now = import_module("tensordict").TensorDict({}, [self.num_envs])

    def reset(self, seed=None):
        if seed is not None:
            self.env.set_seed(seed)
        self._now = self.env.reset()
        return {name: host_array(self._now[name]) for name in ("observation", "action_mask")}

    def step(self, actions):
        before = self._now.set("action", import_module("torch").from_numpy(actions))
        after, now = self.env.step_and_maybe_reset(before)
        assert not now["done"].any()
        self._now, stepped = now, after["next"]
        flags = ("reward", "terminated", "truncated", "done")
        return {name: on_host(stepped[name])[:, 0] for name in flags} | {
            "observation": host_array(now["observation"]),
            "last_observation": host_array(stepped["observation"]),
            "action_mask": host_array(stepped["action_mask"]),
        }


class RLlib(Driver):
    needs = "ray.rllib"
    mode = "NEXT_STEP"

    def __init__(self, **settings):
        adapter = import_module("rungs.adapters.rllib").ChessVectorEnv
        self.env = adapter({"num_envs": self.num_envs, "rung": "cpp"} | settings)

    def reset(self, seed=None):
        seen, _ = self.env.reset(seed=seed)
        return {"observation": seen["observations"], "action_mask": host_array(seen["action_mask"])}

    def step(self, actions):
        seen, *flags, info = self.env.step(actions)
        zeros = np.zeros(self.num_envs)
        ends = {"done": info.get("_reason", zeros), "reason": info.get("reason", zeros)}
        mask = host_array(seen["action_mask"])
        return by_name(seen["observations"], *flags, action_mask=mask, **ends)


DRIVERS = {
    "gymnasium": Gymnasium,
    "pettingzoo": PettingZoo,
    "sb3": StableBaselines3,
    "jax": Jax,
    "torch": Torch,
    "torchrl": TorchRL,
    "rllib": RLlib,
}
