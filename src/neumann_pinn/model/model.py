"""The model: a network with its embeddings and constraint, and its residual by collapsed jets.

After either constraint, a lift and a factor (`walls.layers`) impose non-zero conditions at the
walls.
"""

import math
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor

from neumann_pinn.model.constraint import Constraint, check_constraint, count_streams
from neumann_pinn.model.jets import Activation, HeatJet, MixedJet, tanh, through_hidden
from neumann_pinn.model.network import Layer, Network, read_out
from neumann_pinn.model.streams import (
    Inputs,
    Nothing,
    Operator,
    Outputs,
    Streams,
    Wall,
    less_walls,
    plus,
    scaled,
    times,
)
from neumann_pinn.walls.axes import UNIT, Axis, Features, free_factor
from neumann_pinn.walls.embeddings import Embedding, Identity
from neumann_pinn.walls.layers import Function


@dataclass(frozen=True)
class Model:
    """A network after its embeddings, with a constraint: u for given parameters.

    The inputs are the space coordinates, each with its embedding, followed by t unless `steady`.
    """

    constraint: Constraint
    embeddings: tuple[Embedding, ...]
    width: int = 100
    depth: int = 3
    activation: Activation = tanh
    axes: tuple[Axis, ...] = (UNIT,)
    steady: bool = False
    lift: Function | None = None
    """Added to the network, for prescribed fluxes."""
    factor: Function | None = None
    """Multiplies the network, for Robin conditions."""
    free_term: bool = False
    """Whether to add a second network, of the coordinates, that does not change the held walls."""
    find_diffusivity: bool = False
    """Whether D is a parameter too: exp of the last one, times the D passed to `inputs`."""

    def __post_init__(self) -> None:
        check_constraint(self.constraint, self.embeddings, self.axes)

    @property
    def features(self) -> int:
        """The number of features of space that the network sees."""
        return sum(embedding.size for embedding in self.embeddings)

    @property
    def network(self) -> Network:
        """The network after the embeddings; its inputs are the features followed by t."""
        return Network(self.features + (not self.steady), self.width, self.depth)

    @property
    def free_network(self) -> Network:
        """The network of the free term; its inputs are the coordinates followed by t."""
        return Network(len(self.axes) + (not self.steady), self.width, self.depth)

    @property
    def streams(self) -> int:
        """The number of streams per point through the networks."""
        free = count_streams("none", self.axes) if self.free_term else 0
        return count_streams(self.constraint, self.axes) + free

    def initial(self, seed: int) -> Tensor:
        """The initial parameters for training, drawn in float64."""
        parts = [self.network.initial(seed)]
        if self.free_term:
            parts.append(self.free_network.initial(seed + 1))
        if self.find_diffusivity:
            parts.append(torch.zeros(1, dtype=torch.float64))
        return torch.cat(parts)

    def split(self, theta: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """The parameters of the network, of the free term's network, and the log of D's factor."""
        sizes = [
            self.network.parameters,
            self.free_network.parameters if self.free_term else 0,
            int(self.find_diffusivity),
        ]
        network, free, log_diffusivity = theta.split(sizes)
        return network, free, log_diffusivity

    def inputs(
        self,
        x: Tensor,
        t: Tensor | None,
        diffusivity: float,
        velocity: tuple[float, ...] = (),
    ) -> Inputs:
        """The constants at the points (x, t), in float64; x has the shape n or n x axes."""
        if not diffusivity > 0:
            raise ValueError(f"diffusivity {diffusivity}: give a positive number")
        if len(velocity) not in (0, len(self.axes)):
            raise ValueError(
                f"velocity {velocity}: give {len(self.axes)} numbers, one for each axis"
            )
        x = x.double().reshape(len(x), -1)
        t = torch.zeros_like(x[:, :0]) if t is None else t.double()[:, None]
        axes = len(self.axes)
        operator = Operator(diffusivity, velocity or (0.0,) * axes, axes, self.find_diffusivity)
        points = torch.cat((x, t), 1)

        def of_function(function: Function | None) -> Streams | Nothing:
            return operator.of_function(function, points) if function else ()

        coordinates = (
            operator.of_features(embedding.features(x[:, i]), i)
            for i, embedding in enumerate(self.embeddings)
        )
        walls = (
            Wall(at_wall.value, at_wall.first, operator.of_features(profile, 0))
            for at_wall, profile in self.wall_features(x[:, 0])
        )
        free = (operator.of_features(Identity().features(c), i) for i, c in enumerate(x.T))
        return Inputs(
            tuple(coordinates),
            t.T,
            x.new_full((1, 1), math.sqrt(diffusivity)),
            tuple(walls),
            of_function(self.lift),
            of_function(self.factor),
            of_function(partial(free_factor, self.axes) if self.free_term else None),
            tuple(free) if self.free_term else (),
        )

    def outputs(self, theta: Tensor, inputs: Inputs) -> Outputs:
        """u, its slopes and L u at the points of `inputs`, by collapsed jets."""
        network, free, log_diffusivity = self.split(theta)
        scale = log_diffusivity.exp() if self.find_diffusivity else None
        out = self._network_outputs(
            self.network.layers(network), inputs.coordinates, inputs.t, inputs.walls, scale
        )
        if inputs.factor:
            out = times(scaled(inputs.factor, scale), out)
        if inputs.free_factor:
            layers = self.free_network.layers(free)
            term = self._network_outputs(layers, inputs.free_coordinates, inputs.t, (), scale)
            out = plus(out, times(scaled(inputs.free_factor, scale), term))
        if inputs.lift:
            lift = scaled(inputs.lift, scale)
            known = Outputs(lift.value[0], lift.slopes.unbind(0), lift.operator[0])
            out = plus(out, known)
        root = inputs.root[0] if scale is None else inputs.root[0] * scale.sqrt()
        return Outputs(out.value, tuple(slope / root for slope in out.slopes), out.operator)

    def _network_outputs(
        self,
        layers: list[Layer],
        coordinates: tuple[Streams, ...],
        t: Tensor,
        walls: tuple[Wall, ...],
        scale: Tensor | None,
    ) -> Outputs:
        """A network's value, sqrt(D) times its slopes, and L, minus the wall profiles."""
        first, *hidden, last = layers
        sizes = [c.value.shape[0] for c in coordinates]
        *features, time = first.weight.split([*sizes, t.shape[0]], 1)
        along_t = time @ t + first.bias
        rate = time.sum(1, keepdim=True)
        value, operator, slopes = along_t, rate, []
        for weight, coordinate in zip(features, coordinates, strict=True):
            at = scaled(coordinate, scale)
            value = value + weight @ at.value
            operator = operator + weight @ at.operator
            slopes.append(weight @ at.slopes)
        jets: list[HeatJet | MixedJet] = [HeatJet(value, tuple(slopes), operator)]
        profiles = [scaled(wall.profile, scale) for wall in walls]
        for wall, profile in zip(walls, profiles, strict=True):
            flux = features[0] @ wall.slope
            at_wall = features[0] @ wall.value + along_t
            jets.append(MixedJet(at_wall, flux, rate, -flux * profile.operator, -profile.value))
        jets = through_hidden(hidden, self.activation, jets)
        read = [[read_out(last, stream) for stream in jet.streams] for jet in jets]
        own, *at_walls = read
        own[0] = own[0] + last.bias[0]
        fluxes, mixed = [flux for _, flux, _, _ in at_walls], [m for *_, m in at_walls]
        return less_walls(own, profiles, fluxes, mixed)

    def check_plain(self) -> None:
        """Reject models that only `inputs` and `outputs` support."""
        extras = self.lift or self.factor or self.free_term
        if extras or self.find_diffusivity or self.steady or len(self.axes) > 1:
            raise ValueError(
                "this is for a plain model on an interval: for others use `inputs` and `outputs`"
            )

    def wall_features(self, x: Tensor) -> list[tuple[Features, Features]]:
        """For each wall of an output transform, the features there and its profile at x."""
        if self.constraint != "output_transform":
            return []
        (axis,), (embedding,) = self.axes, self.embeddings
        return [
            (embedding.features(x.new_tensor([axis.wall(side)])), axis.profile(side, x[None, :]))
            for side in axis.held
        ]
