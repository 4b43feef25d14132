"""What a self-play run depends on: how to play, what to keep, how to learn, how to evaluate."""

import dataclasses
import math
from typing import Any

from rungs._src.core.arguments import boolean, choice, integer, real
from rungs._src.train.settings import setting, share_of_cores

LEARNERS = "cpp", "torch"  # made by `rungs._src.selfplay.learning.make`

_MOST = 2**31 - 1


@dataclasses.dataclass(frozen=True)
class SelfPlayTraining:
    """A self-play run.

    Raises:
        ConfigurationError: a value is out of its range; the message names it.
    """

    num_envs: int = setting(512, "number of boards, of each rank")
    simulations: int = setting(32, "of each search")
    considered: int = setting(16, "moves that a search begins with, at most")
    plies: int = setting(16, "played on every board per update")
    max_plies: int = setting(200, "games are cut short there, as draws")
    opening_plies: int = setting(8, "random plies before a game, at most")
    window: int = setting(120, "updates whose positions are learnt from")
    minibatches: int = setting(32, "per update")
    minibatch_size: int = setting(512, "positions in each")
    learner: str = setting("cpp", f"what computes the network: {', '.join(LEARNERS)}")
    learning_rate: float = setting(1e-3, "of Adam")
    vf_coef: float = setting(0.5, "the weight of the value's squared error in the loss")
    max_grad_norm: float = setting(1.0, "gradients are scaled down to it")
    updates: int = setting(1000, "how many")
    seconds: float = setting(
        float("inf"), "or how long, whichever is over first; evaluations don't count"
    )
    seed: int = setting(0, "of everything")
    evaluate_every: int = setting(
        200, "updates between two evaluations; one more comes first, and one last"
    )
    games: int = setting(60, "of each match of an evaluation, an even number")
    rivals: int = setting(3, "earlier selves that an evaluation plays, at most")
    stockfish: bool = setting(False, "whether evaluations play Stockfish at its weakest, too")
    checkpoint_every: int = setting(
        10, "updates between two checkpoints; one more comes last. 0 for none"
    )
    torch_threads: int = setting(
        0, "threads of the network and of the search; 0 for all cores. PyTorch's round by it"
    )

    def __post_init__(self):
        spans = {
            "num_envs": (1, 2**20),
            "simulations": (1, 2**20),
            "considered": (1, 218),
            "plies": (1, 2**20),
            "max_plies": (1, _MOST),
            "opening_plies": (0, 200),
            "window": (1, 2**20),
            "minibatches": (1, 2**20),
            "minibatch_size": (1, 2**20),
            "updates": (1, _MOST),
            "seed": (0, 2**64 - 1),
            "evaluate_every": (1, _MOST),
            "games": (2, 2**16),
            "rivals": (0, 2**10),
            "checkpoint_every": (0, _MOST),
            "torch_threads": (0, 2**15),
        }
        checked: dict[str, Any] = {
            name: integer(name, getattr(self, name), *span) for name, span in spans.items()
        }
        for name, least, most in (
            ("learning_rate", 0, 1e9),
            ("vf_coef", 0, 1e9),
            ("max_grad_norm", 0, math.inf),
            ("seconds", 1e-9, math.inf),
        ):
            checked[name] = real(name, getattr(self, name), least, most)
        checked["learner"] = choice("learner", self.learner, LEARNERS)
        checked["stockfish"] = boolean("stockfish", self.stockfish)
        checked["torch_threads"] = checked["torch_threads"] or share_of_cores()
        for name, value in checked.items():
            object.__setattr__(self, name, value)
