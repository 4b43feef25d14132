"""From packed bits to what a network reads, for NumPy arrays and for PyTorch tensors on any device.

Packed, a mask is an eighth and a stack of planes a thirty-second of the memory to write and to send
to a GPU: unpack them there.
"""

import numpy as np

from rungs.chess.actions import NUM_ACTIONS, NUM_PLANES
from rungs.chess.observation import NUMBER_PLANES, PLANE_NAMES
from rungs.errors import ConfigurationError


def unpack_mask(words):
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
    return bits.view(np.bool_) if isinstance(words, np.ndarray) else bits.bool()


def unpack_planes(words):
    """Returns the observation of `obs="bitplanes"` as `obs="planes"` gives it.

    Args:
        words: (..., 119) uint64, an array or a tensor; a tensor may be int64, the same bits.

    Returns:
        (..., 119, 8, 8) float32, of the same kind and on the same device.

    Raises:
        ConfigurationError: `words` has another shape or dtype.
    """
    _check("planes", words, len(PLANE_NAMES))
    bits = _bits(words).reshape(*words.shape, 8, 8)
    planes = bits.astype(np.float32) if isinstance(words, np.ndarray) else bits.float()
    for plane in NUMBER_PLANES:
        # Small numbers: their low 16 bits are all there is, as two bytes of any kind of tensor.
        low, high = _bytes(words)[..., 8 * plane], _bytes(words)[..., 8 * plane + 1]
        planes[..., plane, :, :] = (low * 1.0 + high * 256.0)[..., None, None]
    return planes


def _check(what: str, words, last: int) -> None:
    integers = ("uint64",) if isinstance(words, np.ndarray) else ("torch.uint64", "torch.int64")
    dtype = getattr(words, "dtype", None)
    if str(dtype) not in integers:
        raise ConfigurationError(
            f"{what} of words is of type {type(words).__name__} and dtype {dtype}, "
            "not an array or a tensor of uint64"
        )
    if words.ndim < 1 or words.shape[-1] != last:
        raise ConfigurationError(
            f"{what} of words has shape {tuple(words.shape)}, not (..., {last})"
        )


def _bytes(words):
    """Returns (..., n) words as (..., 8 n) bytes."""
    if isinstance(words, np.ndarray):
        return np.ascontiguousarray(words).view(np.uint8)
    import torch

    return words.contiguous().view(torch.uint8)


def _bits(words):
    """Returns every bit as a byte of 0 or 1, lowest first, as a last axis of 8 behind the bytes."""
    octets = _bytes(words)
    if isinstance(words, np.ndarray):
        return np.unpackbits(octets, axis=-1, bitorder="little")
    import torch

    return octets[..., None] >> torch.arange(8, dtype=torch.uint8, device=words.device) & 1
