"""The C API (`cpp/include/rungs.h`) by ctypes, as a program in another language calls it."""

import ctypes
import re

import numpy as np
import pytest

from rungs._src import paths
from rungs._src.native import gpp

HEADER = paths.CPP / "include" / "rungs.h"
OK, ARGUMENT, ILLEGAL_ACTION, FEN, STATE, ORDER = 0, -1, -2, -3, -4, -5
MAX_LEGAL = 218
# The numbers of the formats of observations, by name.
FORMATS = {
    name: int(number)
    for name, number in re.findall(r"RUNGS_OBSERVATION_(\w+) = (\d+)", HEADER.read_text())
}


def structure(name):
    """A structure as the header declares it, `rungs_<name>`."""
    text = re.sub(r"/\*.*?\*/", "", HEADER.read_text(), flags=re.DOTALL)
    (body,) = re.findall(rf"typedef struct rungs_{name} {{(.*?)}}", text, re.DOTALL)
    fields = []
    for field in body.split(";")[:-1]:
        kind, _, its_name = field.strip().rpartition(" ")
        exact = kind if kind == "size_t" else kind.removesuffix("_t")
        fields.append((its_name, getattr(ctypes, "c_void_p" if "*" in kind else f"c_{exact}")))
    return type(name, (ctypes.Structure,), {"_fields_": fields})


ChessConfig, ChessOutputs = structure("chess_config"), structure("chess_outputs")
CartPoleConfig, CartPoleOutputs = structure("cartpole_config"), structure("cartpole_outputs")
SearchConfig, SearchOutputs = structure("search_config"), structure("search_outputs")
NetworkConfig = structure("network_config")
RESULTS = {
    "actions": (np.int16, MAX_LEGAL),
    "counts": (np.int16,),
    "visits": (np.int32, MAX_LEGAL),
    "policy": (np.float32, MAX_LEGAL),
    "priors": (np.float32, MAX_LEGAL),
    "action_values": (np.float32, MAX_LEGAL),
    "value": (np.float32,),
    "raw_value": (np.float32,),
    "chosen": (np.int64,),
}


def library(march="native"):
    """The compiled library, anew: what is declared here is apart from what the package declares."""
    loaded = ctypes.CDLL(gpp.load(march)._name)
    loaded.rungs_error_message.restype = ctypes.c_char_p
    return loaded


class CError(Exception):
    """A status that is not OK."""

    def __init__(self, status, message):
        super().__init__(message)
        self.status = status


def refuses(call, match=None, status=None):
    """Asserts that a call ends in a CError with such a message, and with this status."""
    with pytest.raises(CError, match=match) as refused:
        call()
    assert status in (None, refused.value.status)


class Handle:
    """A handle of one kind, `rungs_<kind>_...`."""

    def __init__(self, kind, config_class, outputs_class, settings, loaded=None):
        self.library, self._kind, self.handle = loaded or library(), kind, ctypes.c_void_p()
        self.config = config_class()
        size = ctypes.c_size_t(ctypes.sizeof(config_class))
        getattr(self.library, f"rungs_{kind}_config_init")(ctypes.byref(self.config), size)
        for name, value in settings.items():
            setattr(self.config, name, value)
        status = getattr(self.library, f"rungs_{kind}_create")(
            ctypes.byref(self.config), ctypes.byref(self.handle)
        )
        self._check(status)
        if outputs_class is None:
            return
        self.outputs = outputs_class(size=ctypes.sizeof(outputs_class))
        self.call("get_outputs", ctypes.byref(self.outputs))

    def call(self, name, *arguments):
        """Calls a function with arrays, numbers or texts; raises CError."""
        status = getattr(self.library, f"rungs_{self._kind}_{name}")(
            self.handle, *map(argument, arguments)
        )
        self._check(status)

    def _check(self, status):
        if status != OK:
            raise CError(status, self.library.rungs_error_message().decode())

    def fen(self, board):
        text = ctypes.create_string_buffer(128)
        self.call("get_fen", board, text, ctypes.c_size_t(128))
        return text.value.decode()

    def bytes_at(self, address, count):
        return np.ctypeslib.as_array(ctypes.cast(address, ctypes.POINTER(ctypes.c_uint8)), (count,))

    def array(self, name, dtype, *shape):
        """An output, without a copy."""
        count = int(np.prod(shape)) * np.dtype(dtype).itemsize
        return self.bytes_at(getattr(self.outputs, name), count).view(dtype).reshape(shape)

    def __del__(self):
        if self.handle:
            getattr(self.library, f"rungs_{self._kind}_destroy")(self.handle)


def argument(value):
    """A value as C takes it."""
    if isinstance(value, np.ndarray):
        return ctypes.c_void_p(value.ctypes.data)
    return ctypes.c_int64(value) if isinstance(value, int) else value


class Chess(Handle):
    """A batch of chess environments; settings as in `rungs_chess_config`."""

    def __init__(self, start_fens=(), **settings):
        if start_fens:
            fens = (ctypes.c_char_p * len(start_fens))(*(each.encode() for each in start_fens))
            self._start_fens = fens  # as a pointer doesn't keep them
            settings |= {"start_fens": ctypes.addressof(fens), "num_start_fens": len(start_fens)}
        super().__init__("chess", ChessConfig, ChessOutputs, settings)
        self.num_envs = n = self.config.num_envs
        out = self.outputs
        self.observation = self.bytes_at(out.observation, n * out.observation_bytes)
        self.mask = self.bytes_at(out.mask, n * out.mask_bytes)
        self.final_observation = self.bytes_at(out.final_observation, n * out.observation_bytes)
        self.reward = self.array("reward", np.float32, n)
        for name in ("terminated", "truncated", "ended", "player", "reason"):
            setattr(self, name, self.array(name, np.int8, n))

    def reset(self, seed=None, which=None):
        if isinstance(seed, np.ndarray):
            self.call("reset_seeds", seed)
        elif seed is not None:
            self.call("reset", ctypes.c_uint64(seed))
        else:
            self.call("reset_some", which)

    def sample(self, rng):
        """As `sample_actions` of the package."""
        counts, actions = np.zeros((2, self.num_envs), np.int64)
        self.call("count_actions", counts)
        self.call("choose_actions", np.random.default_rng(rng).integers(counts), actions)
        return actions

    def step(self, actions):
        ended = ctypes.c_int64()
        self.call("step", np.ascontiguousarray(actions, np.int64), ctypes.byref(ended))
        return ended.value

    def set_fen(self, env, fen):
        self.call("set_fen", env, fen.encode())

    def save(self):
        self.library.rungs_chess_state_bytes.restype = ctypes.c_size_t
        state = np.zeros(self.library.rungs_chess_state_bytes(self.handle), np.uint8)
        self.call("save", state)
        return state

    def restore(self, state):
        self.call("restore", state, ctypes.c_size_t(len(state)))


class Search(Handle):
    """A search; settings as in `rungs_search_config`."""

    def __init__(self, **settings):
        super().__init__("search", SearchConfig, SearchOutputs, settings)
        n = self.config.num_games
        self.observation = self.bytes_at(
            self.outputs.observation, n * self.outputs.observation_bytes
        ).reshape(n, -1)
        self.leaf_actions = self.array("leaf_actions", np.int16, n, MAX_LEGAL)
        self.leaf_counts = self.array("leaf_counts", np.int16, n)
        self.reason = self.array("reason", np.int8, n)
        for name, (dtype, *shape) in RESULTS.items():
            setattr(self, name, self.array(name, dtype, n, *shape))
        self.nodes = self.array("nodes", np.int32, n)

    def simulate(self, logits=None, values=None):
        """Returns how many leaves wait."""
        leaves, stride = ctypes.c_int64(), 0 if logits is None else logits.shape[1]
        self.call("simulate", logits, stride, values, ctypes.byref(leaves))
        return leaves.value

    def run(self, evaluate, which=None, simulations=0):
        """As `run` of the package."""
        self.call("start", which, ctypes.c_int32(simulations))
        arrays = (self.observation, self.leaf_actions, self.leaf_counts)
        leaves = self.simulate()
        while leaves:
            leaves = self.simulate(*evaluate(*(array[:leaves] for array in arrays)))
        self.call("finish")


class Network(Handle):
    """A network of (1537665,) float32 or float16 weights; settings as in `rungs_network_config`."""

    def __init__(self, numbers, march="native", **settings):
        given = {"weights": numbers.ctypes.data, "num_weights": numbers.size}
        given["type"] = int(numbers.dtype == np.float16)
        super().__init__("network", NetworkConfig, None, given | settings, library(march))

    def evaluate(self, observation, actions, counts):
        rows, stride = len(counts), int(counts.max(initial=0))
        logits = np.full((rows, stride), np.nan, np.float32)
        values = np.zeros(rows, np.float32)
        arrays = [np.ascontiguousarray(each) for each in (observation, actions, counts)]
        self.call("evaluate", *arrays, rows, logits, stride, values)
        return logits, values


class CartPole(Handle):
    """A batch of CartPole environments; settings as in `rungs_cartpole_config`."""

    def __init__(self, **settings):
        super().__init__("cartpole", CartPoleConfig, CartPoleOutputs, settings)
        n = self.config.num_envs
        for name in ("observation", "final_observation"):
            setattr(self, name, self.array(name, np.float32, 4, self.outputs.stride)[:, :n].T)
        self.reward = self.array("reward", np.float32, n)
        for name in ("terminated", "truncated", "ended"):
            setattr(self, name, self.array(name, np.bool_, n))

    reset, step = Chess.reset, Chess.step
