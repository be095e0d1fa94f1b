"""Models of any problem rebuilt from the public layers: with nested autograd, their truth."""

from collections.abc import Iterator

import torch
from nested_autograd import derivative, perceptron
from torch import Tensor, nn

from neumann_pinn.model.methods import are_compatible
from neumann_pinn.model.model import Field, Model, NetworkModel, Sum, UnknownDiffusivity
from neumann_pinn.problems.points import on_wall
from neumann_pinn.problems.problem import Problem, Wall
from neumann_pinn.walls.axes import Axis
from neumann_pinn.walls.conditions import Free, Neumann, Prescribed
from neumann_pinn.walls.embeddings import Cosine, Waves
from neumann_pinn.walls.layers import (
    CosineEmbedding,
    FreeTerm,
    OutputTransform,
    WallLift,
    data_at,
    started,
)


class Perceptron(nn.Module):
    """A network whose weights are views of theta, so that gradients reach it."""

    def __init__(self, part: NetworkModel, theta: Tensor) -> None:
        super().__init__()
        self.part, self.theta = part, theta

    def forward(self, features: Tensor) -> Tensor:
        return perceptron(self.theta, self.part.width, self.part.depth, features)


class Assembled(nn.Module):
    """A model of one unknown as a module made of the layers: points -> u, as a column."""

    def __init__(self, problem: Problem, model: Field, theta: Tensor) -> None:
        super().__init__()
        self.diffusivity: Tensor | float = problem.diffusivity
        if isinstance(model, UnknownDiffusivity):
            self.diffusivity = problem.known_diffusivity * theta[0].exp()
            model, theta = model.inner, theta[1:]
        main, *others = model.parts
        size = main.network.parameters
        axes = [
            embedding if isinstance(embedding, Cosine | Waves) else Axis(*axis.ends, Free(), Free())
            for embedding, axis in zip(main.embeddings, problem.axes, strict=True)
        ]
        held = list(problem.axes)
        if main.constraint.name == "hard_walls":
            if not (problem.steady or problem.samples):
                held += started(problem.start, problem.rate)
        else:
            held = [axis.slopes_only() for axis in problem.axes]
        if main.constraint.name == "none":
            held = [Axis(*axis.ends, Free(), Free()) for axis in problem.axes]
        self.network: nn.Module = nn.Sequential(
            CosineEmbedding(axes), Perceptron(main, theta[:size])
        )
        if main.constraint.name == "output_transform":
            (axis,) = held
            walls = (Neumann() if wall.is_flat else Free() for wall in (axis.left, axis.right))
            self.network = OutputTransform(self.network, [Axis(*axis.ends, *walls)])
        self.walls = WallLift(held, are_compatible(problem, held))
        self.free = None
        if isinstance(model, Sum):
            (free,) = others
            self.free = FreeTerm(Perceptron(free, theta[size:]), held)

    def forward(self, points: Tensor) -> Tensor:
        u = self.walls(points, self.network(points))
        if self.free is not None:
            u = u + self.free(points)
        return u


def fields(
    problem: Problem, model: Model, theta: Tensor, points: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """u, its slopes and the residual without source, each with a first index for the unknown."""
    axes = len(problem.axes)
    points = points.clone().requires_grad_()
    found = []
    for unknown, module in modules(problem, model, theta):
        u = module(points)[:, 0]
        gradient = derivative(u, points)
        residual = evolution(problem, gradient, points)
        for i in range(axes):
            second = derivative(gradient[:, i], points)[:, i]
            residual = residual - module.diffusivity * second
            if unknown.velocity:
                residual = residual + unknown.velocity[i] * gradient[:, i]
        found.append((u, gradient[:, :axes], residual))
    u, slopes, residual = (torch.stack(parts) for parts in zip(*found, strict=True))
    if problem.reaction:
        residual = residual + problem.reaction(u)
    return u, slopes, residual


def modules(problem: Problem, model: Model, theta: Tensor) -> Iterator[tuple[Problem, Assembled]]:
    """Each unknown with its module."""
    for unknown, field, own in zip(problem.fields, model.fields, model.split(theta), strict=True):
        yield unknown, Assembled(unknown, field, own)


def evolution(problem: Problem, gradient: Tensor, points: Tensor) -> Tensor:
    """u_t, u_tt or nothing, by the order of the problem."""
    axes = len(problem.axes)
    if problem.order == 2:
        return derivative(gradient[:, axes], points)[:, axes]
    return gradient[:, axes] if problem.order else torch.zeros_like(gradient[:, 0])


def wall_violation(problem: Problem, model: Model, theta: Tensor, count: int) -> float:
    """By how much anything prescribed is missed at points on each wall."""
    misses = []
    for unknown, module in modules(problem, model, theta):
        for wall, prescribed in unknown.prescribed("value") + unknown.prescribed("slope"):
            points = on_wall(problem, wall, count).requires_grad_()
            found = found_on_wall(module(points)[:, 0], points, wall, prescribed)
            misses.append((found - data_at(prescribed.data, points)).detach().abs())
    return float(torch.cat(misses).max())


def found_on_wall(u: Tensor, points: Tensor, wall: Wall, prescribed: Prescribed) -> Tensor:
    """u, or du/dx_i + coefficient u, at points on a wall."""
    if prescribed.what == "value":
        return u
    return derivative(u, points)[:, wall[0]] + data_at(prescribed.coefficient, points) * u
