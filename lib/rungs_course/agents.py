"""The agents that are available: recorded ones, those of runs, and an untrained one."""

import contextlib
import copy
import dataclasses
import functools
import json
import math
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path

from rungs.devel import UNFINISHED, provenance, reraise_as_storage_error
from rungs.devel.selfplay import MATCHES, POOL, Agent, frozen_in
from rungs.devel.selfplay import agent as files
from rungs.devel.train import CHECKPOINT, tensor_flaw
from rungs.errors import ConfigurationError, InvalidStateError, RungsError
from rungs.selfplay import untrained
from rungs.train import PolicyValueNetwork, checkpoint, flat_weights
from rungs_course import paths

MAX_RECORDED = 2  # they are in the repository
# Recorded weights are multiples of it, which halves the size of a file.
_STEP = 1 / 64
_GAMES = "games.pgn"  # in a recorded agent's folder


def recorded_in(root: Path = paths.ROOT) -> Path:
    """Returns the folder of recorded agents."""
    return root / "data" / "agents"


def recorded(root: Path = paths.ROOT) -> list[Path]:
    """Returns the folders of recorded agents, in order."""
    return sorted(file.parent for file in recorded_in(root).glob(f"*/{files.WEIGHTS}"))


def known(root: Path = paths.ROOT) -> dict[str, Callable[[], Agent]]:
    """Returns a function that loads each agent, by name; the one that is likely the best first.

    Recorded ones come first, the last trained ones before earlier ones; then those of runs in
    `data/run`, the last update first, of self-play and of PPO; last an untrained one. A recorded
    file that is not an agent is left out, with a warning that names it.
    """
    loaders: dict[str, Callable[[], Agent]] = {}
    for path in recorded(root)[::-1]:
        try:
            agent = files.load(path)
        except RungsError as error:
            warnings.warn(f"left out: {error}", RuntimeWarning, stacklevel=2)
            continue
        name = agent.name if agent.name not in loaders else f"{agent.name} ({path.name})"
        loaders[name] = functools.partial(_same, agent)
    runs = root / "data" / "run"
    for pool in sorted(runs.glob(f"*/{POOL}"), reverse=True):
        for update, path in sorted(frozen_in(pool).items(), reverse=True):
            loaders[f"{pool.parent.name}, update {update}"] = functools.partial(files.load, path)
    for path in sorted(runs.glob(f"*/{CHECKPOINT}")):
        if not (path.parent / POOL).exists():
            loaders[f"{path.parent.name}, by PPO"] = functools.partial(_by_ppo, path.parent)
    loaders["untrained"] = untrained
    return loaders


def packed(agent: Agent, ratings: list[dict]) -> bytes:
    """Returns an agent as `js/agent.js` reads it: a line of JSON, then the weights, float16.

    The line holds its name, its provenance and `ratings`, as `rungs_course.rating.recorded` returns
    them.
    """
    about = {"name": agent.name, "provenance": agent.provenance, "ratings": ratings}
    weights = flat_weights(agent.network).astype("<f2")  # to which agents are rounded
    return json.dumps(about).encode() + b"\n" + weights.tobytes()


def load(source: Path) -> Agent:
    """Reads an agent, or that of the folder of a run of `python -m rungs train`."""
    return _by_ppo(source) if (source / CHECKPOINT).exists() else files.load(source)


def record(
    sources: list[Path],
    root: Path = paths.ROOT,
    ratings: Callable[[Agent], list[dict]] = lambda agent: [],
) -> list[Path]:
    """Saves agents in the repository, with their games as PGN, in place of all that were there.

    `sources` are agents of a self-play run's pool, folders of `python -m rungs train`, or recorded
    agents, in the order of the folders' numbers: the page's first choice comes last. Weights are
    rounded to multiples of 1/64; `ratings` of what is then recorded are on its card. After an error
    nothing has changed.
    """
    if len(sources) > MAX_RECORDED:
        raise ConfigurationError(f"{len(sources)} agents: at most {MAX_RECORDED} are recorded")
    agents = [_to_record(path) for path in sources]
    games = [_games_of(path) for path in sources]
    folder = recorded_in(root)
    targets = [folder / str(number) for number in range(len(agents))]
    with reraise_as_storage_error(folder):
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder, prefix=UNFINISHED) as unfinished:
            for agent, played, target in zip(agents, games, targets, strict=True):
                new = Path(unfinished, target.name)
                files.save(agent, new, ratings(agent))
                if played is not None:
                    (new / _GAMES).write_bytes(played)
            for old in [path for path in folder.iterdir() if path.name.isdecimal()]:
                old.rename(Path(unfinished, f"old {old.name}"))
            for target in targets:
                Path(unfinished, target.name).rename(target)
    return targets


def _to_record(source: Path) -> Agent:
    """Reads an agent, names it by how it was trained, and rounds it; raises as `record`."""
    agent = load(source)
    kind, seconds = agent.provenance.get("kind"), math.nan
    with contextlib.suppress(KeyError, ValueError):
        seconds = float(agent.provenance["seconds"])
    if not kind or not 0 <= seconds < math.inf:
        raise ConfigurationError(f"{source} does not say how it was trained, and for how long")
    network = copy.deepcopy(agent.network)
    for weight in network.parameters():
        weight.div_(_STEP).round_().mul_(_STEP)
    name = f"{kind}, {seconds / 60:.0f} min"
    return dataclasses.replace(agent, name=name, network=network)


def _games_of(source: Path) -> bytes | None:
    """Returns the PGN of an agent's games, which is next to its pool or its own file, or None."""
    for path in (source.parent.parent / MATCHES / f"{source.stem}.pgn", source / _GAMES):
        if path.is_file():
            try:
                return path.read_bytes()
            except OSError as error:
                raise ConfigurationError(f"{path} can't be read: {error.strerror}") from None
    return None


def _same(agent: Agent) -> Agent:
    return agent


def _by_ppo(run: Path) -> Agent:
    """Returns the agent of a run of `python -m rungs train`; raises as `record`."""
    saved = checkpoint.load(run)
    network = PolicyValueNetwork()
    weights = saved["learner"]["network"]
    flaw = tensor_flaw(weights, "network")
    try:
        if not flaw:
            network.load_state_dict(weights)
    except RuntimeError as error:
        flaw = str(error).partition("\n")[0]
    if flaw:
        raise InvalidStateError(f"{run / CHECKPOINT}: {flaw}")
    facts = {"kind": "PPO", "seconds": f"{saved['clock']:.0f}"}
    facts |= {"learner": saved["training"].learner, "bfloat16_unit": saved["bfloat16_unit"]}
    facts |= {"updates": saved["learner"]["updates"], "steps": saved["learner"]["steps"]}
    return files.freeze(network, f"{run.name}, by PPO", provenance(facts))
