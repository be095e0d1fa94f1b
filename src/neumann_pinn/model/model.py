"""Models: networks with their walls, and what may be wrapped around them.

A model is one unknown u for given parameters theta, one flat vector, or several of them side by
side. `NetworkModel` is a network of embedded coordinates with a constraint. Others wrap it:
`Factored` and `Lifted` impose conditions at the walls that are not zero, `Sum` adds a free term,
`UnknownDiffusivity` makes D a parameter. Each knows its constants at given points, and how u, its
slopes and L u follow from those by jets. `Coupled` joins several unknowns.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor

from neumann_pinn.model.constraints import Constraint, count_streams
from neumann_pinn.model.jets import Activation, HeatJet, MixedJet, SlopeJet, tanh, through_hidden
from neumann_pinn.model.network import Network, read_out
from neumann_pinn.model.streams import (
    Operator,
    Outputs,
    Streams,
    Wall,
    less_walls,
    plus,
    scaled,
    times,
)
from neumann_pinn.problems.points import grid_points
from neumann_pinn.walls.axes import UNIT, Axis, Features
from neumann_pinn.walls.embeddings import Embedding
from neumann_pinn.walls.layers import Function


class Inputs(NamedTuple):
    """All constants that a model needs at some points, and sqrt(D) (1 x 1)."""

    constants: Any
    root: Tensor


class Model(ABC):
    """One or more unknowns for given parameters."""

    @property
    @abstractmethod
    def fields(self) -> tuple[Field, ...]:
        """The unknowns."""

    @abstractmethod
    def split(self, theta: Tensor) -> tuple[Tensor, ...]:
        """The parameters of each unknown."""

    @property
    @abstractmethod
    def parts(self) -> tuple[NetworkModel, ...]:
        """The networks in it, in the order of their parameters."""

    @property
    def held_by(self) -> Constraint:
        """The constraint, which says what holds for any parameters."""
        return self.parts[0].constraint

    @property
    def streams(self) -> int:
        """The number of streams per point through all networks."""
        return sum(count_streams(part.constraint, part.axes, part.order) for part in self.parts)

    @abstractmethod
    def initial(self, seed: int) -> Tensor:
        """The initial parameters for training, drawn in float64."""

    @abstractmethod
    def nodes(self, x: Tensor, t: Tensor) -> Any:
        """All that it needs to predict at places x (n x axes) and times t (m)."""

    @abstractmethod
    def values(self, theta: Tensor, nodes: Any) -> Tensor:
        """The solution as a matrix: times x places, those of one unknown after another."""


class Field(Model):
    """One unknown u for given parameters."""

    @property
    @abstractmethod
    def axes(self) -> tuple[Axis, ...]:
        """The space coordinates."""

    @property
    @abstractmethod
    def order(self) -> int:
        """The order of the equation in time; unless it is 0, t follows the space coordinates."""

    @property
    def steady(self) -> bool:
        """Whether there is no time."""
        return self.order == 0

    @property
    def fields(self) -> tuple[Field, ...]:
        return (self,)

    def split(self, theta: Tensor) -> tuple[Tensor, ...]:
        return (theta,)

    @abstractmethod
    def constants(self, points: Tensor, operator: Operator) -> Any:
        """All that it needs at points (n x coordinates), a tree of tensors."""

    @abstractmethod
    def scaled_outputs(
        self, theta: Tensor, constants: Any, passes: Passes, scale: Tensor | None
    ) -> Outputs:
        """u, sqrt(D) times its slopes, and L u; `scale` multiplies the D of the constants."""

    def inputs(
        self, points: Tensor, diffusivity: float, velocity: tuple[float, ...] = ()
    ) -> Inputs:
        """The constants at points (n x coordinates), in float64."""
        if not diffusivity > 0:
            raise ValueError(f"diffusivity {diffusivity}: give a positive number")
        axes = len(self.axes)
        if len(velocity) not in (0, axes):
            raise ValueError(f"velocity {velocity}: give {axes} numbers, one for each axis")
        columns = axes + (not self.steady)
        if points.ndim != 2 or points.shape[1] != columns:
            raise ValueError(
                f"points of shape {tuple(points.shape)}: give rows of {columns} coordinates"
            )
        points = points.double()
        operator = Operator(diffusivity, velocity or (0.0,) * axes, self.order)
        root = points.new_full((1, 1), math.sqrt(diffusivity))
        return Inputs(self.constants(points, operator), root)

    def outputs(self, theta: Tensor, inputs: Inputs, passes: Passes | None = None) -> Outputs:
        """u, its slopes u_i and L u at the points of `inputs`, by collapsed jets."""
        out = self.scaled_outputs(theta, inputs.constants, passes or Passes(), None)
        slopes = tuple(slope / inputs.root[0] for slope in out.slopes)
        return out._replace(slopes=slopes)


class Passes:
    """How points pass through a model: here as fast as a gradient of their sum allows."""

    def network(
        self, part: NetworkModel, theta: Tensor, at: Constants, scale: Tensor | None
    ) -> Outputs:
        """The streams of a network with its constraint."""
        first, *hidden, last = part.network.layers(theta)
        sizes = [c.value.shape[0] for c in at.coordinates]
        *features, time = first.weight.split([*sizes, at.t.shape[0]], 1)
        along_t = time @ at.t + first.bias
        rate = time.sum(1, keepdim=True)
        value, slopes = along_t, []
        operator, rates = (0 * rate, (rate,)) if part.order == 2 else (rate, ())
        for weight, coordinate in zip(features, at.coordinates, strict=True):
            known = scaled(coordinate, scale)
            value = value + weight @ known.value
            operator = operator + weight @ known.operator
            slopes.append(weight @ known.slopes)
        jets: list[Any] = [HeatJet(value, tuple(slopes), operator, rates)]
        profiles = [scaled(wall.profile, scale) for wall in at.walls]
        for wall, profile in zip(at.walls, profiles, strict=True):
            flux = features[0] @ wall.slope
            at_wall = features[0] @ wall.value + along_t
            jets.append(MixedJet(at_wall, flux, rate, -flux * profile.operator, -profile.value))
        jets = through_hidden(hidden, part.activation, jets)
        inside, *walls = (
            jet.with_streams([read_out(last, s) for s in jet.streams]) for jet in jets
        )
        own = Outputs(inside.value + last.bias[0], *inside[1:])
        return less_walls(own, profiles, [w.along_x for w in walls], [w.mixed for w in walls])

    def number(self, theta: Tensor) -> Tensor:
        """A parameter that is the same at all points."""
        return theta


class Constants(NamedTuple):
    """What a network needs at some points.

    Features of each space coordinate (`slopes` along that one only), times (1 x n, none if
    steady), and the walls of an output transform.
    """

    coordinates: tuple[Streams, ...]
    t: Tensor
    walls: tuple[Wall, ...]


class NodeWall(NamedTuple):
    """Features and slopes at a wall (one column each), and its profile f at the places."""

    value: Tensor
    slope: Tensor
    lift: Tensor


class Nodes(NamedTuple):
    """What a network needs to predict: features of the places, walls, and times (1 x m)."""

    features: Tensor
    walls: tuple[NodeWall, ...]
    t: Tensor


@dataclass(frozen=True)
class NetworkModel(Field):
    """A network after its embeddings, one for each axis, with a constraint."""

    constraint: Constraint
    embeddings: tuple[Embedding, ...]
    width: int = 100
    depth: int = 3
    activation: Activation = tanh
    axes: tuple[Axis, ...] = (UNIT,)
    order: int = 1

    def __post_init__(self) -> None:
        self.constraint.check(self.embeddings, self.axes, self.order)

    @property
    def parts(self) -> tuple[NetworkModel, ...]:
        return (self,)

    @property
    def features(self) -> int:
        """The number of features of space that the network sees."""
        return sum(embedding.size for embedding in self.embeddings)

    @property
    def network(self) -> Network:
        """The network after the embeddings; its inputs are the features followed by t."""
        return Network(self.features + (not self.steady), self.width, self.depth)

    def initial(self, seed: int) -> Tensor:
        return self.network.initial(seed)

    def constants(self, points: Tensor, operator: Operator) -> Constants:
        x, t = points.tensor_split((len(self.axes),), 1)
        coordinates = (
            operator.of_features(embedding.features(x[:, i]), i)
            for i, embedding in enumerate(self.embeddings)
        )
        walls = (
            Wall(at_wall.value, at_wall.first, operator.of_features(profile, 0))
            for at_wall, profile in self._walls(x[:, 0])
        )
        return Constants(tuple(coordinates), t.T, tuple(walls))

    def scaled_outputs(
        self, theta: Tensor, constants: Constants, passes: Passes, scale: Tensor | None
    ) -> Outputs:
        return passes.network(self, theta, constants, scale)

    def nodes(self, x: Tensor, t: Tensor) -> Nodes:
        x = x.double()
        features = [e.features(x[:, i]).value for i, e in enumerate(self.embeddings)]
        walls = (
            NodeWall(at_wall.value, at_wall.first, profile.value)
            for at_wall, profile in self._walls(x[:, 0])
        )
        times = t.double()[None, :]
        return Nodes(torch.cat(features), tuple(walls), times[:0] if self.steady else times)

    def values(self, theta: Tensor, nodes: Nodes) -> Tensor:
        first, *hidden, last = self.network.layers(theta)
        features, time = first.weight.split([self.features, len(nodes.t)], 1)
        along_t = time @ nodes.t + first.bias
        along_x = features @ nodes.features
        jets = [SlopeJet((along_t[:, :, None] + along_x[:, None, :]).flatten(1))]
        for wall in nodes.walls:
            jets.append(SlopeJet(features @ wall.value + along_t, (features @ wall.slope,)))
        interior, *at_walls = through_hidden(hidden, self.activation, jets)
        u = (read_out(last, interior.value) + last.bias[0]).view(nodes.t.shape[1], -1)
        for wall, jet in zip(nodes.walls, at_walls, strict=True):
            u = u - read_out(last, jet.slopes[0])[:, None] * wall.lift
        return u

    def _walls(self, x: Tensor) -> list[tuple[Features, Features]]:
        """For each wall that is corrected, the features there and its profile at x."""
        return [
            (
                self.embeddings[0].features(x.new_tensor([self.axes[0].wall(side)])),
                self.axes[0].profile(side, x[None, :]),
            )
            for side in self.constraint.corrected(self.axes)
        ]


class WithFunction(NamedTuple):
    """The constants of a model and of a known function beside it."""

    inner: Any
    function: Any


@dataclass(frozen=True)
class Wrapper(Field):
    """A model around another one, whose coordinates and networks it has."""

    inner: Field

    @property
    def axes(self) -> tuple[Axis, ...]:
        return self.inner.axes

    @property
    def order(self) -> int:
        return self.inner.order

    @property
    def parts(self) -> tuple[NetworkModel, ...]:
        return self.inner.parts

    def initial(self, seed: int) -> Tensor:
        return self.inner.initial(seed)


@dataclass(frozen=True)
class _WithFunction(Wrapper):
    """A model and a known function of the coordinates."""

    function: Function

    def constants(self, points: Tensor, operator: Operator) -> WithFunction:
        known = operator.of_function(self.function, points)
        return WithFunction(self.inner.constants(points, operator), known)

    def nodes(self, x: Tensor, t: Tensor) -> WithFunction:
        known = self.function(grid_points(x, t, self.steady)).view(len(t), len(x))
        return WithFunction(self.inner.nodes(x, t), known)


class Factored(_WithFunction):
    """A model times a known function, for Robin conditions."""

    def scaled_outputs(
        self, theta: Tensor, constants: WithFunction, passes: Passes, scale: Tensor | None
    ) -> Outputs:
        out = self.inner.scaled_outputs(theta, constants.inner, passes, scale)
        return times(scaled(constants.function, scale), out)

    def values(self, theta: Tensor, nodes: WithFunction) -> Tensor:
        return nodes.function * self.inner.values(theta, nodes.inner)


class Lifted(_WithFunction):
    """A model plus a known function, for prescribed fluxes."""

    def scaled_outputs(
        self, theta: Tensor, constants: WithFunction, passes: Passes, scale: Tensor | None
    ) -> Outputs:
        out = self.inner.scaled_outputs(theta, constants.inner, passes, scale)
        lift = scaled(constants.function, scale)
        known = Outputs(lift.value[0], lift.slopes.unbind(0), lift.operator[0], tuple(lift.rates))
        return plus(out, known)

    def values(self, theta: Tensor, nodes: WithFunction) -> Tensor:
        return nodes.function + self.inner.values(theta, nodes.inner)


class Two(NamedTuple):
    """The constants of two models."""

    one: Any
    other: Any


@dataclass(frozen=True)
class Sum(Wrapper):
    """The sum of two models of the same coordinates."""

    other: Field

    @property
    def parts(self) -> tuple[NetworkModel, ...]:
        return self.inner.parts + self.other.parts

    def initial(self, seed: int) -> Tensor:
        return torch.cat((self.inner.initial(seed), self.other.initial(seed + 1)))

    def constants(self, points: Tensor, operator: Operator) -> Two:
        return Two(self.inner.constants(points, operator), self.other.constants(points, operator))

    def scaled_outputs(
        self, theta: Tensor, constants: Two, passes: Passes, scale: Tensor | None
    ) -> Outputs:
        one, other = self._halves(theta)
        return plus(
            self.inner.scaled_outputs(one, constants.one, passes, scale),
            self.other.scaled_outputs(other, constants.other, passes, scale),
        )

    def nodes(self, x: Tensor, t: Tensor) -> Two:
        return Two(self.inner.nodes(x, t), self.other.nodes(x, t))

    def values(self, theta: Tensor, nodes: Two) -> Tensor:
        one, other = self._halves(theta)
        return self.inner.values(one, nodes.one) + self.other.values(other, nodes.other)

    def _halves(self, theta: Tensor) -> tuple[Tensor, ...]:
        size = sum(part.network.parameters for part in self.inner.parts)
        return theta.tensor_split((size,))


class UnknownDiffusivity(Wrapper):
    """A model whose D is a parameter, the first one: the log of its ratio to the given D."""

    def initial(self, seed: int) -> Tensor:
        return torch.cat((torch.zeros(1, dtype=torch.float64), self.inner.initial(seed)))

    def constants(self, points: Tensor, operator: Operator) -> Any:
        return self.inner.constants(points, operator._replace(separate=True))

    def scaled_outputs(
        self, theta: Tensor, constants: Any, passes: Passes, scale: Tensor | None
    ) -> Outputs:
        ratio = passes.number(theta[:1]).exp()
        out = self.inner.scaled_outputs(theta[1:], constants, passes, ratio)
        return out._replace(slopes=tuple(slope / ratio.sqrt() for slope in out.slopes))

    def nodes(self, x: Tensor, t: Tensor) -> Any:
        return self.inner.nodes(x, t)

    def values(self, theta: Tensor, nodes: Any) -> Tensor:
        return self.inner.values(theta[1:], nodes)


@dataclass(frozen=True)
class Coupled(Model):
    """Several unknowns, each a model with parameters of its own."""

    unknowns: tuple[Field, ...]

    @property
    def fields(self) -> tuple[Field, ...]:
        return self.unknowns

    @property
    def parts(self) -> tuple[NetworkModel, ...]:
        return tuple(part for field in self.fields for part in field.parts)

    def split(self, theta: Tensor) -> tuple[Tensor, ...]:
        sizes = [sum(part.network.parameters for part in field.parts) for field in self.fields]
        return theta.split(sizes)

    def initial(self, seed: int) -> Tensor:
        first = seed * len(self.fields)
        return torch.cat([field.initial(first + k) for k, field in enumerate(self.fields)])

    def nodes(self, x: Tensor, t: Tensor) -> tuple[Any, ...]:
        return tuple(field.nodes(x, t) for field in self.fields)

    def values(self, theta: Tensor, nodes: tuple[Any, ...]) -> Tensor:
        parts = zip(self.fields, self.split(theta), nodes, strict=True)
        return torch.cat([field.values(own, at) for field, own, at in parts], 1)
