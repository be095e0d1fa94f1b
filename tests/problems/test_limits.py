import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy.optimize import least_squares

from neumann_pinn import Axis, Dirichlet, Neumann, Robin
from neumann_pinn.problems.catalogue import PROBLEMS
from neumann_pinn.problems.limits import MODES, diffusivity_limit

INVERSE = PROBLEMS["inverse"]


def test_fits_of_the_series_to_noisy_samples_scatter_by_the_limit():
    points, _ = INVERSE.noisy_samples()
    (x, t), exact = points.numpy().T, INVERSE.exact(points).numpy()
    waves = math.pi * np.arange(MODES + 1)
    cosines = np.cos(waves * x[:, None])

    def series(unknowns):
        decay = np.exp(-unknowns[0] * waves**2 * t[:, None])
        return (decay * cosines) @ unknowns[1:]

    rng, start = np.random.default_rng(0), np.zeros(MODES + 2)
    start[:4] = INVERSE.diffusivity, 1, 1, 0.5
    assert np.allclose(series(start), exact)
    found = []
    for _ in range(200):
        samples = exact + INVERSE.noise * rng.normal(size=len(exact))
        fit = least_squares(
            lambda u, samples=samples: series(u) - samples, start, x_scale=start + 1
        )
        found.append(fit.x[0])
    assert np.std(found) == pytest.approx(diffusivity_limit(INVERSE), rel=0.15)
    assert np.mean(found) == pytest.approx(INVERSE.diffusivity, abs=np.std(found) / 5)


def test_the_limit_grows_with_the_noise_and_falls_with_the_samples():
    limit = diffusivity_limit(INVERSE)
    assert diffusivity_limit(replace(INVERSE, noise=0.03)) == pytest.approx(3 * limit)
    assert diffusivity_limit(replace(INVERSE, samples=10_000)) < limit / 5


def test_the_limit_does_not_depend_on_where_the_interval_lies():
    def moved(points):
        return INVERSE.exact(points - torch.tensor([3.0, 0.0]))

    elsewhere = replace(INVERSE, axes=(Axis(3.0, 4.0),), exact=moved)
    assert diffusivity_limit(elsewhere) == pytest.approx(diffusivity_limit(INVERSE))


@pytest.mark.parametrize(
    "change",
    [
        {"samples": 0},
        {"axes": (Axis(right=Neumann(1.0)),)},
        {"axes": (Axis(right=Robin(1.0)),)},
        {"velocity": (0.3,)},
        {"axes": (Axis(right=Dirichlet()),)},
        {"axes": (Axis(), Axis())},
    ],
)
def test_other_problems_have_no_known_limit(change):
    assert diffusivity_limit(replace(INVERSE, **change)) is None
