"""The outputs of a plain model, with what went into and came out of each of its layers."""

from typing import Any, NamedTuple

import torch
from torch import Tensor

from neumann_pinn.model.jets import HeatJet, MixedJet, linear
from neumann_pinn.model.model import Model
from neumann_pinn.model.streams import Inputs, Outputs, Wall, less_walls


class Trace(NamedTuple):
    """The streams before and after a layer; the bias is added to the first, the value."""

    before: tuple[Tensor, ...]
    after: tuple[Tensor, ...]


class Traced(NamedTuple):
    """Outputs at some points, with the layers' traces at the points and at the walls.

    What an output transform takes from the walls depends only on time. `at_walls` has a row for the
    network's slope at each wall, then one for the rate of each slope, and a column for each
    distinct time; `seen` has a column for each point instead, picked by `columns`.
    """

    outputs: Outputs
    points: list[Trace]
    walls: list[Trace]
    at_walls: Tensor
    seen: Tensor
    columns: Tensor


def traced_outputs(model: Model, theta: Tensor, inputs: Inputs) -> Traced:
    """The outputs of a plain model, and what went into and came out of each layer."""
    model.check_plain()
    (coordinate,) = inputs.coordinates
    times, columns = inputs.t[0].unique(return_inverse=True)
    interior = HeatJet(
        torch.cat((coordinate.value, inputs.t)),
        (_above(coordinate.slopes, 0.0, len(columns)),),
        _above(coordinate.operator, 1.0, len(columns)),
    )
    jets: list[Any] = [interior, _wall_jet(inputs.walls, times, model.features)]
    traces = []
    for k, layer in enumerate(model.network.layers(theta)):
        if k:
            jets = [jet.activate(model.activation) for jet in jets]
        before, jets = jets, [linear(layer, [jet])[0] for jet in jets]
        pairs = zip(before, jets, strict=True)
        traces.append([Trace(jet.streams, after.streams) for jet, after in pairs])
    points, walls = (list(layers) for layers in zip(*traces, strict=True))
    own, (_, slope, _, rate) = ([stream[0] for stream in jet.streams] for jet in jets)
    at_walls = torch.cat((slope, rate)).view(2 * len(inputs.walls), len(times))
    seen = at_walls[:, columns]
    slopes, rates = (list(half) for half in seen.tensor_split(2))
    profiles = [wall.profile for wall in inputs.walls]
    mixed = [
        -profile.operator[0] * slope - profile.value[0] * rate
        for profile, slope, rate in zip(profiles, slopes, rates, strict=True)
    ]
    out = less_walls(own, profiles, slopes, mixed)
    along = tuple(slope / inputs.root[0] for slope in out.slopes)
    outputs = Outputs(out.value, along, out.operator)
    return Traced(outputs, points, walls, at_walls, seen, columns)


def _wall_jet(walls: tuple[Wall, ...], times: Tensor, features: int) -> MixedJet:
    """All walls at all times, with m = h_xt; no columns if there are no walls."""
    n = len(times)
    none = times.new_zeros(features + 1, 0)
    values = (torch.cat((wall.value.expand(-1, n), times[None])) for wall in walls)
    slopes = (_above(wall.slope, 0.0, n) for wall in walls)
    value, slope = torch.cat((none, *values), 1), torch.cat((none, *slopes), 1)
    rate = _above(times.new_zeros(features, 1), 1.0, len(walls) * n)
    return MixedJet(value, slope, rate, torch.zeros_like(value), torch.ones_like(value[:1]))


def _above(features: Tensor, t: float, n: int) -> Tensor:
    """Streams of the features, stacked above the constant stream of t."""
    return torch.cat((features.expand(-1, n), features.new_full((1, n), t)))
