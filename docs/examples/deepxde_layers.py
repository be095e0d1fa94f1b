"""Exact fluxes at both walls in DeepXDE, by its feature and output transforms.

The heat equation u_t = D u_xx for -1.5 <= x <= 2 and 0 <= t <= 1, with u_x = 1 at the left wall and
u_x = -0.5 at the right one. There is no NeumannBC among the data: the layers hold the walls.
"""

import os

os.environ["DDE_BACKEND"] = "pytorch"

import deepxde as dde
import numpy as np

from neumann_pinn import Axis, CosineEmbedding, Neumann, WallLift

D = 0.3
FLUXES = (1.0, -0.5)
AXIS = Axis(-1.5, 2.0, *map(Neumann, FLUXES))


def exact(inputs: np.ndarray) -> np.ndarray:
    """The solution, of which the training sees t = 0 only."""
    length = AXIS.high - AXIS.low
    curvature, wave = (FLUXES[1] - FLUXES[0]) / length, 2 * np.pi / length
    y, t = inputs[:, :1] - AXIS.low, inputs[:, 1:]
    wavy = np.exp(-D * wave**2 * t) * np.cos(wave * y)
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
    initial = dde.icbc.IC(domain, exact, lambda _, on_initial: on_initial)
    data = dde.data.TimePDE(domain, residual, [initial], num_domain=500, num_initial=100)

    embedding = CosineEmbedding([AXIS])
    net = dde.nn.FNN([embedding.size(inputs=2), 32, 32, 1], "tanh", "Glorot normal")
    net.apply_feature_transform(embedding)
    net.apply_output_transform(WallLift([AXIS]))

    model = dde.Model(data, net)
    model.compile("adam", lr=5e-3, decay=("cosine", iterations, 0), loss_weights=[1, 10])
    model.train(iterations=iterations, display_every=iterations, verbose=0)

    x, t = np.meshgrid(np.linspace(*AXIS.ends, 101), np.linspace(0, 1, 51))
    grid = np.stack((x.ravel(), t.ravel()), 1)
    u_x = model.predict(grid, operator=slope)
    walls = zip(AXIS.ends, FLUXES, strict=True)
    violation = max(np.abs(u_x[grid[:, 0] == wall] - flux).max() for wall, flux in walls)
    error = dde.metrics.l2_relative_error(exact(grid), model.predict(grid))
    return float(error), float(violation)


if __name__ == "__main__":
    print("relative L2 error {:.1e}, largest |u_x - flux| at the walls {:.1e}".format(*solve()))
