"""Batches as trees of tensors: named tuples whose last axis runs over the points."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor


def pad(tree: Any, columns: int, more: int) -> Any:
    """A tuple of tensors, with the last of their `columns` repeated `more` times at the end."""

    def padded(tensor: Tensor) -> Tensor:
        if tensor.shape[-1] != columns:
            return tensor
        return torch.cat((tensor, tensor[..., -1:].expand(*tensor.shape[:-1], more)), -1)

    return _mapped(padded, tree)


def select(tree: Any, columns: int, chosen: Tensor) -> Any:
    """A tuple of tensors with some of their columns, in another order or more than once."""

    def selected(tensor: Tensor) -> Tensor:
        return tensor[..., chosen] if tensor.shape[-1] == columns else tensor

    return _mapped(selected, tree)


def cut(tree: Any, columns: int, size: int) -> list[Any]:
    """A tuple of tensors, cut into blocks of `size` columns; a single column is shared by all."""
    if isinstance(tree, Tensor) and tree.shape[-1] == columns:
        return [part.contiguous() for part in tree.split(size, -1)]
    if isinstance(tree, Tensor) or not tree:
        return [tree] * (columns // size)
    parts = zip(*(cut(branch, columns, size) for branch in tree), strict=True)
    return [type(tree)(*part) if hasattr(tree, "_fields") else part for part in parts]


def cast(tree: Any, dtype: torch.dtype, device: torch.device) -> Any:
    """A tuple of tensors in another precision and on another device."""
    return _mapped(lambda tensor: tensor.to(device, dtype), tree)


def _mapped(function: Callable[[Tensor], Tensor], tree: Any) -> Any:
    if isinstance(tree, Tensor):
        return function(tree)
    parts = (_mapped(function, branch) for branch in tree)
    return type(tree)(*parts) if hasattr(tree, "_fields") else tuple(parts)
