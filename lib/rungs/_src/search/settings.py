"""Settings of a search, and the schedule of sequential halving."""

import dataclasses
import functools
import math
from typing import Literal

import numpy as np
from gymnasium.vector import AutoresetMode

from rungs._src.chess.buffers import MAX_LEGAL
from rungs._src.chess.settings import ChessSettings
from rungs._src.core.arguments import choice, integer
from rungs._src.core.settings import check_fields, checked_later, documented, setting

MAX_SIMULATIONS = 100_000
MAX_NODES = 4 * MAX_SIMULATIONS

# Edges per node that a tree has room for: middlegames have 30 to 40 moves. `MAX_LEGAL` are added.
_EDGES_PER_NODE = 40


@documented
@dataclasses.dataclass(frozen=True)
class Gumbel:
    """Gumbel root selection with sequential halving (Danihelka et al., ICLR 2022).

    Below the root actions are selected by its deterministic rule (section 5). The training target
    is the improved policy, softmax(logits + sigma(completed q)) (equations 10 and 11; q is
    completed with the mixed value of appendix D). Sigma (equation 8) is q, from 0 for a loss to 1
    for a win, times (`maxvisit_init` + maximum of the visits) * `value_scale`.

    Raises:
        ConfigurationError: a setting is out of range; the message names it.
    """

    considered: int = setting(
        16, "number of root actions that the halving begins with.", 1, MAX_LEGAL
    )
    scale: float = setting(1.0, "of the Gumbel noise; 0 for none.", 0, 1e3)
    value_scale: float = setting(1.0, "weight of q against the logits.", 1e-6, 1e3)
    maxvisit_init: float = setting(
        50.0, "added to the maximum of the visits in the scale of q.", 0, 1e6
    )

    def __post_init__(self) -> None:
        check_fields(self)


@documented
@dataclasses.dataclass(frozen=True)
class Puct:
    """PUCT as in AlphaZero (Silver et al., Science 2018, "Search" in its methods).

    An action's score is Q + C(s) P sqrt(N(s)) / (1 + N(s, a)), with C(s) = log((1 + N(s) + c_base)
    / c_base) + c_init. N(s) includes the node's own evaluation, and Q of an unvisited action
    is 0. The training target is the share of the visits.

    Raises:
        ConfigurationError: a setting is out of range; the message names it.
    """

    c_init: float = setting(1.25, "weight of exploration.", 0, 1e3)
    c_base: float = setting(19652.0, "how slowly it grows with visits.", 1, 1e9)
    alpha: float = setting(0.3, "parameter of the Dirichlet noise at the root.", 1e-2, 1e3)
    fraction: float = setting(0.25, "share of noise in the root's priors; 0 for none.", 0, 1)
    temperature: float = setting(
        1.0,
        "the action played is drawn with probability N^(1 / temperature); at 0 it is the most "
        "visited one.",
        0,
        1e3,
    )

    def __post_init__(self) -> None:
        check_fields(self)


Policy = Literal["gumbel", "puct"]
POLICIES: dict[Policy, type[Gumbel | Puct]] = {"gumbel": Gumbel, "puct": Puct}


def _policy(name: str, policy: object) -> Gumbel | Puct:
    """Returns a `Gumbel` or a `Puct`; of an instance of a subclass only the settings of these."""
    for rule in (Gumbel, Puct):
        if isinstance(policy, rule):
            names = [field.name for field in dataclasses.fields(rule)]
            return rule(**{name: getattr(policy, name) for name in names})
    return POLICIES[choice(name, policy, tuple(POLICIES), ", nor a Gumbel or a Puct")]()


@documented
@dataclasses.dataclass(frozen=True)
class SearchSettings:
    """The settings of a `rungs.search.Search`, which accepts each by its name.

    Raises:
        ConfigurationError: a setting is wrong; the message names it.
    """

    simulations: int = setting(
        32, "per game and search, in addition to kept visits.", 1, MAX_SIMULATIONS
    )
    policy: Gumbel | Puct = setting(
        "gumbel",
        '"gumbel" or "puct", or settings of one: `rungs.search.Gumbel`, `Puct`.',
        check=_policy,
    )
    obs: str = setting(
        "board",
        'observations that evaluators get, as in `rungs.make("chess")`.',
        check=checked_later,
    )
    dtype: str | None = setting(
        None, 'of `obs="planes"`, as in `rungs.make("chess")`.', check=checked_later
    )
    seed: int = setting(
        0,
        "0 to 2**64 - 1. Noise and choices are a function of (seed, game, episode, ply, action) "
        "alone.",
        0,
        2**64 - 1,
    )
    keep: bool = setting(True, "whether the subtree below an action that is played is kept.")
    nodes: int = setting(
        None,
        "capacity of a tree; by default twice the simulations plus one. A kept subtree is cut to "
        "leave room for a search: the deepest nodes are dropped, and their edges keep their "
        "visits. A leaf that doesn't fit is evaluated and backed up, but not inserted.",
        check=checked_later,
    )

    def __post_init__(self) -> None:
        check_fields(self)
        nodes = 2 * self.simulations + 1 if self.nodes is None else self.nodes
        nodes = integer("nodes", nodes, self.simulations + 1, MAX_NODES)
        object.__setattr__(self, "nodes", nodes)
        object.__setattr__(self, "dtype", self.chess(()).dtype)

    @property
    def edges(self) -> int:
        """Capacity of a tree in edges."""
        return _EDGES_PER_NODE * self.nodes + MAX_LEGAL

    @property
    def kept_nodes(self) -> int:
        """The maximum number of nodes of a kept subtree, which leaves room for the next search."""
        return self.nodes - self.simulations

    @property
    def kept_edges(self) -> int:
        """The maximum number of edges of a kept subtree."""
        return _EDGES_PER_NODE * self.kept_nodes + MAX_LEGAL

    def chess(self, fens: tuple[str, ...]) -> ChessSettings:
        """Returns the settings of an environment with these starts (if empty, the classical one);
        raises InvalidFenError if one with lists of actions can't start from them.
        """
        return ChessSettings(
            obs=self.obs,
            dtype=self.dtype,  # type: ignore[arg-type]  # made the first of its `obs` there
            mask="list",
            autoreset_mode=AutoresetMode.DISABLED,
            start_fens=fens or None,
        )


@functools.cache
def halving(considered: int, simulations: int) -> np.ndarray:
    """Returns the schedule of sequential halving (Karnin et al., ICML 2013) at the root, int32.

    Beginning with m actions, simulation n goes to an action with `[m, n]` visits.
    """
    return np.array([_halving(m, simulations) for m in range(considered + 1)], np.int32)


def _halving(considered: int, simulations: int) -> list[int]:
    if considered <= 1:
        return list(range(simulations))
    rounds = math.ceil(math.log2(considered))
    schedule: list[int] = []
    visits = [0] * considered
    left = considered
    while len(schedule) < simulations:
        for _ in range(max(1, simulations // (rounds * left))):
            schedule += visits[:left]
            visits[:left] = [count + 1 for count in visits[:left]]
        left = max(2, left // 2)
    return schedule[:simulations]
