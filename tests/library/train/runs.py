"""Small runs of PPO and of self-play in folders, and whether two of them are the same."""

import dataclasses
from types import ModuleType
from typing import Any

import torch

from rungs._src import cli
from rungs._src.selfplay import training as selfplay
from rungs._src.train import training as ppo
from tests.saved import rows_of

# Columns that a clock fills.
TIMES = {"seconds", "generate", "transfer", "infer", "backward", "play", "learn"}


@dataclasses.dataclass(frozen=True)
class Trainer:
    """A command that trains, and the options of a small run: 5 updates, a checkpoint after 2 and 4,
    evaluations at 0, 3 and 5. `tables` are compared but for times, `folders` byte for byte.
    """

    command: str
    options: str
    module: ModuleType
    tables: tuple[str, ...] = ("metrics.csv", "evaluations.csv")
    folders: tuple[str, ...] = ()

    def run(self, out, *options) -> int:
        """Returns the exit status of the command with these options alone."""
        return cli.main([self.command, "--out", str(out), *map(str, options)])

    def begin(self, out, *options) -> int:
        """Returns the exit status of a small run."""
        return self.run(out, *self.options.split(), *options)

    def resume(self, out, **settings) -> Any:
        """Resumes a run with some settings changed; returns the learner."""
        settings = dataclasses.replace(self.load(out)["training"], **settings)
        return self.module.train(settings, out, resume=True)

    def load(self, out) -> dict:
        return self.module.checkpoint.load(out)

    def learner_state(self, out) -> dict:
        """Returns the part of a checkpoint with "network", "optimizer" and "updates"."""
        saved = self.load(out)
        return saved.get("learner", saved)

    def assert_same(self, out, expected) -> None:
        for name in self.tables:
            assert table(out / name) == table(expected / name), name
        for name in self.folders:
            assert files(out / name) == files(expected / name), name
        actual, wanted = (self.learner_state(folder)["network"] for folder in (out, expected))
        torch.testing.assert_close(actual, wanted, rtol=0, atol=0)


_OPTIONS = "--updates 5 --checkpoint-every 2 --evaluate-every 3 --torch-threads 1 --seed 3"
PPO = Trainer(
    command="train",
    options="--num-envs 16 --num-steps 8 --num-minibatches 2 --games 4 --max-plies 40 " + _OPTIONS,
    module=ppo,
)
SELFPLAY = Trainer(
    command="selfplay",
    options="--num-envs 8 --simulations 4 --considered 4 --plies 8 --max-plies 24 --match-plies 12 "
    "--window 3 --minibatches 2 --minibatch-size 32 --games 2 --rivals 1 " + _OPTIONS,
    module=selfplay,
    tables=("metrics.csv", "evaluations.csv", "ratings.csv", "results.csv"),
    folders=("matches", "positions"),
)
TRAINERS = {trainer.command: trainer for trainer in (PPO, SELFPLAY)}


def table(path):
    """Returns the rows of a run's table without times."""
    return [{name: row[name] for name in row.keys() - TIMES} for row in rows_of(path)]


def column(path, name):
    return [row[name] for row in table(path)]


def files(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}
