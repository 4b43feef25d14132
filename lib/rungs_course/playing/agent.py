"""An agent that searches one game through the C API, and reports what it has found so far.

Its results are those of `js/agent.js`, which calls the same functions in WebAssembly: bit for bit
where both are compiled without fused operations.
"""

import ctypes
from typing import Any, Self

import numpy as np

from rungs._src.native import gpp
from rungs._src.native.abi import Structure, described
from rungs.errors import ConfigurationError, InvalidFenError, UnavailableError

MAX_LEGAL = 218
_PUCT, _FLOAT16 = 1, 1  # RUNGS_POLICY_PUCT, RUNGS_WEIGHTS_FLOAT16
# By the values of `rungs_status`; all others are ConfigurationError.
_ERRORS = {-3: InvalidFenError, -6: UnavailableError}
# A candidate's fields: the output that holds each, an element per legal action, and its dtype.
_LISTS = {
    "action": ("actions", np.int16),
    "visits": ("visits", np.int32),
    "value": ("action_values", np.float32),
    "prior": ("priors", np.float32),
}


class Agent:
    """A search of one game, by PUCT without noise, and the network that evaluates its positions.

    Args:
        weights: (1537665,) float16, as `rungs.h` lists them.
        nodes: how many positions its tree has room for, of about 1 kB each.
        simulations: the most in one call of `think`.
        march: the processor that the C++ is compiled for, as g++ names it.

    Raises:
        ConfigurationError: the weights are not those of a network.
        UnavailableError: there is too little memory.
        CompilerError: g++ is not installed, or rejects the C++.
    """

    def __init__(
        self, weights: np.ndarray, *, nodes: int, simulations: int = 4096, march: str = "native"
    ):
        self._library = _library(march)
        self._structures = described(self._library).structures
        self._nodes, self._simulations, self._chosen = nodes, 0, -1
        self._network, self._search = ctypes.c_void_p(), ctypes.c_void_p()
        numbers = np.ascontiguousarray(weights, np.float16)
        try:
            self._create(
                "network",
                self._network,
                weights=numbers.ctypes.data,
                num_weights=numbers.size,
                type=_FLOAT16,
            )
            self._create(
                "search",
                self._search,
                policy=_PUCT,
                simulations=simulations,
                nodes=nodes,
                keep=0,
                fraction=0.0,
                temperature=0.0,
            )
        except Exception:
            self.close()
            raise
        self._outputs = self._structure("search_outputs")
        self._outputs.size = ctypes.sizeof(self._outputs)
        self._call("search_get_outputs", self._search, ctypes.byref(self._outputs))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Frees its memory; it may not be used any more."""
        for kind in ("search", "network"):
            handle = getattr(self, f"_{kind}")
            getattr(self._library, f"rungs_{kind}_destroy")(handle)
            handle.value = None

    def begin(self, fen: str, actions: list[int]) -> None:
        """Begins to search a position.

        Args:
            fen: where the game began.
            actions: what was played since, which repetitions depend on.

        Raises:
            InvalidFenError: the FEN is malformed or its position impossible.
            ConfigurationError: an action is not legal, or the game is over.
        """
        self._call("search_begin", self._search, ctypes.c_int64(0), fen.encode())
        for action in actions:
            if action < 0:
                raise ConfigurationError(f"{action} is not an action")
            self._call("search_advance", self._search, ctypes.byref(ctypes.c_int64(action)))
        if self._array("reason", np.int8, 1)[0]:
            raise ConfigurationError("the game is over")
        self._simulations = 0

    def think(self, simulations: int) -> None:
        """Adds simulations to the tree, which is the same whether they come at once or in parts."""
        run = (self._search, self._network, None, ctypes.c_int32(simulations))
        self._call("search_run", *run)
        self._simulations += simulations
        self._chosen = int(self._array("chosen", np.int64, 1)[0])  # which `_look` overwrites

    def thoughts(self) -> dict[str, Any]:
        """Returns the result of the search so far: `Thoughts` of `js/agent.js`, to become JSON."""
        line = [self._chosen]
        candidates = self._look([])
        value = float(self._array("value", np.float32, 1)[0])
        candidates.sort(key=lambda each: (each["action"] != self._chosen, *_best(each)))
        while (replies := self._look(line)) and (likely := min(replies, key=_best))["visits"]:
            line.append(likely["action"])
        nodes = int(self._array("nodes", np.int32, 1)[0])
        return {
            "candidates": candidates,
            "chosen": self._chosen,
            "value": value,
            "simulations": self._simulations,
            "nodes": nodes,
            "full": nodes == self._nodes,
            "line": line,
        }

    def tree(self, depth: int, least: float, path: tuple[int, ...] = ()) -> list[dict[str, Any]]:
        """Returns the most visited part of the tree, as `Agent.tree` of `js/agent.js`.

        Args:
            depth: in plies.
            least: the smallest share of the root's simulations that a branch may have.
            path: actions from the root.
        """
        few = max(1, least * self._simulations)
        found = [each for each in self._look([*path]) if each["visits"] >= few]
        return [
            {
                "action": each["action"],
                "visits": each["visits"],
                "value": each["value"],
                "children": self.tree(depth - 1, least, (*path, each["action"]))
                if depth > 1
                else [],
            }
            for each in found
        ]

    def _look(self, path: list[int]) -> list[dict[str, Any]]:
        """Returns what the tree holds of a node's legal actions, in ascending order."""
        actions = np.array(path, np.int16)
        where = (ctypes.c_int64(0), ctypes.c_void_p(actions.ctypes.data))
        self._call("search_look", self._search, *where, ctypes.c_int64(len(path)))
        count = int(self._array("counts", np.int16, 1)[0])
        columns = [self._array(name, kind, count).tolist() for name, kind in _LISTS.values()]
        return [dict(zip(_LISTS, row, strict=True)) for row in zip(*columns, strict=True)]

    def _array(self, name: str, dtype: type, count: int) -> np.ndarray:
        """Returns the first elements of an output, copied."""
        size = count * np.dtype(dtype).itemsize
        return np.frombuffer(ctypes.string_at(getattr(self._outputs, name), size), dtype)

    def _structure(self, name: str) -> Structure:
        made = self._structures[f"rungs_{name}"]
        return made.from_buffer_copy(bytes(ctypes.sizeof(made)))

    def _create(self, kind: str, handle: ctypes.c_void_p, **settings: Any) -> None:
        config = self._structure(f"{kind}_config")
        size = ctypes.c_size_t(ctypes.sizeof(config))
        getattr(self._library, f"rungs_{kind}_config_init")(ctypes.byref(config), size)
        for name, value in settings.items():
            setattr(config, name, value)
        self._call(f"{kind}_create", ctypes.byref(config), ctypes.byref(handle))

    def _call(self, name: str, *arguments: Any) -> None:
        if status := getattr(self._library, f"rungs_{name}")(*arguments):
            message = self._library.rungs_error_message().decode()
            raise _ERRORS.get(status, ConfigurationError)(message)


def _library(march: str) -> ctypes.CDLL:
    """Loads the C API again, as `gpp.load`'s library has private functions of the same names."""
    library = ctypes.CDLL(gpp.load(march)._name)
    library.rungs_error_message.restype = ctypes.c_char_p
    library.rungs_abi.restype = ctypes.c_size_t
    return library


def _best(candidate: dict[str, Any]) -> tuple[float, float, int]:
    """Returns a sort key: candidates most visited first, then those with the highest prior."""
    return -candidate["visits"], -candidate["prior"], candidate["action"]
