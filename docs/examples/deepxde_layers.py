"""Exact fluxes at both walls and an exact start in DeepXDE, by one wrapper around its network.

The heat equation u_t = D u_xx for -1.5 <= x <= 2 and 0 <= t <= 1, with u_x = 1 at the left wall and
u_x = -0.5 at the right one. The data have neither a NeumannBC nor an IC: `HardWalls` holds both.
"""

import os

os.environ["DDE_BACKEND"] = "pytorch"

import deepxde as dde
import numpy as np
import torch

from neumann_pinn import Axis, HardWalls, Neumann

D = 0.3
FLUXES = (1.0, -0.5)
AXIS = Axis(-1.5, 2.0, *map(Neumann, FLUXES))


def exact(inputs: torch.Tensor) -> torch.Tensor:
    """The solution, of which the network is given t = 0 only."""
    length = AXIS.high - AXIS.low
    curvature, wave = (FLUXES[1] - FLUXES[0]) / length, 2 * torch.pi / length
    y, t = inputs[:, 0] - AXIS.low, inputs[:, 1]
    wavy = torch.exp(-D * wave**2 * t) * torch.cos(wave * y)
    return FLUXES[0] * y + curvature * (y**2 / 2 + D * t) + wavy


def residual(inputs, u):
    """u_t - D u_xx."""
    return dde.grad.jacobian(u, inputs, j=1) - D * dde.grad.hessian(u, inputs)


def slope(inputs, u):
    """u_x."""
    return dde.grad.jacobian(u, inputs, j=0)


def solve(iterations: int = 2000) -> tuple[float, float]:
    """Train; return the relative L2 error and the largest |u_x - flux| at the walls."""
    dde.config.set_random_seed(0)
    domain = dde.geometry.GeometryXTime(
        dde.geometry.Interval(*AXIS.ends), dde.geometry.TimeDomain(0, 1)
    )
    data = dde.data.TimePDE(domain, residual, [], num_domain=500)

    net = dde.nn.FNN([HardWalls.size([AXIS], inputs=2), 32, 32, 1], "tanh", "Glorot normal")
    net = HardWalls(net, [AXIS], initial=exact, compatible=True)
    net.regularizer = None  # all that DeepXDE asks of a network besides

    model = dde.Model(data, net)
    model.compile("adam", lr=5e-3, decay=("cosine", iterations, 0))
    model.train(iterations=iterations, display_every=iterations, verbose=0)

    x, t = np.meshgrid(np.linspace(*AXIS.ends, 101), np.linspace(0, 1, 51))
    grid = np.stack((x.ravel(), t.ravel()), 1)
    u_x = model.predict(grid, operator=slope)
    walls = zip(AXIS.ends, FLUXES, strict=True)
    violation = max(np.abs(u_x[grid[:, 0] == wall] - flux).max() for wall, flux in walls)
    truth = exact(torch.from_numpy(grid)).numpy()[:, None]
    error = dde.metrics.l2_relative_error(truth, model.predict(grid))
    return float(error), float(violation)


if __name__ == "__main__":
    print("relative L2 error {:.1e}, largest |u_x - flux| at the walls {:.1e}".format(*solve()))
