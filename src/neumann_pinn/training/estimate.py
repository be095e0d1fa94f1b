"""The expected cost of an iteration, before anything is measured."""

import time
from statistics import median

import torch

from neumann_pinn.model.model import Model
from neumann_pinn.training import gauss_newton
from neumann_pinn.training.batches import points_of
from neumann_pinn.training.engine import BLOCK_COLUMNS, Machine
from neumann_pinn.training.protocol import Protocol
from neumann_pinn.walls.embeddings import Identity

OVERHEAD = {"adam": 1.5, "gauss_newton": 3.0}
"""The time of an iteration relative to that of its matrix products, by optimizer."""


def required_products(model: Model, points: int) -> float:
    """Floating-point operations of the matrix products that one iteration cannot do without.

    For each hidden layer the forward product and the gradients of its inputs and weights; for the
    embedded inputs, which vary in the three interior streams, no gradient of inputs; the output.
    """
    hidden = 3 * (model.depth - 1) * model.streams * 2 * model.width**2
    features = sum(e.size for e in model.embeddings if not isinstance(e, Identity))
    embedded = 2 * 3 * 2 * model.width * features
    output = 3 * model.streams * 2 * model.width
    return points * (hidden + embedded + output)


def rough_cost(model: Model, protocol: Protocol) -> float:
    """Milliseconds per iteration: its matrix products on one core, times an overhead."""
    matrix = torch.rand(model.width, BLOCK_COLUMNS, dtype=protocol.dtype)
    weight = torch.rand(model.width, model.width, dtype=protocol.dtype)
    seconds = []
    with Machine.choose("cpu").prepared():
        for _ in range(30):
            start = time.perf_counter()
            weight @ matrix
            seconds.append(time.perf_counter() - start)
    rate = 2 * weight.numel() * BLOCK_COLUMNS / median(seconds)
    points = points_of(model, protocol)
    if protocol.optimizer == "gauss_newton":
        rows, times = len(points) + points.initial + points.boundary, len(points.t.unique())
        operations = gauss_newton.required_products(model, rows, times)
    else:
        operations = required_products(model, len(points))
    return 1e3 * OVERHEAD[protocol.optimizer] * operations / rate
