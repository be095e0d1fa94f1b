"""Gauss-Newton for a network and residuals of your own: Poisson's equation on a square."""

import math

import torch
from torch import Tensor, nn

from neumann_pinn import GaussNewton


def exact(points: Tensor) -> Tensor:
    """The solution of u_xx + u_yy + 2 pi^2 sin(pi x) sin(pi y) = 0 with u = 0 at the edge."""
    return torch.sin(math.pi * points).prod(1)


def equation(u: nn.Module, points: Tensor) -> Tensor:
    """By how much u misses the equation, divided by 10: residuals may carry weights."""
    (slopes,) = torch.autograd.grad(u(points).sum(), points, create_graph=True)
    second = [torch.autograd.grad(s.sum(), points, create_graph=True)[0] for s in slopes.T]
    return (second[0][:, 0] + second[1][:, 1] + 2 * math.pi**2 * exact(points)) / 10


def edge(u: nn.Module, points: Tensor) -> Tensor:
    """By how much u misses 0, times 10."""
    return 10 * u(points)[:, 0]


def on_the_edge(n: int) -> Tensor:
    """Random points on the four edges in turn."""
    points, side = torch.rand(n, 2, dtype=torch.float64), torch.arange(n) % 4
    points[torch.arange(n), side // 2] = (side % 2).double()
    return points


def solve(steps: int = 100) -> float:
    """Train a plain network on new points at every step; return the relative L2 error."""
    torch.manual_seed(0)
    layers = [nn.Linear(2, 40), nn.Tanh(), nn.Linear(40, 40), nn.Tanh(), nn.Linear(40, 1)]
    network = nn.Sequential(*layers).double()
    optimizer = GaussNewton(network, equation, edge)
    for _ in range(steps):
        optimizer.step(torch.rand(500, 2, dtype=torch.float64), on_the_edge(120))
    test = torch.rand(5000, 2, dtype=torch.float64)
    return ((network(test)[:, 0] - exact(test)).norm() / exact(test).norm()).item()


if __name__ == "__main__":
    print(f"relative L2 error {solve():.1e}")
