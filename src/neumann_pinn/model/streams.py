"""Known functions as streams of constants, and how outputs are assembled from them.

A model's derivatives are combined in the operator

    L u = u_t - D sum_i u_ii + sum_i c_i u_i,

with u_tt instead of u_t in equations of second order in time, and neither in steady ones. Rates are
u_t itself, where that is needed besides L u: with second order.
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
    """A known function at the points: value, sqrt(D) d/dx_i, L, and rates, a column for each point.

    `diffusion` is the part of L that is proportional to D, if that is kept apart; otherwise it is
    empty and that part is in `operator`.
    """

    value: Tensor
    slopes: Tensor
    operator: Tensor
    diffusion: Tensor | Nothing = ()
    rates: Tensor | Nothing = ()


class Wall(NamedTuple):
    """Features and slopes at a wall (one column each); at the points, its profile f and L f."""

    value: Tensor
    slope: Tensor
    profile: Streams


class Outputs(NamedTuple):
    """u, its slopes, L u and rates at the points, each of length n."""

    value: Tensor
    slopes: tuple[Tensor, ...]
    operator: Tensor
    rates: tuple[Tensor, ...] = ()


class Operator(NamedTuple):
    """L of known functions, of some order in time.

    `separate` keeps apart what is proportional to D.
    """

    diffusivity: float
    velocity: tuple[float, ...]
    order: int
    separate: bool = False

    def of_features(self, features: Features, i: int) -> Streams:
        """L of functions of one space coordinate."""
        drift = self.velocity[i] * features.first
        diffusion = -self.diffusivity * features.second
        return self._streams(features.value, features.first, drift, diffusion)

    def of_function(self, function: Function, points: Tensor) -> Streams:
        """L of any function of the points, by nested autograd."""
        at = derivatives(function, points, len(self.velocity), self.order)
        drift = at.evolution + at.slopes @ at.slopes.new_tensor(self.velocity)
        diffusion = -self.diffusivity * at.laplacian
        streams = self._streams(at.value[None], at.slopes.T, drift[None], diffusion[None])
        return streams._replace(rates=at.rate[None]) if self.order == 2 else streams

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
    return Streams(streams.value, scale.sqrt() * streams.slopes, operator, (), streams.rates)


def times(m: Streams, out: Outputs) -> Outputs:
    """Product with m: L(m u) = m L u + u L m - 2 D grad m . grad u, where slopes carry sqrt(D).

    With second order in time, + 2 m_t u_t.
    """
    pairs = list(zip(m.slopes.unbind(0), out.slopes, strict=True))
    cross = torch.stack([along_m * along_u for along_m, along_u in pairs]).sum(0)
    rates = list(zip(m.rates, out.rates, strict=True))
    for rate_m, rate_u in rates:
        cross = cross - rate_m * rate_u
    return Outputs(
        m.value[0] * out.value,
        tuple(m.value[0] * along_u + along_m * out.value for along_m, along_u in pairs),
        m.value[0] * out.operator + m.operator[0] * out.value - 2 * cross,
        tuple(m.value[0] * rate_u + rate_m * out.value for rate_m, rate_u in rates),
    )


def plus(one: Outputs, other: Outputs) -> Outputs:
    """Sum; L is linear."""
    slopes = tuple(a + b for a, b in zip(one.slopes, other.slopes, strict=True))
    rates = tuple(a + b for a, b in zip(one.rates, other.rates, strict=True))
    return Outputs(one.value + other.value, slopes, one.operator + other.operator, rates)


def less_walls(
    own: Outputs, profiles: list[Streams], fluxes: list[Tensor], mixed: list[Tensor]
) -> Outputs:
    """A network's own output minus the profile of each wall times its flux there.

    `mixed` is what this adds to L.
    """
    u, (along, *others), operator, rates = own
    for profile, flux, more in zip(profiles, fluxes, mixed, strict=True):
        u = u - profile.value[0] * flux
        along = along - profile.slopes[0] * flux
        operator = operator + more
    return Outputs(u, (along, *others), operator, rates)
