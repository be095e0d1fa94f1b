"""Exact fluxes at both walls in PINA, by a model that is made of the layers.

The heat equation u_t = D u_xx for -1.5 <= x <= 2 and 0 <= t <= 1, with u_x = 1 at the left wall and
u_x = -0.5 at the right one. The problem has no condition at the walls: the layers hold them.
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
from pina.weighting import ScalarWeighting
from torch import Tensor, nn

from neumann_pinn import Axis, HardWalls, Neumann

D = 0.3
FLUXES = (1.0, -0.5)
AXIS = Axis(-1.5, 2.0, *map(Neumann, FLUXES))


def exact(points: LabelTensor) -> Tensor:
    """The solution, of which the training sees t = 0 only."""
    length = AXIS.high - AXIS.low
    curvature, wave = (FLUXES[1] - FLUXES[0]) / length, 2 * math.pi / length
    y, t = points.extract("x").tensor - AXIS.low, points.extract("t").tensor
    wavy = torch.exp(-D * wave**2 * t) * torch.cos(wave * y)
    return FLUXES[0] * y + curvature * (y**2 / 2 + D * t) + wavy


def residual(points: LabelTensor, u: LabelTensor) -> LabelTensor:
    """u_t - D u_xx."""
    return grad(u, points, d="t") - D * laplacian(u, points, d="x")


def initial(points: LabelTensor, u: LabelTensor) -> LabelTensor:
    """What u lacks at t = 0."""
    return u - exact(points)


class HeatProblem(TimeDependentProblem, SpatialProblem):
    """The equation and the initial condition, and no more."""

    output_variables: ClassVar = ["u"]
    spatial_domain = CartesianDomain({"x": AXIS.ends})
    temporal_domain = CartesianDomain({"t": (0, 1)})
    domains: ClassVar = {
        "inside": spatial_domain.update(temporal_domain),
        "start": spatial_domain.update(CartesianDomain({"t": 0})),
    }
    conditions: ClassVar = {
        "inside": Condition(domain="inside", equation=Equation(residual)),
        "start": Condition(domain="start", equation=Equation(initial)),
    }


class Network(HardWalls):
    """u(x, t): a small network whose walls hold."""

    def __init__(self) -> None:
        features = HardWalls.size([AXIS], inputs=2)
        layers = [nn.Linear(features, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh()]
        super().__init__(nn.Sequential(*layers, nn.Linear(32, 1)), [AXIS])

    def forward(self, points: LabelTensor) -> Tensor:
        return super().forward(points.extract(["x", "t"]))  # the walls want space first


def solve(iterations: int = 2000) -> tuple[float, float]:
    """Train; return the relative L2 error and the largest |u_x - flux| at the walls."""
    torch.manual_seed(0)
    problem = HeatProblem()
    problem.discretise_domain(500, domains="inside")
    problem.discretise_domain(100, domains="start")
    solver = PhysicsInformedSingleModelSolver(
        problem,
        Network(),
        optimizer=TorchOptimizer(torch.optim.Adam, lr=5e-3),
        scheduler=TorchScheduler(torch.optim.lr_scheduler.CosineAnnealingLR, T_max=iterations),
        weighting=ScalarWeighting({"inside": 1, "start": 10}),
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
    u, truth = solver(grid.requires_grad_()), exact(grid)
    u_x, x = grad(u, grid, d="x").tensor, grid.extract("x").tensor
    walls = zip(AXIS.ends, FLUXES, strict=True)
    violation = max((u_x[x == wall] - flux).abs().max().item() for wall, flux in walls)
    return ((u.tensor - truth).norm() / truth.norm()).item(), violation


if __name__ == "__main__":
    logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
    warnings.filterwarnings("ignore", module="lightning")
    print("relative L2 error {:.1e}, largest |u_x - flux| at the walls {:.1e}".format(*solve()))
