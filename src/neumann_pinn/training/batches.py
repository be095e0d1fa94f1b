"""The points that a model trains on, as batches of constants."""

import math

import torch

from neumann_pinn.model.model import Model
from neumann_pinn.problems.points import Counts, Points, make_points
from neumann_pinn.problems.problem import Problem
from neumann_pinn.training.loss import Batch
from neumann_pinn.training.protocol import Protocol

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

    Values are known at the start and at the walls that are not held, or where there are samples.
    The other walls are left out if the model holds them.
    """
    known = [(points.walls[wall], problem.exact) for wall in problem.free_walls]
    if problem.samples:
        samples, noisy = problem.noisy_samples()
        known.append((samples, lambda _: noisy))
    else:
        known.insert(0, (points.start, problem.start))
    in_loss = [] if model.holds_walls else problem.walls
    walls = [(wall, points.walls[wall]) for wall in in_loss]

    groups = [points.inside, *(group for group, _ in known), *(group for _, group in walls)]
    every = torch.cat(groups)
    shares = torch.zeros(3, len(every), dtype=torch.float64)
    value, coefficient, flux = torch.zeros(3, 1, len(every), dtype=torch.float64)
    normals = torch.zeros(len(problem.axes), len(every), dtype=torch.float64)
    shares[0] = 1 / len(every)
    start = len(points.inside)
    for group, function in known:
        place = slice(start, start := start + len(group))
        shares[1, place] = 1 / max(len(group), 1)
        value[0, place] = function(group)
    on_walls = sum(len(group) for _, group in walls)
    for wall, group in walls:
        place = slice(start, start := start + len(group))
        shares[2, place] = 1 / on_walls
        normals[wall[0], place] = 1
        coefficient[0, place], flux[0, place] = problem.condition(wall, group)
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
