"""The points that a model trains on, as batches of constants."""

import math
from typing import NamedTuple

import torch
from torch import Tensor

from neumann_pinn.model.constraints import Constraint
from neumann_pinn.model.model import Inputs, Model
from neumann_pinn.problems.points import Counts, Points, make_points
from neumann_pinn.problems.problem import Problem
from neumann_pinn.training.loss import Batch, FieldBatch
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


class Group(NamedTuple):
    """Points at which a value, or a slope in some direction, is prescribed."""

    name: str
    points: Tensor
    prescribed: Prescribed
    direction: int = 0


def make_batch(problem: Problem, model: Model, points: Points) -> Batch:
    """The constants at all points of a problem, in float64; unknowns share their points."""
    known = [_known(field, model.held_by, points) for field in problem.fields]
    groups = {"inside": points.inside}
    for parts in known:
        groups |= {group.name: group.points for group in parts}
    places, start = {}, 0
    for name, group in groups.items():
        places[name] = slice(start, start := start + len(group))
    every = torch.cat(list(groups.values()))
    source = problem.source(every)
    fields = []
    for k, (field, of_field) in enumerate(zip(problem.fields, model.fields, strict=True)):
        inputs = of_field.inputs(every, field.known_diffusivity, field.velocity)
        batch = _field_batch(field, inputs, known[k], places, len(every))
        fields.append(batch if source is None else batch._replace(source=source[k : k + 1]))
    return Batch(tuple(fields))


def _known(problem: Problem, held: Constraint, points: Points) -> list[Group]:
    """What is known of an unknown and not held by its model.

    Values are known at the start, at walls, or where there are samples; slopes are known at walls,
    and rates at the start.
    """
    groups = []
    if not (held.holds_values or problem.samples or problem.steady):
        groups.append(Group("start", points.start, Prescribed("value", problem.start)))
    if not held.holds_values:
        for wall, value in problem.prescribed("value"):
            groups.append(Group(f"value at {wall}", points.walls[wall], value))
    if problem.samples:
        places, values = problem.noisy_samples()
        groups.append(Group("samples", places, Prescribed("value", lambda _: values)))
    if not held.holds_slopes:
        for wall, slope in problem.prescribed("slope"):
            groups.append(Group(f"slope at {wall}", points.walls[wall], slope, wall[0]))
    if problem.rate and not held.holds_values:
        rate = Prescribed("slope", problem.rate)
        groups.append(Group("rate", points.start, rate, len(problem.axes)))
    return groups


def _field_batch(
    problem: Problem, inputs: Inputs, groups: list[Group], places: dict[str, slice], size: int
) -> FieldBatch:
    """The shares and the data of one unknown; its equation holds at all points."""
    shares = torch.zeros(3, size, dtype=torch.float64)
    value, coefficient, flux = torch.zeros(3, 1, size, dtype=torch.float64)
    directions = len(problem.axes) + (problem.order == 2)
    normals = torch.zeros(directions, size, dtype=torch.float64)
    shares[0] = 1 / size
    on_walls = sum(len(group.points) for group in groups if group.prescribed.what == "slope")
    for name, points, prescribed, direction in groups:
        place, data = places[name], data_at(prescribed.data, points)
        if prescribed.what == "value":
            shares[1, place] = 1 / len(points)
            value[0, place] = data
        else:
            shares[2, place] = 1 / on_walls
            normals[direction, place] = 1
            coefficient[0, place] = data_at(prescribed.coefficient, points)
            flux[0, place] = data
    return FieldBatch(
        inputs,
        shares,
        value,
        normals,
        coefficient if coefficient.any() else (),
        flux if flux.any() else (),
    )
