"""The points that a model trains on, as batches of constants."""

import math

import torch

from neumann_pinn.model.model import Model
from neumann_pinn.problems.points import Counts, Points, make_points
from neumann_pinn.problems.problem import Problem
from neumann_pinn.training.loss import Batch
from neumann_pinn.training.protocol import Protocol
from neumann_pinn.walls.conditions import Prescribed
from neumann_pinn.walls.layers import data_at

POINTS_OF_A_TIME = 16
"""Points inside that share a time with Gauss-Newton, so that walls are needed at fewer times."""


def points_of(problem: Problem, protocol: Protocol, shift: int | None = None) -> Points:
    """The points of a problem for a protocol; a positive shift is the number of a step.

    They are the same for all methods, although the shared times of Gauss-Newton help only the
    existing constraint.
    """
    share = protocol.share(shift or 0)
    counts = (protocol.domain, protocol.initial, protocol.boundary)
    return make_points(
        problem,
        Counts(*(math.ceil(share * count) for count in counts)),
        shift=shift,
        sharing=POINTS_OF_A_TIME if protocol.optimizer == "gauss_newton" else 1,
        grading=protocol.grading,
    )


def make_batch(problem: Problem, model: Model, points: Points) -> Batch:
    """The constants at all points of a problem, in float64.

    Values are known at the start, at walls, or where there are samples; slopes are known at walls,
    and rates at the start. What the model holds is left out.
    """
    held = model.held_by
    known = []
    if not held.holds_values:
        known = [(points.start, problem.start(points.start))] * (not problem.samples) + [
            (points.walls[wall], data_at(value.data, points.walls[wall]))
            for wall, value in problem.prescribed("value")
        ]
    if problem.samples:
        known.append(problem.noisy_samples())
    slopes = [] if held.holds_slopes else problem.prescribed("slope")
    walls = [(i, slope, points.walls[i, side]) for (i, side), slope in slopes]
    if problem.rate and not held.holds_values:
        walls.append((len(problem.axes), Prescribed("slope", problem.rate), points.start))

    groups = [points.inside, *(group for group, _ in known), *(group for *_, group in walls)]
    every = torch.cat(groups)
    shares = torch.zeros(3, len(every), dtype=torch.float64)
    value, coefficient, flux = torch.zeros(3, 1, len(every), dtype=torch.float64)
    directions = len(problem.axes) + (problem.order == 2)
    normals = torch.zeros(directions, len(every), dtype=torch.float64)
    shares[0] = 1 / len(every)
    start = len(points.inside)
    for group, values in known:
        place = slice(start, start := start + len(group))
        shares[1, place] = 1 / max(len(group), 1)
        value[0, place] = values
    on_walls = sum(len(group) for *_, group in walls)
    for direction, slope, group in walls:
        place = slice(start, start := start + len(group))
        shares[2, place] = 1 / on_walls
        normals[direction, place] = 1
        coefficient[0, place] = data_at(slope.coefficient, group)
        flux[0, place] = data_at(slope.data, group)
    source = problem.source(every)
    return Batch(
        model.inputs(every, problem.known_diffusivity, problem.velocity),
        shares,
        value,
        normals,
        coefficient if coefficient.any() else (),
        flux if flux.any() else (),
        () if source is None else source[None],
    )
