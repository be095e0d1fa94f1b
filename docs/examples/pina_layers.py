"""Exact fluxes at both walls and an exact start in PINA, by a model that is wrapped once.

The heat equation u_t = D u_xx for -1.5 <= x <= 2 and 0 <= t <= 1, with u_x = 1 at the left wall and
u_x = -0.5 at the right one. The problem has no condition but the equation: `HardWalls` holds both.
"""

import logging
import math
import warnings
from typing import ClassVar

import torch
from pina import Condition, LabelTensor, Trainer
from pina.domain import CartesianDomain
from pina.equation import Equation
from pina.operator import grad, laplacian
from pina.optim import TorchOptimizer, TorchScheduler
from pina.problem import SpatialProblem, TimeDependentProblem
from pina.solver import PhysicsInformedSingleModelSolver
from torch import Tensor, nn

from neumann_pinn import Axis, HardWalls, Neumann

D = 0.3
FLUXES = (1.0, -0.5)
AXIS = Axis(-1.5, 2.0, *map(Neumann, FLUXES))


def exact(points: Tensor) -> Tensor:
    """The solution, of which the network is given t = 0 only."""
    length = AXIS.high - AXIS.low
    curvature, wave = (FLUXES[1] - FLUXES[0]) / length, 2 * math.pi / length
    y, t = points[:, 0] - AXIS.low, points[:, 1]
    wavy = torch.exp(-D * wave**2 * t) * torch.cos(wave * y)
    return FLUXES[0] * y + curvature * (y**2 / 2 + D * t) + wavy


def residual(points: LabelTensor, u: LabelTensor) -> LabelTensor:
    """u_t - D u_xx."""
    return grad(u, points, d="t") - D * laplacian(u, points, d="x")


class HeatProblem(TimeDependentProblem, SpatialProblem):
    """The equation, and no more."""

    output_variables: ClassVar = ["u"]
    spatial_domain = CartesianDomain({"x": AXIS.ends})
    temporal_domain = CartesianDomain({"t": (0, 1)})
    domains: ClassVar = {"inside": spatial_domain.update(temporal_domain)}
    conditions: ClassVar = {"inside": Condition(domain="inside", equation=Equation(residual))}


class Network(HardWalls):
    """u(x, t): a small network whose walls and start hold."""

    def __init__(self) -> None:
        features = HardWalls.size([AXIS], inputs=2)
        layers = [nn.Linear(features, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh()]
        network = nn.Sequential(*layers, nn.Linear(32, 1))
        super().__init__(network, [AXIS], initial=exact, compatible=True)

    def forward(self, points: LabelTensor) -> Tensor:
        return super().forward(points.extract(["x", "t"]))  # space first


def solve(iterations: int = 2000) -> tuple[float, float]:
    """Train; return the relative L2 error and the largest |u_x - flux| at the walls."""
    torch.manual_seed(0)
    problem = HeatProblem()
    problem.discretise_domain(500, domains="inside")
    solver = PhysicsInformedSingleModelSolver(
        problem,
        Network(),
        optimizer=TorchOptimizer(torch.optim.Adam, lr=5e-3),
        scheduler=TorchScheduler(torch.optim.lr_scheduler.CosineAnnealingLR, T_max=iterations),
    )
    trainer = Trainer(
        solver,
        max_epochs=iterations,
        accelerator="cpu",
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
    )
    trainer.train()

    grid = problem.spatial_domain.update(problem.temporal_domain).sample(101, "grid")
    u, truth = solver(grid.requires_grad_()), exact(grid.extract(["x", "t"]).tensor)[:, None]
    u_x, x = grad(u, grid, d="x").tensor, grid.extract("x").tensor
    walls = zip(AXIS.ends, FLUXES, strict=True)
    violation = max((u_x[x == wall] - flux).abs().max().item() for wall, flux in walls)
    return ((u.tensor - truth).norm() / truth.norm()).item(), violation


if __name__ == "__main__":
    logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
    warnings.filterwarnings("ignore", module="lightning")
    print("relative L2 error {:.1e}, largest |u_x - flux| at the walls {:.1e}".format(*solve()))
