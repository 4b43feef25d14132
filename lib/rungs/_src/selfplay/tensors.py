"""Whether tensors that a file holds are numbers that can be computed with."""

from collections.abc import Mapping

import torch


def flaw(tensors: Mapping[object, torch.Tensor], name: str) -> str:
    """Says what keeps tensors from being computed with.

    Args:
        tensors: by their names.
        name: what all of them are called.

    Returns:
        A few words that name the tensor, or "" where nothing does.
    """
    for key, each in tensors.items():
        told = f"{name}[{key!r}]"
        if not isinstance(key, str):
            return f"{told} is named by no text"
        if each.layout != torch.strided or each.is_quantized or each.is_complex():
            return f"{told} is not an array of real numbers"
        if each.numel() * each.element_size() > each.untyped_storage().nbytes():
            return f"{told} claims more numbers than there are"
        if not bool(each.isfinite().all()):
            return f"{told} is not finite"
    return ""
