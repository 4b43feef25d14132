"""Plays games, some of each kind, and says whether they are those that were recorded.

It needs Rungs alone: so it tries any installation, on any system and any processor.
"""

import hashlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import rungs
from rungs._src.native import loader, wheel

RECORDED = Path(__file__).with_name("games.sha256")
SETTINGS = (
    ("chess", {"obs": "planes"}),
    ("chess", {"mask": "list", "start": "chess960", "opponent": "random"}),
    ("cartpole", {}),
    ("cartpole", {"dtype": "float32"}),
)
ENVS, STEPS, SEED = 300, 30, 1


def steps(env) -> Iterator[tuple]:
    """Plays an environment; yields the actions of each step, and then all that it put out."""
    is_chess = hasattr(env, "sample_actions")
    observation, _ = env.reset(seed=SEED)
    for step in range(STEPS):
        chosen = env.sample_actions(step) if is_chess else observation[:, 2] > 0
        actions = chosen.astype("int64")
        observation, *outputs, info = env.step(actions)
        yield actions, observation, *outputs, *([info["action_mask"]] if is_chess else [])


def play(rung: str = "threads", between: Callable[[], object] = lambda: None) -> None:
    """Plays on a rung, with something else between two steps; ends the process if games differ."""
    digest = hashlib.sha256()
    for env_id, settings in SETTINGS:
        for _, *outputs in steps(rungs.make(env_id, rung, ENVS, **settings)):
            for output in outputs:
                digest.update(output.tobytes())
            between()
    if digest.hexdigest() != RECORDED.read_text().strip():
        sys.exit(f"{digest.hexdigest()} is not what was recorded")


if __name__ == "__main__":
    play(*sys.argv[1:])
    print(wheel.chosen().name if loader.chosen() == loader.WHEEL else loader.chosen())
