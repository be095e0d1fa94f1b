"""Exact fluxes at both walls in a plain torch training loop.

The heat equation u_t = D u_xx for -1.5 <= x <= 2 and 0 <= t <= 1, with u_x = 1 at the left wall and
u_x = -0.5 at the right one. The loss has no term for the walls: the layers hold them.
"""

import math

import torch
from torch import Tensor, nn

from neumann_pinn import Axis, HardWalls, Neumann

D = 0.3
FLUXES = (1.0, -0.5)
AXIS = Axis(-1.5, 2.0, *map(Neumann, FLUXES))


def exact(x: Tensor, t: Tensor) -> Tensor:
    """The solution, of which the training sees t = 0 only."""
    length = AXIS.high - AXIS.low
    curvature, wave = (FLUXES[1] - FLUXES[0]) / length, 2 * math.pi / length
    y = x - AXIS.low
    wavy = torch.exp(-D * wave**2 * t) * torch.cos(wave * y)
    return FLUXES[0] * y + curvature * (y**2 / 2 + D * t) + wavy


def slope(u: Tensor, x: Tensor) -> Tensor:
    """The derivative of u at each point."""
    return torch.autograd.grad(u.sum(), x, create_graph=True)[0]


def solve(iterations: int = 2000) -> tuple[float, float]:
    """Train; return the relative L2 error and the largest |u_x - flux| at the walls."""
    torch.manual_seed(0)
    features = HardWalls.size([AXIS], inputs=2)
    layers = [nn.Linear(features, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 1)]
    network = HardWalls(nn.Sequential(*layers), [AXIS])

    def solution(x: Tensor, t: Tensor) -> Tensor:
        return network(torch.cat((x, t), 1))

    optimizer = torch.optim.Adam(network.parameters(), lr=5e-3)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, iterations)
    for _ in range(iterations):
        x = torch.empty(256, 1).uniform_(*AXIS.ends).requires_grad_()
        t = torch.rand(256, 1, requires_grad=True)
        u = solution(x, t)
        residual = slope(u, t) - D * slope(slope(u, x), x)
        initial = solution(x, 0 * t) - exact(x, 0 * t)
        loss = residual.square().mean() + 10 * initial.square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()

    grid = torch.cartesian_prod(torch.linspace(*AXIS.ends, 101), torch.linspace(0, 1, 51))
    x, t = grid.split(1, 1)
    u, truth = solution(x.requires_grad_(), t), exact(x, t)
    u_x = slope(u, x)
    walls = zip(AXIS.ends, FLUXES, strict=True)
    violation = max((u_x[x == wall] - flux).abs().max().item() for wall, flux in walls)
    return ((u - truth).norm() / truth.norm()).item(), violation


if __name__ == "__main__":
    print("relative L2 error {:.1e}, largest |u_x - flux| at the walls {:.1e}".format(*solve()))
