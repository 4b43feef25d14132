"""The settings of a self-play run."""

import dataclasses
import math
from typing import Any

from rungs._src.core.arguments import integer
from rungs._src.core.settings import check_fields, documented, setting
from rungs._src.search.settings import MAX_SIMULATIONS, POLICIES, Policy
from rungs._src.train.settings import MAX_INT, RunSettings
from rungs.errors import ConfigurationError

LEARNERS = "cpp", "cpp-bfloat16", "torch"  # made by `rungs._src.selfplay.learning.make`


@dataclasses.dataclass(frozen=True, kw_only=True)
class LossWeights:
    """The weights of the loss and the settings of its optimizer; raises as `SelfPlayTraining`."""

    learning_rate: float = setting(1e-3, "of Adam")
    value_mix: float = setting(
        0.5, "of the value's target: the weight of search's value; the rest is the outcome's", 0, 1
    )
    vf_coef: float = setting(0.5, "the weight of the value's squared error in the loss")
    max_grad_norm: float = setting(1.0, "gradients are scaled down to it", 0, math.inf)

    def __post_init__(self):
        check_fields(self)


def _even(name: str, value: Any) -> int:
    number = integer(name, value, 2, 2**16)
    if number % 2:
        raise ConfigurationError(f"{name}={number} is not even")
    return number


@documented
@dataclasses.dataclass(frozen=True)
class SelfPlayTraining(RunSettings, LossWeights):
    """The settings of a self-play run.

    Raises:
        ConfigurationError: a value is out of its range; the message names it.
    """

    num_envs: int = setting(512, "number of boards, of each rank", 1, 2**20)
    simulations: int = setting(32, "of each search", 1, MAX_SIMULATIONS)
    considered: int = setting(16, "moves that a search begins with, at most", 1, 218)
    plies: int = setting(16, "played on every board per update", 1, 2**20)
    max_plies: int = setting(200, "games of self-play are cut there, as draws", 1, MAX_INT)
    opening_plies: int = setting(8, "random plies before a game, at most", 0, 200)
    window: int = setting(120, "updates whose positions are learnt from, at most", 1, 2**20)
    window_share: float = setting(
        0.25, "of all updates so far, the share of the last that is learnt from, 20 at least", 0, 1
    )
    minibatches: int = setting(32, "per update", 1, 2**20)
    minibatch_size: int = setting(512, "positions in each", 1, 2**20)
    learner: str = setting(
        "cpp", f"what computes the network: {', '.join(LEARNERS)}", choices=LEARNERS
    )
    updates: int = setting(1000, "number of updates", 1, MAX_INT)
    evaluate_every: int = setting(
        200, "updates between two evaluations; one more comes first, and one last", 1, MAX_INT
    )
    games: int = setting(60, "of each match of an evaluation, an even number", check=_even)
    match_plies: int = setting(
        400, "games of evaluations that reach it are adjudicated by material", 1, MAX_INT
    )
    match_policy: Policy = setting(
        "gumbel", f"how agents search in evaluations: {', '.join(POLICIES)}", choices=(*POLICIES,)
    )
    rivals: int = setting(3, "earlier selves that an evaluation plays, at most", 0, 2**10)
    stockfish: bool = setting(False, "whether evaluations play Stockfish at its weakest, too")
