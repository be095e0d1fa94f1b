"""Collapsed jets: the derivatives that a residual needs, carried forward through the network.

For the heat residual u_t - D sum_i u_ii a point needs its value h, its slopes p_i = sqrt(D) h_i
and the one combination s = h_t - D sum_i h_ii. A linear layer multiplies each of these streams
by the same matrix and adds its bias to h only; an activation a gives

    h' = a(h),  p_i' = a'(h) p_i,  s' = a'(h) s - a''(h) sum_i p_i^2.

In equations of second order in time s has h_tt instead of h_t; a point then needs its rate h_t,
too, and s' has + a''(h) h_t^2 (time is a direction with D = -1).

The factor sqrt(D) in the slopes keeps D out of the network: it appears only in the inputs. Plain
reverse mode differentiates all of this once; nothing is nested.

Streams are matrices with a row for each neuron and a column for each point.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol, Self

import torch
from torch import Tensor

from neumann_pinn.model.network import Layer

Activation = Callable[[Tensor], tuple[Tensor, Tensor, Tensor]]
"""A smooth function with its first two derivatives: z -> (a, a', a'')."""


def tanh(z: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Tanh with its first two derivatives; from the logistic function, which is cheaper on CPUs."""
    a = 2 * torch.sigmoid(2 * z) - 1
    first = 1 - a * a
    return a, first, -2 * a * first


class Jet(Protocol):
    """Streams that go through the network together; the first one is the value."""

    @property
    def streams(self) -> tuple[Tensor, ...]:
        """The streams, the value first."""

    def with_streams(self, streams: Sequence[Tensor]) -> Self:
        """The same jet with other streams."""

    def activate(self, activation: Activation) -> Self:
        """The jet after an activation."""


class HeatJet(NamedTuple):
    """h, any number of slopes p_i = sqrt(D) h_i, s, and the rate h_t if s has h_tt."""

    value: Tensor
    slopes: tuple[Tensor, ...]
    residual: Tensor
    rates: tuple[Tensor, ...] = ()

    @property
    def streams(self) -> tuple[Tensor, ...]:
        return self.value, *self.slopes, self.residual, *self.rates

    def with_streams(self, streams: Sequence[Tensor]) -> "HeatJet":
        end = 1 + len(self.slopes)
        return HeatJet(streams[0], tuple(streams[1:end]), streams[end], tuple(streams[end + 1 :]))

    def activate(self, activation: Activation) -> "HeatJet":
        value, first, second = activation(self.value)
        squares = sum(p * p for p in self.slopes)
        for rate in self.rates:
            squares = squares - rate * rate
        slopes = tuple(first * p for p in self.slopes)
        rates = tuple(first * rate for rate in self.rates)
        return HeatJet(value, slopes, first * self.residual - second * squares, rates)


class MixedJet(NamedTuple):
    """h, h_x, h_t and m = c1 h_xt + c0 h_x with known c0, c1 at each point.

    After an activation m' = a'(h) m + c1 a''(h) h_x h_t. The residual of an output transform
    needs this for u_x(wall, t).
    """

    value: Tensor
    along_x: Tensor
    along_t: Tensor
    mixed: Tensor
    c1: Tensor

    @property
    def streams(self) -> tuple[Tensor, ...]:
        return self.value, self.along_x, self.along_t, self.mixed

    def with_streams(self, streams: Sequence[Tensor]) -> "MixedJet":
        value, along_x, along_t, mixed = streams
        return MixedJet(value, along_x, along_t, mixed, self.c1)

    def activate(self, activation: Activation) -> "MixedJet":
        value, first, second = activation(self.value)
        mixed = first * self.mixed + self.c1 * second * self.along_x * self.along_t
        return MixedJet(value, first * self.along_x, first * self.along_t, mixed, self.c1)


class SlopeJet(NamedTuple):
    """h and any number of first derivatives: all that predictions need."""

    value: Tensor
    slopes: tuple[Tensor, ...] = ()

    @property
    def streams(self) -> tuple[Tensor, ...]:
        return self.value, *self.slopes

    def with_streams(self, streams: Sequence[Tensor]) -> "SlopeJet":
        return SlopeJet(streams[0], tuple(streams[1:]))

    def activate(self, activation: Activation) -> "SlopeJet":
        value, first, _ = activation(self.value)
        return SlopeJet(value, tuple(first * p for p in self.slopes))


def linear(layer: Layer, jets: Sequence[Jet]) -> list[Any]:
    """All streams of all jets through one layer, as a single matrix product."""
    streams = [stream for jet in jets for stream in jet.streams]
    product = layer.weight @ torch.cat(streams, 1)
    mapped = iter(product.split([stream.shape[1] for stream in streams], 1))
    after = []
    for jet in jets:
        value, *others = (next(mapped) for _ in jet.streams)
        after.append(jet.with_streams([value + layer.bias, *others]))
    return after


def through_hidden(
    layers: Sequence[Layer], activation: Activation, jets: Sequence[Jet]
) -> list[Any]:
    """Jets before the first activation, carried through to after the last one."""
    jets = [jet.activate(activation) for jet in jets]
    for layer in layers:
        jets = [jet.activate(activation) for jet in linear(layer, jets)]
    return list(jets)
