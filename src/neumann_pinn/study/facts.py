"""What is known of a setting without training: trivial predictors, and how fast it decays.

u = a_0 + sum_j a_j exp(-(j / k)^2 t) cos(pi j x) on [0,1]^2, so that all of it follows from the
cosine coefficients of the initial condition. Nothing here imports torch.
"""

import math
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from neumann_pinn.problems.initial import Samples

NODES = 4097
"""Nodes at which an initial condition is taken that is not a sum of cosines."""


class Facts(NamedTuple):
    """The lowest relative error of a trivial predictor, and the rate of the largest mode.

    Trivial predictors are zero, the mean, and a finite sum of cosines without one of its modes.
    """

    trivial: float
    decay: float


def facts(setting: dict[str, Any]) -> Facts:
    """The facts of a setting of the study."""
    initial = setting["initial"]
    a = _coefficients(initial)
    rates = (np.arange(len(a)) / float(setting["k"])) ** 2
    decaying = np.where(rates > 0, -np.expm1(-2 * rates) / (2 * np.maximum(rates, 1e-300)), 1.0)
    energy = a**2 * decaying * np.where(np.arange(len(a)) > 0, 0.5, 1.0)
    total = energy.sum()
    errors = [1.0, math.sqrt(max(1 - energy[0] / total, 0.0))]
    if "cosines" in initial:
        errors += [math.sqrt(energy[j] / total) for j in np.flatnonzero(energy)]
    return Facts(min(errors), float(rates[1:][np.abs(a[1:]).argmax()]))


def _coefficients(initial: dict[str, Any]) -> np.ndarray:
    """a_0, a_1, ..., of which a_0 is the mean."""
    ((kind, value),) = initial.items()
    if kind == "cosines":
        amplitudes = {int(float(j)): float(a) for j, a in value.items()}
        a = np.zeros(max(2, *(j + 1 for j in amplitudes)))
        a[list(amplitudes)] = list(amplitudes.values())
        return a
    x = np.linspace(0, 1, NODES)
    if kind == "polynomial":
        nodes = np.polynomial.Polynomial(value)(x)
    elif kind == "step":
        nodes = np.where(x < value["position"], value["left"], value["right"])
    else:
        return _mean_first(Samples.read(Path(value)))
    return _mean_first(Samples(tuple(nodes)))


def _mean_first(samples: Samples) -> np.ndarray:
    a = samples.interpolant()
    a[0] /= 2
    return a
