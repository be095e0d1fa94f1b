"""Passes through a model that keep what went into and came out of each layer.

Every stream passes through a layer on its own, so that a gradient is missing, and not zero, where
a number does not depend on a stream.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor

from neumann_pinn.model.jets import HeatJet, MixedJet
from neumann_pinn.model.model import Constants, NetworkModel, Passes
from neumann_pinn.model.network import Layer
from neumann_pinn.model.streams import Outputs, Streams, less_walls, scaled


class Trace(NamedTuple):
    """The streams before and after a layer; the bias is added to the first, the value."""

    before: tuple[Tensor, ...] = ()
    after: tuple[Tensor, ...] = ()
    is_output: bool = False


class TracedPasses(Passes):
    """Passes that are kept: the layers at the points and at the walls, in the parameters' order.

    What an output transform takes from the walls depends only on time. `at_walls` are, for each
    network that has one, its slopes and then their rates, with a row for each wall and a column for
    each of the distinct times; `seen` have a column for each point instead, picked by `columns`.
    """

    def __init__(self, size: int, device: torch.device) -> None:
        self.size = size
        self.points: list[Trace] = []
        self.walls: list[Trace] = []
        self.at_walls: list[Tensor] = []
        self.seen: list[Tensor] = []
        self.times = 0
        self.columns = torch.zeros(size, dtype=torch.int64, device=device)

    def network(
        self, part: NetworkModel, theta: Tensor, at: Constants, scale: Tensor | None
    ) -> Outputs:
        coordinates = [scaled(coordinate, scale) for coordinate in at.coordinates]
        layers = part.network.layers(theta)
        rate, operators = torch.ones_like(at.t), [c.operator for c in coordinates]
        nothing = [torch.zeros_like(operator) for operator in operators]
        second = part.order == 2
        own = HeatJet(
            torch.cat((*(c.value for c in coordinates), at.t)),
            tuple(self._slope(coordinates, i, at.t) for i in range(len(coordinates))),
            self._stacked(operators, 0 * rate if second else rate),
            (self._stacked(nothing, rate),) if second else (),
        )
        jet, points = _through(part, layers, own)
        out = Outputs(*jet)
        self.points += points
        if not at.walls:
            self.walls += [Trace()] * len(layers)
            return out
        times, self.columns = at.t[0].unique(return_inverse=True)
        self.times = len(times)
        jet, walls = _through(part, layers, _wall_jet(at, times))
        self.walls += walls
        numbers = [part.view(len(at.walls), self.times) for part in (jet.along_x, jet.mixed)]
        fluxes, rates = seen = [part[:, self.columns] for part in numbers]
        self.at_walls += numbers
        self.seen += seen
        profiles = [scaled(wall.profile, scale) for wall in at.walls]
        mixed = [
            -profile.operator[0] * flux - profile.value[0] * rate
            for profile, flux, rate in zip(profiles, fluxes, rates, strict=True)
        ]
        return less_walls(out, profiles, fluxes, mixed)

    def number(self, theta: Tensor) -> Tensor:
        """The number at each point: the bias of a layer without inputs."""
        at_points = theta[:, None].expand(1, self.size).clone()
        self.points.append(Trace((theta.new_zeros(0, self.size),), (at_points,)))
        self.walls.append(Trace())
        return at_points[0]

    def _slope(self, coordinates: list[Streams], i: int, t: Tensor) -> Tensor:
        """The slope of all features along one axis: zero but for those of that axis."""
        parts = [(k == i) * c.slopes for k, c in enumerate(coordinates)]
        return self._stacked(parts, torch.zeros_like(t))

    def _stacked(self, features: list[Tensor], t: Tensor) -> Tensor:
        """Streams of the features, stacked above that of t."""
        return torch.cat([part.expand(-1, self.size) for part in (*features, t)])


def _through(part: NetworkModel, layers: list[Layer], jet: Any) -> tuple[Any, list[Trace]]:
    """A jet through all layers: its streams as vectors of numbers, and the layers' traces."""
    traces = []
    for k, layer in enumerate(layers):
        if k:
            jet = jet.activate(part.activation)
        before = jet.streams
        value, *others = (layer.weight @ stream for stream in before)
        jet = jet.with_streams([value + layer.bias, *others])
        traces.append(Trace(before, jet.streams, layer is layers[-1]))
    return jet.with_streams([stream[0] for stream in jet.streams]), traces


def _wall_jet(at: Constants, times: Tensor) -> MixedJet:
    """All walls at all times, with m = h_xt."""
    n, features = len(times), len(at.walls[0].value)
    values = (torch.cat((wall.value.expand(-1, n), times[None])) for wall in at.walls)
    slopes = (
        torch.cat((wall.slope.expand(-1, n), torch.zeros_like(times[None]))) for wall in at.walls
    )
    value, slope = torch.cat(tuple(values), 1), torch.cat(tuple(slopes), 1)
    rate = torch.zeros_like(value)
    rate[features:] = 1
    return MixedJet(value, slope, rate, torch.zeros_like(value), torch.ones_like(value[:1]))
