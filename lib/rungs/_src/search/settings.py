"""Settings of a search, and the schedule of sequential halving."""

import dataclasses
import functools
import math

import numpy as np
from gymnasium.vector import AutoresetMode

from rungs._src.chess.buffers import MAX_LEGAL
from rungs._src.chess.settings import ChessSettings
from rungs._src.core.arguments import boolean, integer, real, shown
from rungs.errors import ConfigurationError

MAX_SIMULATIONS = 100_000
MAX_NODES = 4 * MAX_SIMULATIONS

# Capacity for edges per node, as middlegames have 30 to 40 moves; plus one longest list.
_EDGES_PER_NODE = 40


@dataclasses.dataclass(frozen=True)
class Gumbel:
    """Gumbel root selection with sequential halving (Danihelka et al., ICLR 2022).

    Below the root actions are selected by its deterministic rule (section 5). The training target
    is the improved policy, softmax(logits + sigma(completed q)) (equations 10 and 11; q is
    completed with the mixed value of appendix D). Sigma is mctx's: q of a node's actions rescaled
    to [0, 1], times (`maxvisit_init` + maximum of the visits) * `value_scale`.

    Args:
        considered: number of root actions that the halving begins with.
        scale: of the Gumbel noise; 0 for none.
        value_scale: weight of q against the logits.
        maxvisit_init: added to the maximum of the visits in the scale of q.

    Raises:
        ConfigurationError: one is out of range; it is named.
    """

    considered: int = 16
    scale: float = 1.0
    value_scale: float = 0.1
    maxvisit_init: float = 50.0

    def __post_init__(self) -> None:
        checked = {
            "considered": integer("considered", self.considered, 1, MAX_LEGAL),
            "scale": real("scale", self.scale, 0, 1e3),
            "value_scale": real("value_scale", self.value_scale, 1e-6, 1e3),
            "maxvisit_init": real("maxvisit_init", self.maxvisit_init, 0, 1e6),
        }
        for name, value in checked.items():
            object.__setattr__(self, name, value)


@dataclasses.dataclass(frozen=True)
class Puct:
    """PUCT as in AlphaZero (Silver et al., Science 2018, "Search" in its methods).

    An action's score is Q + C(s) P sqrt(N(s)) / (1 + N(s, a)), with C(s) = log((1 + N(s) + c_base)
    / c_base) + c_init. N(s) includes the node's own evaluation, and Q of an unvisited action
    is 0. The training target is the share of the visits.

    Args:
        c_init: weight of exploration.
        c_base: how slowly it grows with visits.
        alpha: parameter of the Dirichlet noise at the root.
        fraction: share of noise in the root's priors; 0 for none.
        temperature: the action played is drawn with probability N^(1 / temperature); at 0 it is the
            most visited one.

    Raises:
        ConfigurationError: one is out of range; it is named.
    """

    c_init: float = 1.25
    c_base: float = 19652.0
    alpha: float = 0.3
    fraction: float = 0.25
    temperature: float = 1.0

    def __post_init__(self) -> None:
        checked = {
            "c_init": real("c_init", self.c_init, 0, 1e3),
            "c_base": real("c_base", self.c_base, 1, 1e9),
            "alpha": real("alpha", self.alpha, 1e-2, 1e3),
            "fraction": real("fraction", self.fraction, 0, 1),
            "temperature": real("temperature", self.temperature, 0, 1e3),
        }
        for name, value in checked.items():
            object.__setattr__(self, name, value)


POLICIES = {"gumbel": Gumbel, "puct": Puct}


@dataclasses.dataclass(frozen=True)
class SearchSettings:
    """The settings of `rungs.search.Search`, which documents them.

    Raises:
        ConfigurationError: a setting is wrong; it is named.
    """

    simulations: int = 32
    policy: Gumbel | Puct = "gumbel"  # type: ignore[assignment]  # made the settings of that name
    obs: str = "board"
    dtype: str | None = None
    seed: int = 0
    keep: bool = True
    nodes: int = None  # type: ignore[assignment]  # made twice the simulations and one

    def __post_init__(self) -> None:
        simulations = integer("simulations", self.simulations, 1, MAX_SIMULATIONS)
        nodes = 2 * simulations + 1 if self.nodes is None else self.nodes
        checked = {
            "simulations": simulations,
            "policy": _policy(self.policy),
            "seed": integer("seed", self.seed, 0, 2**64 - 1),
            "keep": boolean("keep", self.keep),
            "nodes": integer("nodes", nodes, simulations + 1, MAX_NODES),
            "dtype": self.chess(()).dtype,
        }
        for name, value in checked.items():
            object.__setattr__(self, name, value)

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
        """Likewise of edges."""
        return _EDGES_PER_NODE * self.kept_nodes + MAX_LEGAL

    def chess(self, fens: tuple[str, ...]) -> ChessSettings:
        """Returns the settings of an environment with these starts (none: the classical one).

        Raises:
            InvalidFenError: an environment with lists of actions can't start from one of them.
        """
        return ChessSettings(
            obs=self.obs,
            dtype=self.dtype,  # type: ignore[arg-type]  # made the first of its `obs` there
            mask="list",
            autoreset_mode=AutoresetMode.DISABLED,
            start_fens=fens or None,
        )


def _policy(policy: object) -> Gumbel | Puct:
    """Returns a `Gumbel` or a `Puct`; of a class derived from one, its settings alone."""
    for rule in (Gumbel, Puct):
        if isinstance(policy, rule):
            names = [field.name for field in dataclasses.fields(rule)]
            return rule(**{name: getattr(policy, name) for name in names})
    if not isinstance(policy, str) or policy not in POLICIES:
        known = ", ".join(map(repr, POLICIES))
        raise ConfigurationError(
            f"policy={shown(policy)} is not one of {known}, nor a Gumbel or a Puct"
        )
    return POLICIES[policy]()


@functools.cache
def halving(considered: int, simulations: int) -> np.ndarray:
    """Makes the schedule of sequential halving (Karnin et al., ICML 2013) at the root.

    Returns:
        (considered + 1, simulations) int32: beginning with m actions, simulation n goes to an
        action with `[m, n]` visits. Row 0 is not used.
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
