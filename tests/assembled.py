"""Models of any problem rebuilt from the public layers: with nested autograd, their truth."""

from dataclasses import replace

import torch
from nested_autograd import derivative, perceptron
from torch import Tensor, nn

from neumann_pinn.model.model import Model, NetworkModel, Sum, UnknownDiffusivity
from neumann_pinn.problems.points import on_wall
from neumann_pinn.problems.problem import Problem
from neumann_pinn.walls.embeddings import Cosine
from neumann_pinn.walls.layers import CosineEmbedding, FreeTerm, OutputTransform, RobinLift


class Perceptron(nn.Module):
    """A network whose weights are views of theta, so that gradients reach it."""

    def __init__(self, part: NetworkModel, theta: Tensor) -> None:
        super().__init__()
        self.part, self.theta = part, theta

    def forward(self, features: Tensor) -> Tensor:
        return perceptron(self.theta, self.part.width, self.part.depth, features)


class Assembled(nn.Module):
    """A model as one module made of the layers: points -> u, as a column."""

    def __init__(self, problem: Problem, model: Model, theta: Tensor) -> None:
        super().__init__()
        self.diffusivity: Tensor | float = problem.diffusivity
        if isinstance(model, UnknownDiffusivity):
            self.diffusivity = problem.known_diffusivity * theta[0].exp()
            model, theta = model.inner, theta[1:]
        main, *others = model.parts
        size = main.network.parameters
        axes = [
            embedding if isinstance(embedding, Cosine) else replace(axis, walls="none")
            for embedding, axis in zip(main.embeddings, problem.axes, strict=True)
        ]
        self.network: nn.Module = nn.Sequential(
            CosineEmbedding(axes), Perceptron(main, theta[:size])
        )
        if main.constraint.name == "output_transform":
            self.network = OutputTransform(self.network, problem.axes)
        self.walls = None
        if main.constraint.name != "none":
            self.walls = RobinLift(problem.axes, problem.fluxes, problem.coefficients or None)
        self.free = None
        if isinstance(model, Sum):
            (free,) = others
            self.free = FreeTerm(Perceptron(free, theta[size:]), problem.axes)

    def forward(self, points: Tensor) -> Tensor:
        u = self.network(points)
        if self.walls is not None:
            u = self.walls(points, u)
        if self.free is not None:
            u = u + self.free(points)
        return u


def fields(
    problem: Problem, model: Model, theta: Tensor, points: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """u, its slopes and the residual without source."""
    axes = len(problem.axes)
    points = points.clone().requires_grad_()
    module = Assembled(problem, model, theta)
    u = module(points)[:, 0]
    gradient = derivative(u, points)
    residual = torch.zeros_like(u) if problem.steady else gradient[:, axes]
    for i in range(axes):
        second = derivative(gradient[:, i], points)[:, i]
        residual = residual - module.diffusivity * second
        if problem.velocity:
            residual = residual + problem.velocity[i] * gradient[:, i]
    if problem.reaction:
        residual = residual + problem.reaction(u)
    return u, gradient[:, :axes], residual


def wall_violation(problem: Problem, model: Model, theta: Tensor, count: int) -> float:
    """The largest |du/dx_i + coefficient u - flux| at points on each held wall."""
    module, misses = Assembled(problem, model, theta), []
    for wall in problem.walls:
        points = on_wall(problem, wall, count).requires_grad_()
        u = module(points)[:, 0]
        (gradient,) = torch.autograd.grad(u.sum(), points)
        coefficient, flux = problem.condition(wall, points)
        misses.append((gradient[:, wall[0]] + coefficient * u - flux).detach().abs())
    return float(torch.cat(misses).max())
