"""Models for problems: the paper's nine methods by name, and any constraint on any problem."""

import re
from functools import partial

import torch

from neumann_pinn.model.constraints import CONSTRAINTS, Constraint, NoConstraint
from neumann_pinn.model.model import (
    Coupled,
    Factored,
    Field,
    Lifted,
    Model,
    NetworkModel,
    Sum,
    UnknownDiffusivity,
)
from neumann_pinn.problems.points import on_wall
from neumann_pinn.problems.problem import Problem
from neumann_pinn.walls.axes import SIDES, Axis, free_factor
from neumann_pinn.walls.conditions import Free
from neumann_pinn.walls.embeddings import Cosine, Embedding, Fourier, Identity
from neumann_pinn.walls.layers import WallLift, along, data_at, found_at, moved_to_wall, started

METHODS = (
    "vanilla",
    "vanilla_fourier20",
    "vanilla_fourier50",
    "existing",
    "existing_fourier20",
    "existing_fourier50",
    "cosine1",
    "cosine20",
    "cosine50",
)
STD = 20.0
"""The standard deviation of the random frequencies."""
CHECKED_POINTS = 20
"""Points at each wall where data are checked for being compatible."""
SMALL_MISS = 1e-10
"""By how much compatible data may be missed there, relative to their size."""

_NAME = re.compile(r"(vanilla|existing)(?:_fourier(\d+))?|cosine(\d+)")
_DRAWS = {"vanilla": 0, "existing": 1, "cosine": 2}


def method(name: str, width: int = 100, depth: int = 3) -> NetworkModel:
    """The method of that name, with any embedding size.

    Its frequencies are drawn here, always the same; the study's are in its configuration.
    """
    match = _NAME.fullmatch(name)
    if match is None:
        raise ValueError(
            f"method {name!r}: give vanilla or existing, with _fourierN or without, or cosineN"
        )
    base, fourier, cosine = match.groups()
    if cosine is not None:
        cosines = Cosine.sample(int(cosine), STD, _DRAWS["cosine"])
        return NetworkModel(CONSTRAINTS["cosine_embedding"], (cosines,), width, depth)
    constraint = CONSTRAINTS["none" if base == "vanilla" else "output_transform"]
    embedding: Embedding = Identity()
    if fourier is not None:
        embedding = Fourier.sample(int(fourier), STD, _DRAWS[base])
    return NetworkModel(constraint, (embedding,), width, depth)


def make_model(
    problem: Problem,
    constraint: Constraint,
    embedding: Embedding,
    width: int = 100,
    depth: int = 3,
    free_term: bool = False,
) -> Model:
    """A model of a problem: a network with its walls, and whatever else the problem asks for.

    Every axis has the same embedding, and every unknown a network of its own. `free_term` adds a
    second network, of the coordinates themselves, that does not change the held walls.
    """
    fields = [
        _field(unknown, constraint, embedding, width, depth, free_term)
        for unknown in problem.fields
    ]
    return fields[0] if len(fields) == 1 else Coupled(tuple(fields))


def are_compatible(problem: Problem, held: list[Axis]) -> bool:
    """Whether the cheap lift of the axes is exact at all their walls."""
    walls = WallLift(held, compatible=True)
    if walls.plain_sum or len(walls.held) < 2:
        return True
    every = torch.cat([on_wall(problem, (0, side), CHECKED_POINTS) for side in SIDES])
    for i, axis in enumerate(held):
        for side in axis.held:
            points = moved_to_wall(every, i, axis, side)
            for prescribed in axis.at(side).prescribed:
                data = data_at(prescribed.data, points)
                missed = found_at(prescribed, walls.lift, points, along(points, i, axis)) - data
                if not missed.norm() <= SMALL_MISS * (1 + data.norm()):
                    return False
    return True


def _field(
    problem: Problem,
    constraint: Constraint,
    embedding: Embedding,
    width: int,
    depth: int,
    free_term: bool,
) -> Field:
    """A model of one unknown."""
    embeddings = tuple(constraint.embedding_of(embedding, axis) for axis in problem.axes)
    network = NetworkModel(
        constraint, embeddings, width, depth, axes=problem.axes, order=problem.order
    )
    model: Field = network
    held = _held(problem, constraint)
    walls = WallLift(held, are_compatible(problem, held))
    if walls.has_factor:
        model = Factored(model, walls.factor)
    if not walls.is_homogeneous:
        model = Lifted(model, walls.lift)
    if free_term:
        plain = NetworkModel(
            NoConstraint(),
            (Identity(),) * len(problem.axes),
            width,
            depth,
            axes=problem.axes,
            order=problem.order,
        )
        model = Sum(model, Factored(plain, partial(free_factor, held)))
    return UnknownDiffusivity(model) if problem.samples else model


def _held(problem: Problem, constraint: Constraint) -> list[Axis]:
    """The axes with what a constraint holds at their walls, and that of time if it holds values."""
    if constraint.holds_values:
        known = not (problem.steady or problem.samples)
        start = (problem.start, problem.rate) if known else (None, None)
        return [*problem.axes, *started(*start)]
    if constraint.holds_slopes:
        return [axis.slopes_only() for axis in problem.axes]
    return [Axis(axis.low, axis.high, Free(), Free()) for axis in problem.axes]
