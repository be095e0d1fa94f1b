"""Models for problems: the paper's nine methods by name, and any constraint on any problem."""

import re
from functools import partial

from neumann_pinn.model.constraints import CONSTRAINTS, Constraint, NoConstraint
from neumann_pinn.model.model import (
    Factored,
    Lifted,
    Model,
    NetworkModel,
    Sum,
    UnknownDiffusivity,
)
from neumann_pinn.problems.problem import Problem
from neumann_pinn.walls.axes import free_factor
from neumann_pinn.walls.embeddings import Cosine, Embedding, Fourier, Identity
from neumann_pinn.walls.layers import RobinLift

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

    Every axis has the same embedding. `free_term` adds a second network, of the coordinates
    themselves, that does not change the held walls.
    """
    embeddings = tuple(constraint.embedding_of(embedding, axis) for axis in problem.axes)
    network = NetworkModel(
        constraint, embeddings, width, depth, axes=problem.axes, steady=problem.steady
    )
    model: Model = network
    walls = RobinLift(problem.axes, problem.fluxes, problem.coefficients or None)
    if constraint.holds and walls.is_robin:
        model = Factored(model, walls.factor)
    if constraint.holds and not walls.is_insulated:
        model = Lifted(model, walls.lift)
    if free_term:
        plain = NetworkModel(
            NoConstraint(),
            (Identity(),) * len(problem.axes),
            width,
            depth,
            axes=problem.axes,
            steady=problem.steady,
        )
        model = Sum(model, Factored(plain, partial(free_factor, problem.axes)))
    return UnknownDiffusivity(model) if problem.samples else model
