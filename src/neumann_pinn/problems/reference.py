"""A reference solution: the series solution of a heat problem on a grid, and its file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from neumann_pinn.files import read_arrays, write_arrays

if TYPE_CHECKING:
    from torch import Tensor


class Reference(NamedTuple):
    """Cosine coefficients, and the solution u (t x x) on a grid."""

    coefficients: Tensor
    x: Tensor
    t: Tensor
    u: Tensor

    def write(self, path: Path) -> None:
        """Write it as NPZ, whole or not at all."""
        write_arrays(path, {name: tensor.numpy() for name, tensor in self._asdict().items()})

    @classmethod
    def read(cls, path: Path) -> Reference:
        """Read it back; errors name the file."""
        import torch

        arrays = read_arrays(path, cls._fields, "a reference solution")
        return cls(**{name: torch.from_numpy(array) for name, array in arrays.items()})
