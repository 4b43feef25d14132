"""A batch of chess as pure JAX functions: the state is an array that is passed in and returned."""

import ctypes
import functools
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from gymnasium.vector import AutoresetMode

from rungs._src import paths
from rungs._src.chess.buffers import MAX_LEGAL
from rungs._src.chess.settings import MAX_PLIES
from rungs._src.core.arguments import as_array, checked_actions, choice, integer, seeds, shown
from rungs._src.core.arguments import autoreset_mode as checked_mode
from rungs._src.native import gpp
from rungs.errors import ConfigurationError, UnavailableError, install_hint

__all__ = ["ChessFunctions", "Outputs", "random_actions"]

try:
    import jax
    import jax.numpy as jnp
    from jax.typing import DTypeLike
except ImportError:
    raise UnavailableError(f"JAX is not installed: {install_hint('jax')}") from None

Array = jax.Array
_FLAGS = f"{gpp.LIBRARY} -march=native -pthread"


class Outputs(NamedTuple):
    """The outputs of `init` and `step` besides the state: a pytree of arrays.

    Attributes:
        observation: (N, 72) int8, of the position to move in.
        mask: with "list" (N, 218) int16, the legal actions in order of id, padded with -1;
            with "bits" (N, 146) uint32: bit `a % 32` of word `a // 32`.
        action_count: with "list" (N,) int16, how many actions are legal; else None.
        player: (N,) int8, the side to move: 0 White, 1 Black.
        reward: (N,) float32, from the agent's side.
        terminated: (N,) bool.
        truncated: (N,) bool.
        reason: (N,) int8, a `rungs.chess.Reason`.
        final_observation: (N, 72) int8: with SAME_STEP the last observation of the episodes that
            ended in this step; zeros elsewhere.
    """

    observation: Array
    mask: Array
    action_count: Array | None
    player: Array
    reward: Array
    terminated: Array
    truncated: Array
    reason: Array
    final_observation: Array


class ChessFunctions:
    """Begins and steps a batch of chess games inside of `jax.jit`, `lax.scan` and the like.

    `init` and `step` keep nothing: a batch is only its state, an array of uint32, of some 900
    bytes a board. Copy it, save it as a NumPy array, step it twice: the same actions give the same
    games, those of the rung "cpp". A state that is not used again (in the carry of a scan, or
    donated to `jit`) is stepped in place; any other is copied first.

    They run on the CPU, on one thread, are compiled by g++ at first use, and don't support `vmap`.
    Without `jax_enable_x64`, JAX cuts NumPy's integers that `jit` is called with to 32 bits before
    these functions have them; called directly, they check all bits.

    Args:
        num_envs: N.
        mask: "list" or "bits", see `rungs.make`.
        opponent: None or "random", see `rungs.make`.
        autoreset_mode: SAME_STEP or NEXT_STEP, see `rungs.make`.
        max_plies: see `rungs.make`.

    Raises:
        ConfigurationError: a setting is wrong.
        UnavailableError: JAX is not installed (when this module is imported), or there is no g++.
        CompilerError: g++ rejects the sources.
    """

    def __init__(
        self,
        num_envs: int,
        *,
        mask: Literal["list", "bits"] = "list",
        opponent: Literal["random"] | None = None,
        autoreset_mode: AutoresetMode | str = AutoresetMode.SAME_STEP,
        max_plies: int | None = None,
    ):
        self._arguments: dict[str, Any] = {
            "num_envs": num_envs,
            "mask": mask,
            "opponent": opponent,
            "autoreset_mode": autoreset_mode,
            "max_plies": max_plies,
        }
        self.num_envs = count = integer("num_envs", num_envs, 1, 2**31 - 1)
        mode = checked_mode(autoreset_mode)
        if mode == AutoresetMode.DISABLED:
            raise ConfigurationError("autoreset_mode=DISABLED: JAX has SAME_STEP or NEXT_STEP")
        self._settings = {
            "opponent": choice("opponent", opponent, (None, "random")) or "none",
            "mask": choice("mask", mask, ("list", "bits")),
            "autoreset": mode.name,
            "max_plies": np.int64(
                0 if max_plies is None else integer("max_plies", max_plies, 1, MAX_PLIES)
            ),
        }
        listed = mask == "list"
        shapes: dict[str, tuple[tuple[int, ...], DTypeLike]] = {
            "observation": ((count, 72), jnp.int8),
            "mask": ((count, MAX_LEGAL), jnp.int16) if listed else ((count, 146), jnp.uint32),
            "action_count": ((count if listed else 0,), jnp.int16),
            "player": ((count,), jnp.int8),
            "reward": ((count,), jnp.float32),
            "terminated": ((count,), jnp.bool_),
            "truncated": ((count,), jnp.bool_),
            "reason": ((count,), jnp.int8),
            "final_observation": ((count, 72), jnp.int8),
        }
        words = _block_bytes() // 4
        self._state = jax.ShapeDtypeStruct((-(-count // 8), words), jnp.uint32)
        results = (self._state, *(jax.ShapeDtypeStruct(*shapes[name]) for name in Outputs._fields))
        self._init = jax.ffi.ffi_call("rungs_chess_init", results)
        self._step = jax.ffi.ffi_call("rungs_chess_step", results, input_output_aliases={0: 0})

    def init(self, seed: int | Sequence[int] | np.ndarray | Array) -> tuple[Array, Outputs]:
        """Begins episode 0 on every board; returns the state and outputs, of which flags are zeros.

        Args:
            seed: as for the environment's `reset`; or a JAX array of integers, () or (N,). Where
                that is traced, a negative seed raises an XLA error as an illegal action does.

        Raises:
            ConfigurationError: `seed` is not a seed, or not N of them.
        """
        if not isinstance(seed, jax.core.Tracer):
            values = np.asarray(seed) if isinstance(seed, Array) and _is_integer(seed) else seed
            checked = np.asarray(seeds("seed", values, self.num_envs), np.uint64)
            words: list[Any] = [
                (checked >> np.uint64(shift)).astype(np.uint32) for shift in (0, 32)
            ]
            negative: Array | np.ndarray = np.zeros_like(words[0])
        elif seed.shape in ((), (self.num_envs,)) and _is_integer(seed):
            wide = seed.dtype.itemsize == 8
            words = [seed.astype(jnp.uint32), (seed >> 32 if wide else 0 * seed).astype(jnp.uint32)]
            negative = (seed < 0).astype(jnp.uint32)
        else:
            raise ConfigurationError(f"seed is {seed.dtype} of shape {seed.shape}, not a seed")
        return self._returned(self._init(jnp.stack([*words, negative], -1), **self._settings))

    def step(self, state: Array, actions: Array) -> tuple[Array, Outputs]:
        """Takes one action in every environment; returns the state and outputs.

        An illegal action raises an XLA error, INVALID_ARGUMENT (`jax.errors.JaxRuntimeError`),
        that names board, action and position. It is raised where the program's results are
        awaited; that program has no results, and a state that was not donated is unchanged.

        Args:
            state: what `init` or `step` returned, directly or by way of NumPy or a file. Its shape
                and dtype are checked; its content is trusted.
            actions: (N,) integers; in a JAX array of at most 32 bits.

        Raises:
            ConfigurationError: a wrong shape or dtype, or an action beyond 32 bits.
        """
        # Checked before JAX has them, which cuts what is wider than its arrays.
        if not isinstance(state, Array):
            state = as_array("state", state)
        if (state.shape, state.dtype) != (self._state.shape, self._state.dtype):
            raise ConfigurationError(
                f"state is {state.dtype} of shape {state.shape}, not uint32 of {self._state.shape}"
            )
        if not isinstance(actions, Array):
            actions = _int32(checked_actions(actions, (self.num_envs,)))
        narrow = _is_integer(actions) and jnp.can_cast(actions.dtype, jnp.int32)
        if actions.shape != (self.num_envs,) or not narrow:
            raise ConfigurationError(
                f"actions are {actions.dtype} of shape {actions.shape}, not integers of at most 32 "
                f"bits of shape ({self.num_envs},)"
            )
        int32_actions = jnp.asarray(actions, jnp.int32)
        return self._returned(self._step(jnp.asarray(state), int32_actions, **self._settings))

    def __reduce__(self) -> tuple:
        return functools.partial(ChessFunctions, **self._arguments), ()

    def _returned(self, results: Sequence[Array]) -> tuple[Array, Outputs]:
        state, *rest = results
        outputs = Outputs(*rest)
        if self._settings["mask"] != "list":
            outputs = outputs._replace(action_count=None)
        return state, outputs


def random_actions(key: Array, outputs: Outputs) -> Array:
    """Chooses a legal action on every board, all equally likely, (N,) int32.

    Args:
        key: a random key of JAX.
        outputs: of a batch with `mask="list"`.

    Raises:
        ConfigurationError: masks are not lists, or `outputs` is something else.
    """
    if not isinstance(outputs, Outputs):
        raise ConfigurationError(f"outputs={shown(outputs)} are none of ChessFunctions")
    if outputs.action_count is None:
        raise ConfigurationError('random_actions needs mask="list", not mask="bits"')
    counts = outputs.action_count.astype(jnp.int32)
    ranks = jax.random.randint(key, counts.shape, 0, counts)
    return jnp.take_along_axis(outputs.mask, ranks[:, None], axis=1)[:, 0].astype(jnp.int32)


def _is_integer(array: Array) -> bool:
    return jnp.issubdtype(array.dtype, jnp.integer)


def _int32(actions: np.ndarray) -> np.ndarray:
    narrow = actions.astype(np.int32)
    for board in np.flatnonzero(narrow != actions):
        raise ConfigurationError(f"actions[{board}]={actions[board]} is beyond 32 bits")
    return narrow


@functools.cache
def _block_bytes() -> int:
    """Compiles the functions, registers them with JAX, and returns the bytes of eight boards."""
    if not gpp.is_here():
        raise UnavailableError("g++ is not installed, which compiles what JAX calls: install it")
    source = paths.CPP / "bindings" / "jax.cpp"
    flags = [*_FLAGS.split(), f"-isystem{jax.ffi.include_dir()}"]
    library = ctypes.CDLL(str(gpp.build(f"jax-{jax.__version__}", source, flags)))
    for name in ("init", "step"):
        handler = jax.ffi.pycapsule(getattr(library, f"rungs_jax_{name}"))
        jax.ffi.register_ffi_target(f"rungs_chess_{name}", handler, platform="cpu")
    library.rungs_jax_block_bytes.restype = ctypes.c_int64
    return int(library.rungs_jax_block_bytes())
