"""The file of a reference solution."""

from pathlib import Path

import torch

from neumann_pinn.files import read_arrays, write_arrays
from neumann_pinn.problems.problem import Reference


def write_reference(path: Path, reference: Reference) -> None:
    """Write a reference solution as NPZ, whole or not at all."""
    write_arrays(path, {name: tensor.numpy() for name, tensor in reference._asdict().items()})


def read_reference(path: Path) -> Reference:
    """Read it back; errors name the file."""
    arrays = read_arrays(path, Reference._fields, "a reference solution")
    return Reference(**{name: torch.from_numpy(array) for name, array in arrays.items()})
