"""The settings of training runs, and their command-line options."""

import argparse
import dataclasses
import math
import os
from typing import Any, get_args

from rungs._src.core.arguments import shown
from rungs._src.core.settings import check_fields, documented, setting
from rungs._src.machine.cpu import usable_cores
from rungs._src.train import learners
from rungs.errors import ConfigurationError

MAX_INT = 2**31 - 1

# Arguments of `rungs.make` that are not a rung's own: a run has fields for them, or fixes them.
_FIXED = (
    *("env_id", "name", "rung", "num_envs", "seed", "opponent", "max_plies"),
    *("first_board", "obs", "dtype", "mask", "autoreset_mode"),
)


@documented
@dataclasses.dataclass(frozen=True)
class PpoSettings:
    """The settings of PPO, by CleanRL's names.

    Raises:
        ConfigurationError: a value is out of its range; the message names it.
    """

    num_steps: int = setting(32, "steps of all boards per update", 1, 2**20)
    update_epochs: int = setting(2, "passes of an update over what was played", 1, 2**20)
    num_minibatches: int = setting(8, "minibatches in each pass", 1, 2**20)
    learning_rate: float = setting(1e-3, "of Adam")
    gamma: float = setting(0.99, "the discount of what comes a step later", 0, 1)
    gae_lambda: float = setting(0.95, "how far advantages look ahead", 0, 1)
    clip_coef: float = setting(0.2, "the clip range of a probability's ratio", 0, math.inf)
    vf_coef: float = setting(0.5, "the weight of the value's squared error in the loss")
    ent_coef: float = setting(0.01, "the weight of the policy's entropy")
    max_grad_norm: float = setting(0.5, "gradients are scaled down to it", 0, math.inf)

    def __post_init__(self):
        check_fields(self)


@dataclasses.dataclass(frozen=True, kw_only=True)
class RunSettings:
    """The settings that training runs of all kinds have; raises as they do."""

    seconds: float = setting(math.inf, "how long, at most; evaluations don't count", 1e-9, math.inf)
    seed: int = setting(0, "of weights, games and actions", 0, 2**64 - 1)
    checkpoint_every: int = setting(
        10, "updates between two checkpoints; one more comes last. 0 for none", 0, MAX_INT
    )
    torch_threads: int = setting(
        0,
        "threads of the network on the CPU, which PyTorch's rounding depends on, and of a search; "
        "0 for all usable cores, shared among the ranks that torchrun starts on a machine",
        0,
        2**15,
    )

    def __post_init__(self):
        check_fields(self)
        object.__setattr__(self, "torch_threads", self.torch_threads or share_of_cores())


@documented
@dataclasses.dataclass(frozen=True)
class Training(RunSettings):
    """The settings of a training run by PPO.

    `rung_settings` is a dict of the rung's own settings, such as {"threads": 4}, and `ppo` a
    `rungs.train.PpoSettings`; the other arguments are below.

    Raises:
        ConfigurationError: a value is out of its range; the message names it.
    """

    rung: str = setting("threads", "the rung that plays; the curve over steps is the same on all")
    num_envs: int = setting(512, "number of boards, of each rank", 1, MAX_INT)
    updates: int = setting(100, "number of updates", 1, MAX_INT)
    opponent: str = setting(
        "random", '"random", or the path of a UCI engine, which then plays at its weakest'
    )
    max_plies: int = setting(200, "games are truncated there", 1, MAX_INT)
    evaluate_every: int = setting(
        20, "updates between two evaluations; one more comes first, and one last", 1, MAX_INT
    )
    games: int = setting(200, "per evaluation, against the random opponent", 2, 2**20)
    device: str = setting("cpu", '"cpu" or "cuda"', choices=("cpu", "cuda"))
    learner: str = setting(
        learners.DEFAULT,
        f"how learning is computed: {', '.join(learners.LEARNERS)}",
        choices=lambda: tuple(learners.LEARNERS),
    )
    rung_settings: dict = dataclasses.field(default_factory=dict)
    ppo: PpoSettings = dataclasses.field(default_factory=PpoSettings)

    def __post_init__(self):
        super().__post_init__()
        if not isinstance(self.rung_settings, dict):
            raise ConfigurationError(f"rung_settings={shown(self.rung_settings)} is not a dict")
        for name in self.rung_settings:
            if not isinstance(name, str) or name in _FIXED:
                raise ConfigurationError(f"{shown(name)} is not a rung's setting: training sets it")
        if not isinstance(self.ppo, PpoSettings):
            raise ConfigurationError(f"ppo={shown(self.ppo)} are not PpoSettings")


def share_of_cores() -> int:
    """Returns this machine's usable cores, shared among the ranks that torchrun starts on it."""
    return max(1, usable_cores() // int(os.environ.get("LOCAL_WORLD_SIZE", 1)))


def add_options(parser: argparse.ArgumentParser, *kinds: type) -> None:
    """Adds an option for every field of some settings, without a default: see `given`."""
    for settings in kinds:
        for field in dataclasses.fields(settings):
            if not field.metadata:
                continue
            takes: dict[str, Any] = {"type": field.type}
            if field.type is bool:
                takes = {"action": argparse.BooleanOptionalAction}
            elif choices := get_args(field.type):  # of a Literal
                takes = {"choices": choices}
            parser.add_argument(
                f"--{field.name.replace('_', '-')}",
                **takes,
                default=argparse.SUPPRESS,
                help=f"{field.metadata['help']} (default: {field.default})",
            )


def given(options: argparse.Namespace, settings: type) -> dict:
    """Returns the fields of some settings that the command line gave a value."""
    names = {field.name for field in dataclasses.fields(settings)}
    return {
        name: value for name, value in vars(options).items() if name in names - {"rung_settings"}
    }


def lengthened(saved: RunSettings, **limits: Any) -> Any:
    """Returns a resumed run's settings with later ends; a ConfigurationError for other changes."""
    for name, limit in limits.items():
        if name not in ("updates", "seconds"):
            raise ConfigurationError(
                "--resume continues with the old settings: it takes --updates and --seconds, "
                f"but not --{name.replace('_', '-')}"
            )
        if limit < (before := getattr(saved, name)):
            raise ConfigurationError(f"--{name} {limit:g} is less than the run's {before:g}")
    return dataclasses.replace(saved, **limits)


def training_of(options: argparse.Namespace, rung_settings: dict) -> Training:
    """Returns the settings of a command line, parsed with `add_options`, and of a rung."""
    ppo = PpoSettings(**given(options, PpoSettings))
    return Training(**given(options, Training), rung_settings=rung_settings, ppo=ppo)
