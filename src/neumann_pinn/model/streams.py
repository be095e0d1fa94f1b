"""Known functions as streams of constants, and how outputs are assembled from them.

A model's derivatives are combined in the operator

    L u = u_t - D sum_i u_ii + sum_i c_i u_i.
"""

import math
from typing import NamedTuple

import torch
from torch import Tensor

from neumann_pinn.problems.derivatives import derivatives
from neumann_pinn.walls.axes import Features
from neumann_pinn.walls.layers import Function

Nothing = tuple[()]


class Streams(NamedTuple):
    """A known function at the points: value, sqrt(D) d/dx_i, and L, with a column for each point.

    `diffusion` is the part of L that is proportional to D, if that is kept apart; otherwise it is
    empty and that part is in `operator`.
    """

    value: Tensor
    slopes: Tensor
    operator: Tensor
    diffusion: Tensor | Nothing = ()


class Wall(NamedTuple):
    """Features and slopes at a wall (one column each); at the points, its profile f and L f."""

    value: Tensor
    slope: Tensor
    profile: Streams


class Outputs(NamedTuple):
    """u, its slopes and L u at the points, each of length n."""

    value: Tensor
    slopes: tuple[Tensor, ...]
    operator: Tensor


class Operator(NamedTuple):
    """L of known functions; `separate` keeps apart what is proportional to D."""

    diffusivity: float
    velocity: tuple[float, ...]
    separate: bool = False

    def of_features(self, features: Features, i: int) -> Streams:
        """L of functions of one space coordinate."""
        drift = self.velocity[i] * features.first
        diffusion = -self.diffusivity * features.second
        return self._streams(features.value, features.first, drift, diffusion)

    def of_function(self, function: Function, points: Tensor) -> Streams:
        """L of any function of the points, by nested autograd."""
        at = derivatives(function, points, len(self.velocity))
        drift = at.rate + at.slopes @ at.slopes.new_tensor(self.velocity)
        diffusion = -self.diffusivity * at.laplacian
        return self._streams(at.value[None], at.slopes.T, drift[None], diffusion[None])

    def _streams(self, value: Tensor, slopes: Tensor, drift: Tensor, diffusion: Tensor) -> Streams:
        slopes = math.sqrt(self.diffusivity) * slopes
        if self.separate:
            return Streams(value, slopes, drift, diffusion)
        return Streams(value, slopes, drift + diffusion)


def scaled(streams: Streams, scale: Tensor | None) -> Streams:
    """Streams for another D; `scale` is its ratio to the one they were made for."""
    if scale is None or isinstance(streams.diffusion, tuple):
        return streams
    operator = streams.operator + scale * streams.diffusion
    return Streams(streams.value, scale.sqrt() * streams.slopes, operator)


def times(m: Streams, out: Outputs) -> Outputs:
    """Product with m; slopes carry sqrt(D), and L(m u) = m L u + u L m - 2 D grad m . grad u."""
    pairs = list(zip(m.slopes.unbind(0), out.slopes, strict=True))
    cross = torch.stack([along_m * along_u for along_m, along_u in pairs]).sum(0)
    return Outputs(
        m.value[0] * out.value,
        tuple(m.value[0] * along_u + along_m * out.value for along_m, along_u in pairs),
        m.value[0] * out.operator + m.operator[0] * out.value - 2 * cross,
    )


def plus(one: Outputs, other: Outputs) -> Outputs:
    """Sum; L is linear."""
    slopes = tuple(a + b for a, b in zip(one.slopes, other.slopes, strict=True))
    return Outputs(one.value + other.value, slopes, one.operator + other.operator)


def less_walls(
    own: list[Tensor], profiles: list[Streams], fluxes: list[Tensor], mixed: list[Tensor]
) -> Outputs:
    """A network's own output minus the profile of each wall times its flux there.

    `mixed` is what this adds to L.
    """
    u, *along, operator = own
    for profile, flux, more in zip(profiles, fluxes, mixed, strict=True):
        u = u - profile.value[0] * flux
        along[0] = along[0] - profile.slopes[0] * flux
        operator = operator + more
    return Outputs(u, tuple(along), operator)
