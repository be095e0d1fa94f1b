"""The network: its shape, its initial weights, and the layers inside one flat parameter vector."""

import itertools
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor


class Layer(NamedTuple):
    """weight (outputs x inputs) and bias (outputs x 1)."""

    weight: Tensor
    bias: Tensor


@dataclass(frozen=True)
class Network:
    """inputs -> depth x width -> 1, fully connected.

    All parameters live in one flat vector theta, so that the optimizer, checkpoints and gradient
    sums handle a single tensor.
    """

    inputs: int
    width: int = 100
    depth: int = 3

    @property
    def shapes(self) -> list[tuple[int, int]]:
        """(outputs, inputs) of each layer."""
        sizes = [self.inputs, *[self.width] * self.depth, 1]
        return [(after, before) for before, after in itertools.pairwise(sizes)]

    @property
    def parameters(self) -> int:
        """The length of theta."""
        return sum(rows * columns + rows for rows, columns in self.shapes)

    def layers(self, theta: Tensor) -> list[Layer]:
        """The layers as views of theta."""
        sizes = [size for rows, columns in self.shapes for size in (rows * columns, rows)]
        parts = iter(theta.split(sizes))
        return [Layer(next(parts).view(shape), next(parts)[:, None]) for shape in self.shapes]

    def initial(self, seed: int) -> Tensor:
        """Glorot-normal weights and zero biases, drawn in float64."""
        generator = torch.Generator().manual_seed(seed)
        theta = torch.zeros(self.parameters, dtype=torch.float64)
        for layer in self.layers(theta):
            torch.nn.init.xavier_normal_(layer.weight, generator=generator)
        return theta


def read_out(last: Layer, stream: Tensor) -> Tensor:
    """The output layer applied to a stream, without its bias."""
    return (last.weight.T * stream).sum(0)
