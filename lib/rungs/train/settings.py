"""What to train and how: everything that a training run depends on."""

import dataclasses
import os

from rungs.core.arguments import choice, integer
from rungs.errors import ConfigurationError
from rungs.machine.cpu import usable_cores


@dataclasses.dataclass(frozen=True)
class PpoSettings:
    """How to learn.

    Attributes:
        num_steps: of all boards, per update.
        update_epochs: how often an update goes through what was played.
        num_minibatches: in how many parts.
        learning_rate: of Adam.
        gamma: the discount of what comes a step later.
        gae_lambda: how far advantages look ahead.
        clip_coef: how far a probability may move in an update for the objective's benefit.
        vf_coef: the weight of the value's squared error in the loss.
        ent_coef: the weight of the policy's entropy.
        max_grad_norm: gradients are scaled down to it.

    Raises:
        ConfigurationError: a value is out of its range; the message names it.
    """

    num_steps: int = 32
    update_epochs: int = 2
    num_minibatches: int = 8
    learning_rate: float = 1e-3
    gamma: float = 0.99
    gae_lambda: float = 0.95
    clip_coef: float = 0.2
    vf_coef: float = 0.5
    ent_coef: float = 0.01
    max_grad_norm: float = 0.5

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

    Attributes:
        rung: which one plays; the curve over steps is the same on all.
        num_envs: number of boards, of each rank.
        updates: how many.
        seconds: or how long, whichever is over first; evaluations don't count.
        seed: of everything.
        opponent: "random", or the path of a UCI engine, which then plays at its weakest.
        max_plies: games are truncated there.
        evaluate_every: updates between two evaluations; one more comes first, and one last.
        games: per evaluation, against the random opponent.
        checkpoint_every: updates between two checkpoints; one more comes last. 0 for none, as for
            an environment that has no state to save.
        device: "cpu" or "cuda".
        torch_threads: threads of PyTorch on the CPU, which its rounding depends on; 0 for all
            usable cores, shared among the ranks that torchrun starts on a machine.
        compile: whether `torch.compile` compiles the network.
        how: the rung's own settings, such as {"threads": 4}.
        ppo: how to learn.
    """

    rung: str = "openmp"
    num_envs: int = 512
    updates: int = 100
    seconds: float = float("inf")
    seed: int = 0
    opponent: str = "random"
    max_plies: int = 200
    evaluate_every: int = 20
    games: int = 200
    checkpoint_every: int = 10
    device: str = "cpu"
    torch_threads: int = 0
    compile: bool = False
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
    """This machine's usable cores, shared among the ranks that torchrun starts on it."""
    return max(1, usable_cores() // int(os.environ.get("LOCAL_WORLD_SIZE", 1)))
