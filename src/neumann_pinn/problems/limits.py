"""How well a diffusivity can be found at all."""

import math

import torch

from neumann_pinn.problems.derivatives import derivatives
from neumann_pinn.problems.problem import Problem
from neumann_pinn.walls.axes import Axis

MODES = 10
"""The cosines of unknown amplitude in an initial condition; the limit grows slowly with them."""


def diffusivity_limit(problem: Problem) -> float | None:
    """The smallest standard deviation of an unbiased estimate of D from the noisy samples.

    The bound of Cramer and Rao for the heat equation on an insulated interval whose initial
    condition is an unknown sum of cosines; None for other problems. D changes u by t u_xx, and can
    only be told from the part of that which no change of the amplitudes can imitate.
    """
    axis = problem.axes[0]
    insulated = problem.axes == (Axis(axis.low, axis.high),)
    if not (problem.samples and insulated) or problem.velocity or problem.reaction:
        return None
    points, _ = problem.noisy_samples()
    x, t = points.T
    waves = math.pi / (axis.high - axis.low) * torch.arange(MODES + 1).double()
    decay = (-problem.diffusivity * waves**2 * t[:, None]).exp()
    modes = decay * (waves * (x[:, None] - axis.low)).cos()
    by_diffusivity = t * derivatives(problem.exact, points, 1, 1).laplacian
    triangle = torch.linalg.qr(torch.cat((modes, by_diffusivity[:, None]), 1), mode="r").R
    return problem.noise / abs(float(triangle[-1, -1]))
