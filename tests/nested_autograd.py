"""The nine methods written the plain way, with nested autograd: the truth for the jets."""

import itertools
import math

import torch
from torch import Tensor

from neumann_pinn.model.model import NetworkModel
from neumann_pinn.problems.points import Points
from neumann_pinn.problems.problem import Problem
from neumann_pinn.walls.embeddings import Cosine, Fourier


def derivative(y: Tensor, x: Tensor) -> Tensor:
    (slope,) = torch.autograd.grad(y.sum(), x, create_graph=True)
    return slope


def perceptron(theta: Tensor, width: int, depth: int, h: Tensor) -> Tensor:
    """A network of features h, whose rows are points, as a column."""
    start, sizes = 0, [h.shape[1], *[width] * depth, 1]
    for before, after in itertools.pairwise(sizes):
        weight = theta[start : start + before * after].view(after, before)
        bias = theta[start + before * after : start + before * after + after]
        start += before * after + after
        h = h @ weight.T + bias
        if start < len(theta):
            h = torch.tanh(h)
    return h


def network(model: NetworkModel, theta: Tensor, x: Tensor, t: Tensor) -> Tensor:
    """N(x, t) from the definitions: plain sin and cos, rows are points."""
    (embedding,) = model.embeddings
    if isinstance(embedding, Cosine):
        columns = [torch.cos(math.pi * b * x) for b in embedding.frequencies]
    elif isinstance(embedding, Fourier):
        angles = [math.pi * b * x for b in embedding.frequencies]
        columns = [wave(angle) for angle in angles for wave in (torch.cos, torch.sin)]
    else:
        columns = [x]
    return perceptron(theta, model.width, model.depth, torch.stack([*columns, t], 1))[:, 0]


def solution(model: NetworkModel, theta: Tensor, x: Tensor, t: Tensor) -> Tensor:
    """u(x, t), with equation 4 for the existing constraint."""
    u = network(model, theta, x, t)
    if model.constraint.name == "output_transform":
        left = torch.zeros_like(x).requires_grad_()
        right = torch.ones_like(x).requires_grad_()
        at_left = derivative(network(model, theta, left, t), left)
        at_right = derivative(network(model, theta, right, t), right)
        u = u - x * (1 - x) ** 2 * at_left - x**2 * (x - 1) * at_right
    return u


def fields(
    model: NetworkModel, theta: Tensor, points: Tensor, diffusivity: float
) -> tuple[Tensor, Tensor, Tensor]:
    """u, u_x and u_t - D u_xx."""
    x, t = (column.clone().requires_grad_() for column in points.T)
    u = solution(model, theta, x, t)
    u_x = derivative(u, x)
    return u, u_x, derivative(u, t) - diffusivity * derivative(u_x, x)


def loss_terms(model: NetworkModel, theta: Tensor, problem: Problem, points: Points) -> Tensor:
    """The mean squares over all points, the initial points and the walls in the loss."""
    in_loss = points.walls.values() if model.constraint.name == "none" else ()
    every = torch.cat((points.inside, points.start, *in_loss))
    u, u_x, residual = fields(model, theta, every, problem.diffusivity)
    start, end = len(points.inside), len(points.inside) + len(points.start)
    initial = (u[start:end] - problem.start(points.start)).square().mean()
    walls = u_x[end:].square().mean() if in_loss else torch.zeros_like(initial)
    return torch.stack((residual.square().mean(), initial, walls))
