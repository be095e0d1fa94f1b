"""The points that a model trains on, as batches: for the study's heat problems, and for boxes."""

import torch
from torch import Tensor

from neumann_pinn.model.model import Model
from neumann_pinn.model.streams import Inputs
from neumann_pinn.problems.box import TRAINING, Problem
from neumann_pinn.problems.heat import Heat
from neumann_pinn.problems.points import Points, graded, hammersley, sharing_times, shifted
from neumann_pinn.training.loss import Batch
from neumann_pinn.training.protocol import Protocol

POINTS_OF_A_TIME = 8
"""Domain points that share a time with Gauss-Newton, so that walls are needed at fewer times."""


def points_of(model: Model, protocol: Protocol, shift: int | None = None) -> Points:
    """The points that a model trains on, shifted if the number of a shift is given.

    There are none on walls that a hard constraint holds. All methods have the same domain and
    initial points, although the shared times of Gauss-Newton help only the existing constraint.
    """
    boundary = protocol.boundary if model.constraint == "none" else 0
    points = hammersley(protocol.domain, protocol.initial, boundary)
    if protocol.optimizer == "gauss_newton":
        points = sharing_times(points, POINTS_OF_A_TIME)
    if shift is not None:
        points = shifted(points, shift)
    return graded(points, protocol.grading)


def heat_batch(model: Model, problem: Heat, points: Points) -> Batch:
    """The constants at all points of a heat problem, in float64."""
    n = len(points)
    initial = slice(points.domain, points.domain + points.initial)
    boundary = slice(points.domain + points.initial, n)
    shares = torch.zeros(3, n, dtype=torch.float64)
    shares[0] = 1 / n
    shares[1, initial] = 1 / max(points.initial, 1)
    shares[2, boundary] = 1 / max(points.boundary, 1)
    value = torch.zeros(1, n, dtype=torch.float64)
    value[0, initial] = problem.initial(points.x[initial])
    inputs = model.inputs(points.x, points.t, problem.diffusivity)
    return Batch(inputs, shares, value, torch.ones_like(value))


def box_batch(problem: Problem, model: Model, protocol: Protocol, number: int = TRAINING) -> Batch:
    """The points that a model trains on, in float64; a protocol's numbers are per axis.

    `number` picks the set of points inside.
    """
    axes = len(problem.axes)
    on_each_wall = _on_each_wall(protocol)
    inside = problem.inside(axes * protocol.domain, number)
    known = [(group, problem.exact(group)) for group in _known_points(problem, protocol)]
    if problem.samples:
        known.append(problem.noisy_samples())
    held = problem.walls if model.constraint == "none" else []
    walls = [(wall, problem.on_wall(wall, on_each_wall)) for wall in held]

    points = torch.cat([inside, *(group for group, _ in known), *(group for _, group in walls)])
    shares = torch.zeros(3, len(points), dtype=torch.float64)
    value, coefficient, flux = torch.zeros(3, 1, len(points), dtype=torch.float64)
    normals = torch.zeros(axes, len(points), dtype=torch.float64)
    shares[0] = 1 / len(points)
    start = len(inside)
    for group, values in known:
        place = slice(start, start := start + len(group))
        shares[1, place] = 1 / len(group)
        value[0, place] = values
    for wall, group in walls:
        place = slice(start, start := start + len(group))
        shares[2, place] = 1 / (len(walls) * on_each_wall)
        normals[wall[0], place] = 1
        coefficient[0, place], flux[0, place] = problem.condition(wall, group)
    source = problem.source(points)
    return Batch(
        inputs_at(problem, model, points),
        shares,
        value,
        normals,
        coefficient if coefficient.any() else (),
        flux if flux.any() else (),
        () if source is None else source[None],
    )


def inputs_at(problem: Problem, model: Model, points: Tensor) -> Inputs:
    """A model's constants at points of a problem."""
    axes = len(problem.axes)
    t = None if problem.steady else points[:, axes]
    return model.inputs(points[:, :axes], t, problem.known_diffusivity, problem.velocity)


def _on_each_wall(protocol: Protocol) -> int:
    """Points per wall: a protocol's boundary points are for the two walls of an axis."""
    return max(protocol.boundary // 2, 1)


def _known_points(problem: Problem, protocol: Protocol) -> list[Tensor]:
    """Where u itself is prescribed: at the start, and at the walls that are not held."""
    groups = [problem.on_wall(wall, _on_each_wall(protocol)) for wall in problem.free_walls]
    if not problem.steady and not problem.samples:
        groups.append(problem.at_start(len(problem.axes) * protocol.initial))
    return groups
