"""The expected cost of an iteration, before anything is measured."""

import time
from statistics import median

import torch

from neumann_pinn.model.model import Model
from neumann_pinn.problems.problem import Problem
from neumann_pinn.training.batches import make_batch, points_of
from neumann_pinn.training.engine import BLOCK_COLUMNS, Machine
from neumann_pinn.training.protocol import Protocol
from neumann_pinn.walls.embeddings import Identity

OVERHEAD = {"adam": 1.5, "gauss_newton": 6.0}
"""The time of an iteration relative to that of its matrix products, by optimizer."""


def required_products(problem: Problem, model: Model, protocol: Protocol) -> float:
    """Floating-point operations of the matrix products that one iteration cannot do without."""
    points = points_of(problem, protocol)
    batch = make_batch(problem, model, points)
    if protocol.optimizer == "adam":
        return _of_adam(model, batch.size)
    rows = [[int((share > 0).sum()) for share in field.shares] for field in batch.fields]
    times = 1 if problem.steady else len(torch.cat((points.inside, points.start))[:, -1].unique())
    return _of_gauss_newton(model, rows, times)


def rough_cost(problem: Problem, model: Model, protocol: Protocol) -> float:
    """Milliseconds per iteration: its matrix products on one core, times an overhead."""
    width = model.parts[0].width
    matrix = torch.rand(width, BLOCK_COLUMNS, dtype=protocol.dtype)
    weight = torch.rand(width, width, dtype=protocol.dtype)
    seconds = []
    with Machine.choose("cpu").prepared():
        for _ in range(30):
            start = time.perf_counter()
            weight @ matrix
            seconds.append(time.perf_counter() - start)
    rate = 2 * weight.numel() * BLOCK_COLUMNS / median(seconds)
    operations = required_products(problem, model, protocol.typical())
    return 1e3 * OVERHEAD[protocol.optimizer] * operations / rate


def _of_adam(model: Model, points: int) -> float:
    """An iteration of Adam.

    For each hidden layer the forward product and the gradients of its inputs and weights; for the
    embedded inputs, which vary in the interior streams, no gradient of inputs; the output.
    """
    total = 0
    for part in model.parts:
        own = 2 + len(part.axes) + (part.order == 2)
        streams = own + 4 * len(part.constraint.corrected(part.axes))
        hidden = 3 * (part.depth - 1) * streams * 2 * part.width**2
        features = sum(e.size for e in part.embeddings if not isinstance(e, Identity))
        total += hidden + 2 * own * 2 * part.width * features + 3 * streams * 2 * part.width
    return points * total


def _of_gauss_newton(model: Model, rows: list[list[int]], times: int) -> float:
    """A step of Gauss-Newton with one trial: its kernel, its passes and its factorisation.

    `rows` counts those of equation, values and walls for each unknown, `times` the distinct times.
    The equations of all unknowns depend on the value of each.
    """
    every, total = sum(map(sum, rows)), 0.0
    for field, (equation, values, walls) in zip(model.fields, rows, strict=True):
        of_others = sum(other[0] for other in rows) - equation
        mine = equation + values + walls + of_others
        for part in field.parts:
            own = 2 + len(part.axes) + (part.order == 2)
            numbers = times * len(part.constraint.corrected(part.axes))
            stacked = own * equation + values + 2 * walls + of_others + (2 + 4) * numbers
            for outputs, inputs in part.network.shapes:
                by_pairs = (outputs + inputs) * stacked**2
                dense = outputs * inputs * (mine + 2 * numbers) ** 2
                total += min(by_pairs, dense)
            total += 10 * part.network.parameters * (own * equation + 4 * numbers)
    return total + every**3 / 3
