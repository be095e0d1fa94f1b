"""Classical solvers for heat on an insulated interval, for an honest comparison."""

import math
import time
from collections.abc import Callable
from statistics import median

import numpy as np
import pandas as pd
import scipy.fft
import scipy.linalg
import torch

from neumann_pinn.problems.problem import Problem

CRANK_NICOLSON = (25, 50, 100, 200, 400, 800, 1600)
"""Numbers of intervals in space, and of steps in time."""
COSINE_TRANSFORM = (8, 16, 32, 64, 128, 256)
"""Numbers of intervals in space, and in time."""
REPEATS = 3


def crank_nicolson(problem: Problem, n: int) -> np.ndarray:
    """Second-order solution (times x nodes) on n intervals with n steps; walls by ghost points."""
    u = np.empty((n + 1, n + 1))
    u[0] = _start(problem, n)
    mesh = problem.diffusivity * n / 2
    upper = np.full(n + 1, -mesh)
    upper[1] *= 2
    lower = np.full(n + 1, -mesh)
    lower[-2] *= 2
    bands = np.stack((upper, np.full(n + 1, 1 + 2 * mesh), lower))
    for step in range(n):
        now = u[step]
        mirrored = np.concatenate((now[1:2], now, now[-2:-1]))
        right = now + mesh * (mirrored[2:] - 2 * now + mirrored[:-2])
        u[step + 1] = scipy.linalg.solve_banded((1, 1), bands, right, check_finite=False)
    return u


def cosine_transform(problem: Problem, n: int) -> np.ndarray:
    """Solution (times x nodes) on n intervals at n + 1 times: each cosine mode decays separately.

    It takes two fast transforms and is exact if n intervals resolve the initial condition.
    """
    a = scipy.fft.dct(_start(problem, n), type=1)
    rates = problem.diffusivity * (math.pi * np.arange(n + 1)) ** 2
    decay = np.exp(-rates * np.linspace(0, 1, n + 1)[:, None])
    return scipy.fft.idct(decay * a, type=1)


SOLVERS: dict[str, tuple[Callable[[Problem, int], np.ndarray], tuple[int, ...]]] = {
    "Crank-Nicolson": (crank_nicolson, CRANK_NICOLSON),
    "Cosine transform": (cosine_transform, COSINE_TRANSFORM),
}


def solve(problem: Problem) -> pd.DataFrame:
    """Error and seconds of each solver at several resolutions.

    Errors are relative L2 at the solver's own nodes and times; seconds are medians.
    """
    rows = []
    for name, (solver, resolutions) in SOLVERS.items():
        for n in resolutions:
            u = solver(problem, n)  # warms up
            seconds = []
            for _ in range(REPEATS):
                start = time.perf_counter()
                solver(problem, n)
                seconds.append(time.perf_counter() - start)
            exact = problem.reference(n + 1, n + 1).u.numpy()
            error = float(np.linalg.norm(u - exact) / np.linalg.norm(exact))
            rows.append((name, n, error, median(seconds)))
    return pd.DataFrame(rows, columns=["solver", "resolution", "error", "seconds"])


def _start(problem: Problem, n: int) -> np.ndarray:
    """The initial condition at the nodes of n intervals."""
    nodes = torch.linspace(0, 1, n + 1, dtype=torch.float64)
    return problem.start(torch.stack((nodes, torch.zeros_like(nodes)), 1)).numpy()
