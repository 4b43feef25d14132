"""What to train and how: everything that a training run depends on."""

import dataclasses
import os

from rungs.core.arguments import choice, integer
from rungs.errors import ConfigurationError
from rungs.machine.cpu import usable_cores


def setting(default, told: str):
    """Makes a field of settings that the command line tells of."""
    return dataclasses.field(default=default, metadata={"help": told})


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
            value = getattr(self, field.name)
            if field.type is int:
                integer(field.name, value, 1, 2**20)
                continue
            most = 1 if field.name in ("gamma", "gae_lambda") else float("inf")
            if not 0 <= value <= most:
                raise ConfigurationError(f"{field.name}={value} is not between 0 and {most}")


@dataclasses.dataclass(frozen=True)
class Training:
    """What to train, on what, and for how long.

    Raises:
        ConfigurationError: a value is out of its range; the message names it.
    """

    rung: str = setting("openmp", "which one plays; the curve over steps is the same on all")
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
    compile: bool = setting(False, "whether torch.compile compiles the network")
    # The rung's own settings, such as {"threads": 4}.
    how: dict = dataclasses.field(default_factory=dict)
    ppo: PpoSettings = dataclasses.field(default_factory=PpoSettings)

    def __post_init__(self):
        for name, least in (("updates", 1), ("evaluate_every", 1), ("checkpoint_every", 0)):
            integer(name, getattr(self, name), least, 2**31 - 1)
        integer("games", self.games, 2, 2**20)
        if not self.seconds > 0:
            raise ConfigurationError(f"seconds={self.seconds} is not above 0")
        choice("device", self.device, ("cpu", "cuda"))
        integer("torch_threads", self.torch_threads, 0, 2**15)
        if not self.torch_threads:
            object.__setattr__(self, "torch_threads", share_of_cores())


def share_of_cores() -> int:
    """Returns this machine's usable cores, shared among the ranks that torchrun starts on it."""
    return max(1, usable_cores() // int(os.environ.get("LOCAL_WORLD_SIZE", 1)))
