"""What to train and how: everything that a training run depends on."""

import dataclasses
import math
import os
from typing import Any

from rungs._src.core.arguments import choice, integer, real, shown
from rungs._src.machine.cpu import usable_cores
from rungs._src.train import learners
from rungs.errors import ConfigurationError


def setting(default, told: str):
    """Makes a field of settings that the command line tells of."""
    return dataclasses.field(default=default, metadata={"help": told})


# The largest value of a setting, where not every number will do; infinite, it sets no limit.
_MOST = {"gamma": 1, "gae_lambda": 1, "clip_coef": math.inf, "max_grad_norm": math.inf}

# What `rungs.make` takes and a rung has no say in: a run has a field for it, or needs it one way.
_FIXED = (
    *("env_id", "name", "rung", "num_envs", "seed", "opponent", "max_plies"),
    *("first_board", "obs", "dtype", "mask", "autoreset_mode"),
)


@dataclasses.dataclass(frozen=True)
class PpoSettings:
    """How to learn, by the names that CleanRL gives them.

    Raises:
        ConfigurationError: a value is out of its range; the message names it.
    """

    num_steps: int = setting(32, "steps of all boards per update")
    update_epochs: int = setting(2, "how often an update goes through what was played")
    num_minibatches: int = setting(8, "in how many parts it goes through it")
    learning_rate: float = setting(1e-3, "of Adam")
    gamma: float = setting(0.99, "the discount of what comes a step later")
    gae_lambda: float = setting(0.95, "how far advantages look ahead")
    clip_coef: float = setting(0.2, "how far a probability may move in an update to its benefit")
    vf_coef: float = setting(0.5, "the weight of the value's squared error in the loss")
    ent_coef: float = setting(0.01, "the weight of the policy's entropy")
    max_grad_norm: float = setting(0.5, "gradients are scaled down to it")

    def __post_init__(self):
        for field in dataclasses.fields(self):
            name, value = field.name, getattr(self, field.name)
            checked = (
                integer(name, value, 1, 2**20)
                if field.type is int
                else real(name, value, 0, _MOST.get(name, 1e9))
            )
            object.__setattr__(self, name, checked)


@dataclasses.dataclass(frozen=True)
class Training:
    """What to train, on what, and for how long.

    Raises:
        ConfigurationError: a value is out of its range; the message names it.
    """

    rung: str = setting("threads", "which one plays; the curve over steps is the same on all")
    num_envs: int = setting(512, "number of boards, of each rank")
    updates: int = setting(100, "how many")
    seconds: float = setting(
        float("inf"), "or how long, whichever is over first; evaluations don't count"
    )
    seed: int = setting(0, "of everything")
    opponent: str = setting(
        "random", '"random", or the path of a UCI engine, which then plays at its weakest'
    )
    max_plies: int = setting(200, "games are truncated there")
    evaluate_every: int = setting(
        20, "updates between two evaluations; one more comes first, and one last"
    )
    games: int = setting(200, "per evaluation, against the random opponent")
    checkpoint_every: int = setting(
        10,
        "updates between two checkpoints; one more comes last. 0 for none, as for an environment "
        "that has no state to save",
    )
    device: str = setting("cpu", '"cpu" or "cuda"')
    torch_threads: int = setting(
        0,
        "threads of PyTorch on the CPU, which its rounding depends on; 0 for all usable cores, "
        "shared among the ranks that torchrun starts on a machine",
    )
    learner: str = setting("torch", f"how learning is computed: {', '.join(learners.names())}")
    # The rung's own settings, such as {"threads": 4}.
    how: dict = dataclasses.field(default_factory=dict)
    ppo: PpoSettings = dataclasses.field(default_factory=PpoSettings)

    def __post_init__(self):
        limit = 2**31 - 1
        checked: dict[str, Any] = {
            name: integer(name, getattr(self, name), *span)
            for name, span in {
                "num_envs": (1, limit),
                "updates": (1, limit),
                "seed": (0, 2**64 - 1),
                "max_plies": (1, limit),
                "evaluate_every": (1, limit),
                "games": (2, 2**20),
                "checkpoint_every": (0, limit),
                "torch_threads": (0, 2**15),
            }.items()
        }
        checked |= {
            "rung": _text("rung", self.rung),
            "opponent": _text("opponent", self.opponent),
            "seconds": real("seconds", self.seconds, 1e-9, math.inf),
            "device": choice("device", self.device, ("cpu", "cuda")),
            "learner": choice("learner", self.learner, learners.names()),
        }
        checked["torch_threads"] = checked["torch_threads"] or share_of_cores()
        for name, value in checked.items():
            object.__setattr__(self, name, value)
        _check_how(self.how)
        if not isinstance(self.ppo, PpoSettings):
            raise ConfigurationError(f"ppo={shown(self.ppo)} are not PpoSettings")


def _text(name: str, value) -> str:
    if not isinstance(value, str):
        raise ConfigurationError(f"{name}={shown(value)} is not a text")
    return str(value)


def _check_how(how) -> None:
    if not isinstance(how, dict):
        raise ConfigurationError(f"how={shown(how)} is not a dict")
    for name in how:
        if not isinstance(name, str) or name in _FIXED:
            raise ConfigurationError(f"{shown(name)} is no setting of a rung: training sets it")


def share_of_cores() -> int:
    """Returns this machine's usable cores, shared among the ranks that torchrun starts on it."""
    return max(1, usable_cores() // int(os.environ.get("LOCAL_WORLD_SIZE", 1)))
