"""Gauss-Newton with walls that hold exactly: heat in an insulated rod."""

import math

import torch
from torch import Tensor, nn

from neumann_pinn import Axis, GaussNewton, HardWalls

D = 0.1


def exact(points: Tensor) -> Tensor:
    """The solution of u_t = D u_xx with u_x = 0 at both ends, of which training sees t = 0 only."""
    x, t = points.T
    modes = [torch.exp(-D * (math.pi * b) ** 2 * t) * torch.cos(math.pi * b * x) for b in (1, 2)]
    return 1 + modes[0] + 0.5 * modes[1]


def equation(u: nn.Module, points: Tensor) -> Tensor:
    """By how much u misses the equation."""
    (slopes,) = torch.autograd.grad(u(points).sum(), points, create_graph=True)
    (second,) = torch.autograd.grad(slopes[:, 0].sum(), points, create_graph=True)
    return slopes[:, 1] - D * second[:, 0]


def start(u: nn.Module, points: Tensor) -> Tensor:
    """By how much u misses its initial values."""
    return u(points)[:, 0] - exact(points)


def solve(steps: int = 40) -> float:
    """Train on new points at every step; return the relative L2 error."""
    torch.manual_seed(0)
    layers = [nn.Linear(3, 30), nn.Tanh(), nn.Linear(30, 30), nn.Tanh(), nn.Linear(30, 1)]
    network = HardWalls(nn.Sequential(*layers), [Axis()]).double()
    optimizer = GaussNewton(network, equation, start)
    at_start = torch.tensor([1.0, 0.0], dtype=torch.float64)
    for _ in range(steps):
        inside, initial = torch.rand(2, 200, 2, dtype=torch.float64)
        optimizer.step(inside, at_start * initial[:60])
    test = torch.rand(5000, 2, dtype=torch.float64)
    return ((network(test)[:, 0] - exact(test)).norm() / exact(test).norm()).item()


if __name__ == "__main__":
    print(f"relative L2 error {solve():.1e}")
