"""Plays games, some of each kind, and says whether they are those that were recorded.

It needs Rungs alone: so it tries any installation, on any system and any processor.
"""

import hashlib
import sys
from collections.abc import Callable
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


def play(rung: str = "threads", between: Callable[[], object] = lambda: None) -> None:
    """Plays on a rung, with something else between two steps; ends the process if games differ."""
    digest = hashlib.sha256()
    for env_id, settings in SETTINGS:
        env = rungs.make(env_id, rung, 300, **settings)
        observation, info = env.reset(seed=1)
        for step in range(30):
            between()
            chosen = env.sample_actions(step) if env_id == "chess" else observation[:, 2] > 0
            observation, reward, terminated, truncated, info = env.step(chosen.astype(int))
            for output in (observation, reward, terminated, truncated):
                digest.update(output.tobytes())
            if env_id == "chess":
                digest.update(info["action_mask"].tobytes())
    if digest.hexdigest() != RECORDED.read_text().strip():
        sys.exit(f"{digest.hexdigest()} is not what was recorded")


if __name__ == "__main__":
    play(*sys.argv[1:])
    print(wheel.chosen().name if loader.chosen() == loader.WHEEL else loader.chosen())
