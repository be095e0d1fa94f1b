"""How the walls u_x(0,t) = 0 = u_x(1,t) enter the model, and the model itself.

- `none`: the network of the (embedded) input; the walls are a term of the loss.
- `output_transform`, the existing constraint (equation 4):
  u = N - f_0(x) N_x(0,t) - f_1(x) N_x(1,t) with f_0 = x (1-x)^2 and f_1 = x^2 (x-1).
- `cosine_embedding`, the new one (equation 7): the network of cosine features, flat at both walls.
"""

import math
from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

from torch import Tensor

from neumann_pinn.embedding import Cosine, Embedding, Features
from neumann_pinn.jet import Activation, HeatJet, MixedJet, SlopeJet, tanh, through_hidden
from neumann_pinn.network import Layer, Network

Constraint = Literal["none", "output_transform", "cosine_embedding"]


class Interior(NamedTuple):
    """Features at the points: value, sqrt(D) d/dx and -D d2/dx2 of each, and the times (1 x n)."""

    value: Tensor
    slope: Tensor
    residual: Tensor
    t: Tensor


class Wall(NamedTuple):
    """Features at a wall (one column each); at the points, f, sqrt(D) f' and D f'' (1 x n each)."""

    value: Tensor
    slope: Tensor
    lift: Tensor
    lift_slope: Tensor
    lift_diffusion: Tensor


class Inputs(NamedTuple):
    """All that a model needs of some points, as constants; two walls for the output transform."""

    interior: Interior
    walls: tuple[Wall, ...]


class Outputs(NamedTuple):
    """u, sqrt(D) u_x and u_t - D u_xx at the points, each of length n."""

    value: Tensor
    slope: Tensor
    residual: Tensor


class GridWall(NamedTuple):
    """Features at a wall (one column each), and f at the grid's x."""

    value: Tensor
    slope: Tensor
    lift: Tensor


class Grid(NamedTuple):
    """All that a model needs to predict at the nodes of a grid, as constants."""

    features: Tensor
    walls: tuple[GridWall, ...]
    t: Tensor


@dataclass(frozen=True)
class Model:
    """A constraint with an embedding in front of a network: u(x, t) for given parameters."""

    constraint: Constraint
    embedding: Embedding
    width: int = 100
    depth: int = 3
    activation: Activation = tanh

    def __post_init__(self) -> None:
        if self.constraint not in get_args(Constraint):
            raise ValueError(
                f"constraint {self.constraint!r}: choose one of {', '.join(get_args(Constraint))}"
            )
        if self.constraint == "cosine_embedding" and not isinstance(self.embedding, Cosine):
            raise ValueError(
                "constraint 'cosine_embedding' needs a cosine embedding, "
                f"not {type(self.embedding).__name__}"
            )

    @property
    def network(self) -> Network:
        """The network behind the embedding; its inputs are the features followed by t."""
        return Network(self.embedding.size + 1, self.width, self.depth)

    @property
    def streams(self) -> int:
        """How many streams a point takes through the network."""
        return 11 if self.constraint == "output_transform" else 3

    def inputs(self, x: Tensor, t: Tensor, diffusivity: float) -> Inputs:
        """The constants of the points (x, t), in float64."""
        root = math.sqrt(diffusivity)
        value, first, second = self.embedding.features(x)
        interior = Interior(value, root * first, -diffusivity * second, t.double()[None, :])
        walls = (
            Wall(wall.value, wall.first, f.value, root * f.first, diffusivity * f.second)
            for wall, f in self._walls(x)
        )
        return Inputs(interior, tuple(walls))

    def outputs(self, theta: Tensor, inputs: Inputs) -> Outputs:
        """u, sqrt(D) u_x and the residual at the points of `inputs`, by collapsed jets."""
        first, *hidden, last = self.network.layers(theta)
        features, time = first.weight.split([self.embedding.size, 1], 1)
        at = inputs.interior
        along_t = time @ at.t + first.bias
        jets: list[HeatJet | MixedJet] = [
            HeatJet(
                features @ at.value + along_t,
                (features @ at.slope,),
                features @ at.residual + time,
            )
        ]
        for wall in inputs.walls:
            flux = features @ wall.slope
            value = features @ wall.value + along_t
            jets.append(MixedJet(value, flux, time, flux * wall.lift_diffusion, -wall.lift))
        heat, *at_walls = through_hidden(hidden, self.activation, jets)
        value = _read(last, heat.value) + last.bias[0]
        slope = _read(last, heat.slopes[0])
        residual = _read(last, heat.residual)
        for wall, jet in zip(inputs.walls, at_walls, strict=True):
            flux = _read(last, jet.along_x)
            value = value - wall.lift[0] * flux
            slope = slope - wall.lift_slope[0] * flux
            residual = residual + _read(last, jet.mixed)
        return Outputs(value, slope, residual)

    def grid(self, x: Tensor, t: Tensor) -> Grid:
        """The constants of the grid t x x, in float64."""
        walls = (GridWall(wall.value, wall.first, f.value) for wall, f in self._walls(x))
        return Grid(self.embedding.features(x).value, tuple(walls), t.double()[None, :])

    def predict(self, theta: Tensor, grid: Grid) -> Tensor:
        """U at the nodes of a grid, as a matrix t x x; the first layer is a sum over the axes."""
        first, *hidden, last = self.network.layers(theta)
        features, time = first.weight.split([self.embedding.size, 1], 1)
        along_t = time @ grid.t + first.bias
        along_x = features @ grid.features
        jets = [SlopeJet((along_t[:, :, None] + along_x[:, None, :]).flatten(1))]
        for wall in grid.walls:
            jets.append(SlopeJet(features @ wall.value + along_t, (features @ wall.slope,)))
        interior, *at_walls = through_hidden(hidden, self.activation, jets)
        u = (_read(last, interior.value) + last.bias[0]).view(grid.t.shape[1], -1)
        for wall, jet in zip(grid.walls, at_walls, strict=True):
            u = u - _read(last, jet.slopes[0])[:, None] * wall.lift
        return u

    def _walls(self, x: Tensor) -> list[tuple[Features, Features]]:
        """For each wall of an output transform its features, and f with f' and f'' at x."""
        if self.constraint != "output_transform":
            return []
        x = x.double()[None, :]
        left = Features(x * (1 - x) ** 2, (1 - x) * (1 - 3 * x), 6 * x - 4)
        right = Features(x**2 * (x - 1), x * (3 * x - 2), 6 * x - 2)
        at_left, at_right = (self.embedding.features(x.new_tensor([wall])) for wall in (0.0, 1.0))
        return [(at_left, left), (at_right, right)]


def _read(last: Layer, stream: Tensor) -> Tensor:
    """The output layer's product with a stream, without its bias."""
    return (last.weight.T * stream).sum(0)
