"""From packed bits or lists to what networks read, for arrays and for tensors on any device."""

import numpy as np

from rungs._src.chess.actions import NUM_ACTIONS, NUM_PLANES
from rungs._src.chess.observation import NUMBER_PLANES, PLANE_NAMES, dtypes_of
from rungs._src.core.arguments import choice
from rungs._src.core.batch_env import Array
from rungs.errors import ConfigurationError


def unpack_mask(words: Array) -> Array:
    """Returns the legal-action mask of `mask="bits"` as `mask="bool"` gives it.

    Args:
        words: (..., 73) uint64, an array or a tensor; a tensor may be int64, the same bits.

    Returns:
        (..., 4672) bool, of the same kind and on the same device.

    Raises:
        ConfigurationError: `words` has another shape or dtype.
    """
    _check("a mask", words, NUM_PLANES)
    bits = _bits(words).reshape(*words.shape[:-1], NUM_ACTIONS)
    if isinstance(words, np.ndarray):
        return bits.view(np.bool_)
    import torch

    return bits.view(torch.bool)


def unpack_list(actions: Array) -> Array:
    """Returns the legal-action mask of `mask="list"` as `mask="bool"` gives it.

    Args:
        actions: (..., K) int16, an array or a tensor: a row's actions, padded with -1. K is 218, or
            less where no row has that many.

    Returns:
        (..., 4672) bool, of the same kind and on the same device. The mask of an ended board, which
        with NEXT_STEP accepts any action, allows only the one that is listed.

    Raises:
        ConfigurationError: `actions` has another shape or dtype, or a number that is not an action;
            a GPU is not waited for, and raises its own error.
    """
    _check_list(actions)
    shape = (*actions.shape[:-1], NUM_ACTIONS + 1)  # the last stands for -1
    if isinstance(actions, np.ndarray):
        mask = np.zeros(shape, np.bool_)
        np.put_along_axis(mask, actions.astype(np.int64), True, axis=-1)
        return np.ascontiguousarray(mask[..., :NUM_ACTIONS])
    import torch

    allowed = torch.zeros(shape, dtype=torch.bool, device=actions.device)
    places = torch.where(actions < 0, NUM_ACTIONS, actions.long())
    return allowed.scatter_(-1, places, True)[..., :NUM_ACTIONS].contiguous()


def unpack_planes(words: Array, dtype: str = "float32") -> Array:
    """Returns the observation of `obs="bitplanes"` as `obs="planes"` gives it.

    Args:
        words: (..., 119) uint64, an array or a tensor; a tensor may be int64, the same bits.
        dtype: as for `rungs.make`: "float32", "uint8" or "bfloat16".

    Returns:
        (..., 119, 8, 8), of the same kind and on the same device. NumPy lacks bfloat16: an array
        holds its bits as uint16.

    Raises:
        ConfigurationError: `words` has another shape or dtype, or there is no such `dtype`.
    """
    _check("planes", words, len(PLANE_NAMES))
    choice("dtype", dtype, dtypes_of("planes"))
    planes = _cast(_bits(words).reshape(*words.shape, 8, 8), dtype)
    for plane in NUMBER_PLANES:
        # The numbers fit in 16 bits, read here as two bytes, for which any tensor has a dtype.
        low, high = _bytes(words)[..., 8 * plane], _bytes(words)[..., 8 * plane + 1]
        number = (low * 1.0 + high * 256.0)[..., None, None]
        planes[..., plane, :, :] = _cast(number, dtype)
    return planes


def _cast(numbers: Array, dtype: str) -> Array:
    """Returns numbers, 0 or more, as planes of a dtype show them."""
    if not isinstance(numbers, np.ndarray):
        import torch

        clamped = numbers.clamp(max=255) if dtype == "uint8" else numbers
        return clamped.to(getattr(torch, dtype))
    if dtype == "uint8":
        return np.minimum(numbers, 255).astype(np.uint8)
    floats = numbers.astype(np.float32)
    if dtype == "float32":
        return floats
    # The upper half of a float32, rounded to nearest, ties to even.
    bits = floats.view(np.uint32)
    return ((bits + (0x7FFF + (bits >> 16 & 1))) >> 16).astype(np.uint16)


def _check(label: str, words: Array, last: int) -> None:
    integers = ("uint64",) if isinstance(words, np.ndarray) else ("torch.uint64", "torch.int64")
    _check_dtype(f"{label} of words", words, integers)
    if words.ndim < 1 or words.shape[-1] != last:
        raise ConfigurationError(
            f"{label} of words has shape {tuple(words.shape)}, not (..., {last})"
        )


def _check_dtype(label: str, array: Array, dtypes: tuple[str, ...]) -> None:
    dtype = getattr(array, "dtype", None)
    if str(dtype) not in dtypes:
        expected = dtypes[0].removeprefix("torch.")
        raise ConfigurationError(
            f"{label} is of type {type(array).__name__} and dtype {dtype}, "
            f"not an array or a tensor of {expected}"
        )


def _check_list(actions: Array) -> None:
    _check_dtype("a list", actions, ("int16", "torch.int16"))
    if actions.ndim < 1:
        raise ConfigurationError("a list has shape (), not (..., 218)")
    # On a GPU the check would make the caller wait for it.
    in_memory = isinstance(actions, np.ndarray) or actions.device.type == "cpu"
    if in_memory and ((actions < -1) | (actions >= NUM_ACTIONS)).any():
        raise ConfigurationError("a list holds a number that is not an action")


def _bytes(words: Array) -> Array:
    """Returns (..., n) words as (..., 8 n) bytes."""
    if isinstance(words, np.ndarray):
        return np.ascontiguousarray(words).view(np.uint8)
    import torch

    return words.contiguous().view(torch.uint8)


def _bits(words: Array) -> Array:
    """Returns every bit as a byte of 0 or 1, lowest first, as a last axis of 8 behind the bytes."""
    octets = _bytes(words)
    if isinstance(words, np.ndarray):
        return np.unpackbits(octets, axis=-1, bitorder="little")
    import torch

    if octets.device.type == "cpu":  # NumPy does it in a fortieth of the time
        return torch.from_numpy(np.unpackbits(octets.numpy(), axis=-1, bitorder="little"))
    return octets[..., None] >> torch.arange(8, dtype=torch.uint8, device=words.device) & 1
