"""Gauss-Newton in the space of residuals.

Given the residuals r of N rows (points and their terms) and their Jacobian J (N x parameters), a
Levenberg-Marquardt step d minimises |r + J d|^2 + lambda (d - p)^T M^-1 (d - p):

    d = p - M J^T (J M J^T + lambda I)^-1 (r + J p),

which only needs the factorisation of an N x N matrix, the kernel J M J^T. M is a diagonal that the
residuals choose.

Each step is followed by a second one for geodesic acceleration (Transtrum and Sethna 2012): minus
half the solution of the same system for the second derivative of r along d. It follows the curved
valley of the descent, so that lambda can be smaller by orders of magnitude.

There are more parameters than rows: with the same points at every step the residuals would vanish
there and nowhere else. So the points are shifted at every step, and p, a fraction of the previous
step, retains what earlier points have shown (as in SPRING: Goldshlager, Abrahamsen and Lin 2024).
For the same reason lambda stays above zero.
"""

import logging
from typing import Any, Protocol

import torch
from torch import Tensor

from neumann_pinn.walls.layers import Function

log = logging.getLogger(__name__)

FIRST_DAMPING = 1e-2
SMALLEST_DAMPING, LARGEST_DAMPING = 1e-9, 1e9
DAMPING_FACTOR = 2.0
"""Divides lambda after a step that was accepted, and multiplies it after a rejected one."""
SINGLE_PRECISION = 1e-7
"""The smallest lambda, relative to the kernel's norm, with which single precision is enough."""
TRIALS = 12
"""The number of lambdas that a step may try on its points."""
LARGEST_MOMENTUM = 0.9
"""The largest fraction of the last step that a step starts from."""
TRIALS_WITH_MOMENTUM = 4
"""The number of lambdas that a step tries before it forgets the last step."""
PROBE = 0.1
"""The fraction of a step over which the second derivative along it is taken."""
LARGEST_ACCELERATION = 1.0
"""The largest length of the acceleration, twice the second step, relative to the first."""


class Linear(Protocol):
    """Residuals at some parameters, and what a step needs of their Jacobian J."""

    @property
    def residuals(self) -> Tensor:
        """The residuals r of all rows."""

    def kernel(self, precision: torch.dtype) -> Tensor:
        """J M J^T, from products in the given precision."""

    def direction(self, weights: Tensor) -> Tensor:
        """M J^T times a weight for each row: a direction in parameter space."""

    def along(self, direction: Tensor) -> Tensor:
        """J times a direction in parameter space: a number for each row."""


class Rows(Protocol):
    """Residuals as a function of the parameters, on one set of points."""

    def __call__(self, theta: Tensor) -> Tensor:
        """The residuals."""

    def linearise(self, theta: Tensor) -> Linear:
        """The residuals with their Jacobian."""


class GaussNewtonSteps:
    """Levenberg-Marquardt steps with geodesic acceleration and momentum."""

    def __init__(self, theta: Tensor) -> None:
        self.theta = theta
        self.damping = FIRST_DAMPING
        self.count = 0
        self.norm = float("inf")
        self.last = torch.zeros_like(theta)

    @torch.no_grad()
    def step(self, rows: Rows) -> float:
        """One step, with the first lambda that reduces the loss on its points.

        Returns that loss before the step.
        """
        self.count += 1
        at = rows.linearise(self.theta)
        single = self.damping >= SINGLE_PRECISION * self.norm
        matrix = at.kernel(torch.float32 if single else self.theta.dtype)
        self.norm = float(matrix.norm())
        loss = float(at.residuals.square().sum())
        start = momentum(self.count) * self.last
        for trial in range(TRIALS):
            if trial == TRIALS_WITH_MOMENTUM:
                start = torch.zeros_like(start)
            step = self.trial(rows, at, matrix, start)
            if step is not None:
                new = self.theta + step
                if float(rows(new).square().sum()) < loss:
                    self.theta.copy_(new)
                    self.last.copy_(step)
                    self.damping = max(self.damping / DAMPING_FACTOR, SMALLEST_DAMPING)
                    return loss
            self.damping = min(self.damping * DAMPING_FACTOR, LARGEST_DAMPING)
        self.last.zero_()
        log.info("step %d: no lambda up to %.1e helps on its points", self.count, self.damping)
        return loss

    def trial(self, rows: Rows, at: Linear, matrix: Tensor, start: Tensor) -> Tensor | None:
        """The step for the current lambda, or None if it curves too far or has no solution."""
        solve = solver(at, matrix, self.damping)
        if solve is None:
            return None
        step = start - solve(at.residuals + at.along(start))
        ahead = rows(self.theta + PROBE * step)
        curving = ahead - at.residuals - PROBE * at.along(step)
        acceleration = solve(2 * curving / PROBE**2)
        if not acceleration.norm() <= LARGEST_ACCELERATION * step.norm():
            return None
        return step - acceleration / 2

    def state_dict(self) -> dict[str, Any]:
        """Everything but theta that the next step depends on."""
        numbers = {"damping": self.damping, "count": self.count, "norm": self.norm}
        return numbers | {"last": self.last}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Continue from a state."""
        self.damping, self.count, self.norm = state["damping"], state["count"], state["norm"]
        self.last.copy_(state["last"])


def momentum(count: int) -> float:
    """The fraction of the last step that a step starts from.

    It grows: early steps soon forget where they came from, late ones remember many points.
    """
    return min(1 - 10 / (count + 20), LARGEST_MOMENTUM)


def solver(at: Linear, matrix: Tensor, damping: float) -> Function | None:
    """The map r -> M J^T (J M J^T + lambda I)^-1 r, or None if rounding makes it indefinite."""
    matrix = matrix.clone()
    matrix.diagonal().add_(damping)
    factor, failed = torch.linalg.cholesky_ex(matrix)
    if failed:
        return None
    return lambda r: at.direction(torch.cholesky_solve(r[:, None], factor)[:, 0])
