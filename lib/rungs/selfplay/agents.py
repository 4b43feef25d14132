"""The agents that are here: recorded ones, those of runs, and one that knows nothing."""

import dataclasses
import functools
import shutil
from collections.abc import Callable
from pathlib import Path

import torch

from rungs import paths
from rungs.core.atomic import written
from rungs.errors import ConfigurationError
from rungs.measure.results import provenance
from rungs.selfplay import agent as files
from rungs.selfplay.agent import Agent
from rungs.train import checkpoint
from rungs.train.network import PolicyValueNetwork

MOST_RECORDED = 2  # of 1 MB each: they are in the repository
POOL = "pool"  # the folder of a run's frozen selves
MATCHES = "matches"  # and the one of what each played when it was frozen, as PGN


def recorded_in(root: Path = paths.ROOT) -> Path:
    """Returns the folder of recorded agents."""
    return root / "data" / "agents"


def known(root: Path = paths.ROOT) -> dict[str, Callable[[], Agent]]:
    """Returns what loads each agent by its name, the best guess at a good one first.

    Recorded ones come first, the last trained ones before earlier ones; then those of runs in
    `data/run`, the last update first, of self-play and of PPO; last one that has learnt nothing.
    """
    found: dict[str, Callable[[], Agent]] = {}
    for path in sorted(recorded_in(root).glob("*.pt"), reverse=True):
        agent = files.load(path)
        found[agent.name] = functools.partial(_same, agent)
    runs = root / "data" / "run"
    for path in sorted(runs.glob(f"*/{POOL}/*.pt"), reverse=True):
        name = f"{path.parents[1].name}, update {int(path.stem)}"
        found[name] = functools.partial(files.load, path)
    for path in sorted(runs.glob(f"*/{checkpoint.NAME}")):
        if not (path.parent / POOL).exists():
            found[f"{path.parent.name}, by PPO"] = functools.partial(_by_ppo, path.parent)
    found["untrained"] = untrained
    return found


def untrained(seed: int = 0) -> Agent:
    """Returns an agent that has learnt nothing."""
    torch.manual_seed(seed)
    return files.freeze(PolicyValueNetwork(), "untrained", {"seed": seed})


def record(sources: list[Path], root: Path = paths.ROOT) -> list[Path]:
    """Keeps agents in the repository, and what they played as PGN, in place of all that were.

    Args:
        sources: files of a self-play run's pool, or folders of `python -m rungs train`; in the
            order of the files' numbers, so that the page's first choice comes last.
        root: of the source tree.

    Returns:
        The agents' files.

    Raises:
        ConfigurationError: one is no agent, or they are too many for the repository.
        StorageError: one can't be written.
    """
    found = [_by_ppo(path) if path.is_dir() else files.load(path) for path in sources]
    if len(found) > MOST_RECORDED:
        raise ConfigurationError(f"{len(found)} agents are more than {MOST_RECORDED}")
    folder = recorded_in(root)
    for old in [*folder.glob("*.pt"), *folder.glob("*.pgn")]:
        old.unlink()
    targets = [folder / f"{number}.pt" for number in range(len(found))]
    for source, each, target in zip(sources, found, targets, strict=True):
        minutes = float(each.provenance["seconds"]) / 60
        files.save(
            dataclasses.replace(each, name=f"{each.provenance['kind']}, {minutes:.0f} min"), target
        )
        games = source.parent.parent / MATCHES / f"{source.stem}.pgn"
        if games.exists():
            with written(target.with_suffix(".pgn")) as unfinished:
                shutil.copyfile(games, unfinished)
    return targets


def _same(agent: Agent) -> Agent:
    return agent


def _by_ppo(run: Path) -> Agent:
    """Returns the agent of a run of `python -m rungs train`."""
    saved = checkpoint.load(run)
    network = PolicyValueNetwork()
    network.load_state_dict(saved["learner"]["network"])
    facts = {"kind": "PPO", "seconds": f"{saved['clock']:.0f}"}
    facts |= {"updates": saved["learner"]["updates"], "steps": saved["learner"]["steps"]}
    return files.freeze(network, f"{run.name}, by PPO", provenance(facts))
