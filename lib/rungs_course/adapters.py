"""Races a step through other projects' interfaces; writes the table of it in docs/howto."""

import functools
import importlib.metadata
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import rungs
from rungs.chess import ChessRung, random_actions
from rungs.devel.envs import MaskFormat
from rungs.errors import UnavailableError
from rungs.memory import on_host
from rungs_course import paths
from rungs_course.machine.naming import in_words
from rungs_course.measure import results
from rungs_course.measure.quartiles import quartiles
from rungs_course.peers.race import timed_steps, timed_turns
from rungs_course.plots import duration, speed
from rungs_course.tables import fill, markdown

RAW = "rungs"
RAW_BITS = "rungs, bits"
COPIED = "rungs, outputs copied"
# An environment, and the function that steps it.
_Made = tuple[Any, Callable[[np.ndarray], object]]


def _raw(num_envs: int, rung: ChessRung, mask: MaskFormat = "bool") -> _Made:
    env = rungs.make("chess", rung, num_envs, opponent="random", mask=mask)
    env.reset(seed=0)
    return env, env.step


def _copied(num_envs: int, rung: ChessRung) -> _Made:
    """Copies all outputs, as any interface must whose users keep them after the next step."""
    env = rungs.make("chess", rung, num_envs, opponent="random")
    env.reset(seed=0)

    def step(actions: np.ndarray) -> object:
        *outputs, info = env.step(actions)
        return [array.copy() for array in (*outputs, info["action_mask"])]

    return env, step


def _sb3(num_envs: int, rung: ChessRung) -> _Made:
    from rungs.adapters.sb3 import ChessVecEnv

    env = ChessVecEnv(num_envs, rung)
    env.reset()

    def step(actions: np.ndarray) -> object:
        # As `sb3_contrib.common.maskable.utils.get_action_masks` does before it chooses.
        return env.step(actions), np.stack(env.env_method("action_masks"))

    return env.env, step


def _sb3_lists(num_envs: int, rung: ChessRung) -> _Made:
    from rungs.adapters.sb3 import ChessListVecEnv

    env = ChessListVecEnv(num_envs, rung)
    env.reset()

    def sample_actions(rng: np.random.Generator) -> np.ndarray:
        # Places in the lists, which is what its policies choose.
        return rng.integers(env._info["action_count"])

    return types.SimpleNamespace(sample_actions=sample_actions), env.step


def _pettingzoo(num_envs: int, rung: ChessRung) -> _Made:
    """Steps a game object per board, in which both sides are played by actions."""
    from rungs.adapters.pettingzoo import raw_env

    games = [raw_env(rung) for _ in range(num_envs)]
    for game in games:
        game.reset()

    def step(actions: np.ndarray) -> object:
        observations = []
        for game, action in zip(games, actions.tolist(), strict=True):
            game.step(action)
            if game.terminations["player_0"] or game.truncations["player_0"]:
                game.reset()
            observations.append(game.last())
        return observations

    def sample_actions(rng: np.random.Generator) -> np.ndarray:
        masks = [game.observe(game.agent_selection)["action_mask"] for game in games]
        return random_actions(np.stack(masks).view(np.bool_), rng)

    return types.SimpleNamespace(sample_actions=sample_actions), step


def _torchrl(num_envs: int, rung: ChessRung, mask: str = "bool") -> _Made:
    import torch

    from rungs.adapters.torchrl import ChessEnv

    env = ChessEnv(num_envs, rung, mask=mask)
    now = env.reset()

    def step(actions: np.ndarray) -> object:
        nonlocal now
        after, now = env.step_and_maybe_reset(now.set("action", torch.from_numpy(actions)))
        return after

    return env.env, step


def _rllib(num_envs: int, rung: ChessRung, mask: str = "bool") -> _Made:
    from gymnasium.wrappers.vector import DictInfoToList

    from rungs.adapters.rllib import ChessVectorEnv as RllibEnv

    env = RllibEnv({"num_envs": num_envs, "rung": rung, "seed": 0, "mask": mask})
    env.reset()
    return env.env, DictInfoToList(env).step  # in which its env runners put every environment


def _torch(num_envs: int, rung: ChessRung, mask: MaskFormat = "bool") -> _Made:
    import torch

    from rungs.adapters.torch import TorchEnv

    env = TorchEnv(rungs.make("chess", rung, num_envs, opponent="random", mask=mask))
    env.reset(seed=0)
    return env.env, lambda actions: env.step(torch.from_numpy(actions))


def _jax(num_envs: int, rung: ChessRung) -> _Made:
    """Steps JAX's state, which one thread does whatever the rung."""
    import jax

    from rungs.adapters.jax import ChessFunctions

    functions = ChessFunctions(num_envs, opponent="random")
    stepped = jax.jit(functions.step, donate_argnums=0)
    state, outputs = functions.init(0)

    def step(actions: np.ndarray) -> object:
        nonlocal state, outputs
        state, outputs = jax.block_until_ready(stepped(state, actions))
        return outputs

    def sample_actions(rng: np.random.Generator) -> np.ndarray:
        place = rng.integers(np.asarray(outputs.action_count))
        return np.asarray(outputs.mask)[np.arange(num_envs), place]

    return types.SimpleNamespace(sample_actions=sample_actions), step


# Racers: the package whose interface it is, and its step.
ADAPTERS: dict[str, tuple[str, Callable[[int, ChessRung], _Made]]] = {
    RAW: ("rungs-rl", _raw),
    RAW_BITS: ("rungs-rl", functools.partial(_raw, mask="bits")),
    COPIED: ("rungs-rl", _copied),
    "PyTorch's operator": ("torch", _torch),
    "PyTorch's operator, bits": ("torch", functools.partial(_torch, mask="bits")),
    "JAX, lists, one thread": ("jax", _jax),
    "TorchRL": ("torchrl", _torchrl),
    "TorchRL, bits": ("torchrl", functools.partial(_torchrl, mask="bits")),
    "RLlib": ("ray", _rllib),
    "RLlib, bits": ("ray", functools.partial(_rllib, mask="bits")),
    "Stable-Baselines3": ("stable-baselines3", _sb3),
    "Stable-Baselines3, lists": ("stable-baselines3", _sb3_lists),
    "PettingZoo": ("pettingzoo", _pettingzoo),
}


def race(
    num_envs: int = 1024,
    *,
    rung: ChessRung = "threads",
    steps: int = 20,
    repeats: int = 9,
    warmup: int = 2,
    seed: int = 0,
    say: Callable[[str], object] = print,
) -> pd.DataFrame:
    """Times steps through each adapter whose framework is installed.

    `say` receives a line for each adapter that is left out, and why. Returns a row per adapter and
    repeat: `adapter`, `package`, `version`, `num_envs`, `repeat`, `plies` (boards stepped),
    `seconds`.
    """
    environments = {}
    for name, (_, make) in ADAPTERS.items():
        try:
            environments[name] = make(num_envs, rung)
        except UnavailableError as error:
            say(f"{name} is left out: {error}")
    rng = np.random.default_rng(seed)

    def turn(env: Any, step: Callable[[np.ndarray], object]) -> tuple[int, float, float]:
        return timed_steps(
            steps,
            lambda: on_host(env.sample_actions(rng)).copy(),
            lambda actions: [(num_envs, step(actions))],
        )

    racers = {name: functools.partial(turn, *pair) for name, pair in environments.items()}
    times = timed_turns(racers, repeats=repeats, warmup=warmup, num_envs=num_envs)
    times = times.rename(columns={"racer": "adapter"})
    times["package"] = times["adapter"].map(lambda name: ADAPTERS[name][0])
    times["version"] = times["package"].map(importlib.metadata.version)
    return times[["adapter", "package", "version", "num_envs", "repeat", "plies", "seconds"]]


def table(times: pd.DataFrame) -> pd.DataFrame:
    """Returns each adapter's rate, and what it adds to a step of the rung's own.

    A row per adapter, the cheapest first: `adapter`, `version`, `rate` (plies per second, the
    median over repeats), `seconds` (of a step, also the median), `overhead` (the added time over
    the raw step's: the median of each repeat's ratio less 1) and its quartiles `low` and `high`.
    """
    wide = times.pivot_table(index="repeat", columns="adapter", values="seconds", sort=False)
    added = wide.div(wide[RAW], axis=0).sub(1).melt(ignore_index=False, value_name="overhead")
    result: Any = quartiles(added.groupby("adapter", sort=False)["overhead"], "overhead")
    groups = times.groupby("adapter", sort=False)
    result["rate"] = (times["plies"] / times["seconds"]).groupby(times["adapter"]).median()
    steps = times["plies"] / times["num_envs"]
    result["seconds"] = (times["seconds"] / steps).groupby(times["adapter"]).median()
    result["version"] = groups["version"].first()
    names = ["adapter", "version", "rate", "seconds", "overhead", "low", "high"]
    return result.reset_index()[names].sort_values("overhead", ignore_index=True)


HOWTO = paths.ROOT / "docs" / "howto"
PAGE = HOWTO / "train_with.md"


def filled() -> str:
    """Returns the page with the table of what was recorded."""
    times = results.load(HOWTO / "recorded" / "adapters.csv")
    return fill(PAGE.read_text(), {"adapters": _adapters(times)})


def _adapters(times: pd.DataFrame) -> str:
    facts = times.attrs["provenance"]
    overheads = table(times[times["adapter"].isin([*ADAPTERS])])
    share = "{:+.0%}".format
    written = pd.DataFrame(
        {
            "Through": overheads["adapter"],
            "Version": overheads["version"],
            "Plies": overheads["rate"].map(speed),
            "A step": overheads["seconds"].map(duration),
            "Added to a step": overheads["overhead"].map(share),
            "Quartiles": overheads["low"].map(share) + " to " + overheads["high"].map(share),
        }
    )
    return (
        f"\n{markdown(written)}\n\n{int(times['num_envs'].iloc[0]):,} boards on the rung "
        f"`{facts['rung']}` of {in_words(facts)}, {facts['repeats']} rounds in turns, "
        f"{facts['date'][:10]} ([data](recorded/adapters.csv)).\n\n"
    )


if __name__ == "__main__":
    settings = {"rung": "threads", "repeats": 15}
    raced = race(**settings)  # type: ignore[arg-type]
    print(table(raced).to_string(index=False))
    if len(sys.argv) > 1:
        results.save(raced, Path(sys.argv[1]), settings)
        PAGE.write_text(filled())
