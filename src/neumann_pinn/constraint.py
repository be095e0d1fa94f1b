"""How the walls enter the model, and the model itself, with its residual by collapsed jets.

- `none`: the network of the (embedded) inputs; the walls are a term of the loss.
- `output_transform`, the existing constraint (equation 4):
  u = N - sum over walls of f N_x(wall, t), with the wall profiles f of an axis.
- `cosine_embedding`, the new one (equation 7): the network of cosine features, flat at the walls.

Behind either constraint, a lift and a factor (`layers.FluxLift`, `layers.RobinLift`) prescribe what
else than zero shall hold at the walls. The model's derivatives are those of the operator

    L u = u_t - D sum_i u_ii + sum_i c_i u_i.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, NamedTuple, get_args

import torch
from torch import Tensor

from neumann_pinn.axis import UNIT, Axis, Features, free_factor
from neumann_pinn.embedding import Cosine, Embedding, Identity
from neumann_pinn.jet import Activation, HeatJet, MixedJet, SlopeJet, linear, tanh, through_hidden
from neumann_pinn.network import Layer, Network

Constraint = Literal["none", "output_transform", "cosine_embedding"]
Nothing = tuple[()]
Function = Callable[[Tensor], Tensor]
"""A function of points (n x inputs) with a number for each."""


class Streams(NamedTuple):
    """A known function at the points: value, sqrt(D) d/dx_i, and L, each with a column a point.

    `diffusion` is the part of L that is proportional to D, if D is to be found; else it is empty
    and that part is in `operator`.
    """

    value: Tensor
    slopes: Tensor
    operator: Tensor
    diffusion: Tensor | Nothing = ()


class Wall(NamedTuple):
    """Features at a wall (one column each); at the points, its profile f and L f without f_t."""

    value: Tensor
    slope: Tensor
    profile: Streams


class Inputs(NamedTuple):
    """All that a model needs of some points, as constants.

    Features of each space coordinate (`slopes` along that one alone), times (1 x n, none if
    steady), sqrt(D) (1 x 1), the walls of an output transform, and lift, factor, the factor of the
    free term, and the space coordinates that its network sees, where the model has them.
    """

    coordinates: tuple[Streams, ...]
    t: Tensor
    root: Tensor
    walls: tuple[Wall, ...] = ()
    lift: Streams | Nothing = ()
    factor: Streams | Nothing = ()
    free_factor: Streams | Nothing = ()
    free_coordinates: tuple[Streams, ...] = ()


class Outputs(NamedTuple):
    """u, its slopes u_i, and L u at the points, each of length n."""

    value: Tensor
    slopes: tuple[Tensor, ...]
    operator: Tensor


class Trace(NamedTuple):
    """The streams in front of and behind a layer; the bias joins the first, the value."""

    before: tuple[Tensor, ...]
    behind: tuple[Tensor, ...]


class Traced(NamedTuple):
    """Outputs at some points, and how they came about: the layers' traces at points and walls.

    What an output transform takes from the walls depends on the time alone. `at_walls` has a row
    for the network's slope at each wall, then one for the slope's rate at each, and a column for
    each different time; `seen` is the same with a column for each point, the one in `columns`.
    """

    outputs: Outputs
    points: list[Trace]
    walls: list[Trace]
    at_walls: Tensor
    seen: Tensor
    columns: Tensor


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
    """A constraint with embeddings in front of a network: u for given parameters.

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
    """What is added to the network: the prescribed fluxes."""
    factor: Function | None = None
    """What multiplies the network: Robin conditions."""
    free_term: bool = False
    """Whether a second network is added, which sees the coordinates, and no held wall sees it."""
    find_diffusivity: bool = False
    """Whether D is a parameter too: exp of the last one, times the D that `inputs` is given."""

    def __post_init__(self) -> None:
        if self.constraint not in get_args(Constraint):
            raise ValueError(
                f"constraint {self.constraint!r}: choose one of {', '.join(get_args(Constraint))}"
            )
        if len(self.embeddings) != len(self.axes):
            raise ValueError(
                f"{len(self.embeddings)} embeddings on {len(self.axes)} axes: give one for each"
            )
        if self.constraint == "cosine_embedding":
            for embedding, axis in zip(self.embeddings, self.axes, strict=True):
                if axis.held and not (isinstance(embedding, Cosine) and embedding.axis == axis):
                    raise ValueError(
                        f"constraint 'cosine_embedding' needs a cosine embedding of {axis}, "
                        f"not {embedding}"
                    )
        if self.constraint == "output_transform" and len(self.axes) > 1:
            raise ValueError(
                "constraint 'output_transform' holds the walls of an interval, "
                f"not of {len(self.axes)} axes: choose cosine_embedding"
            )

    @property
    def features(self) -> int:
        """How many features of space the network sees."""
        return sum(embedding.size for embedding in self.embeddings)

    @property
    def network(self) -> Network:
        """The network behind the embeddings; its inputs are the features followed by t."""
        return Network(self.features + (not self.steady), self.width, self.depth)

    @property
    def free_network(self) -> Network:
        """The network of the free term; its inputs are the coordinates followed by t."""
        return Network(len(self.axes) + (not self.steady), self.width, self.depth)

    @property
    def streams(self) -> int:
        """How many streams a point takes through the networks."""
        heat = 2 + len(self.axes)
        walls = 4 * len(self.axes[0].held) if self.constraint == "output_transform" else 0
        return heat + walls + (heat if self.free_term else 0)

    def initial(self, seed: int) -> Tensor:
        """The parameters that a training starts from, drawn in float64."""
        parts = [self.network.initial(seed)]
        if self.free_term:
            parts.append(self.free_network.initial(seed + 1))
        if self.find_diffusivity:
            parts.append(torch.zeros(1, dtype=torch.float64))
        return torch.cat(parts)

    def split(self, theta: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """The parameters of the network, of the free term's network, and the logarithm of D."""
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
        """The constants of the points (x, t), in float64; x is of length n or n x axes."""
        if not diffusivity > 0:
            raise ValueError(f"diffusivity {diffusivity}: give a positive number")
        if len(velocity) not in (0, len(self.axes)):
            raise ValueError(f"velocity {velocity}: give {len(self.axes)} numbers, one an axis")
        x = x.double().reshape(len(x), -1)
        t = torch.zeros_like(x[:, :0]) if t is None else t.double()[:, None]
        operator = _Operator(diffusivity, velocity or (0.0,) * len(self.axes), self)
        points = torch.cat((x, t), 1)

        def of_function(function: Function | None) -> Streams | Nothing:
            return operator.of_function(function, points) if function else ()

        coordinates = (
            operator.of_features(embedding.features(x[:, i]), i)
            for i, embedding in enumerate(self.embeddings)
        )
        walls = (
            Wall(at_wall.value, at_wall.first, operator.of_features(profile, 0))
            for at_wall, profile in self._walls(x[:, 0])
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
            out = _times(_scaled(inputs.factor, scale), out)
        if inputs.free_factor:
            layers = self.free_network.layers(free)
            term = self._network_outputs(layers, inputs.free_coordinates, inputs.t, (), scale)
            out = _plus(out, _times(_scaled(inputs.free_factor, scale), term))
        if inputs.lift:
            lift = _scaled(inputs.lift, scale)
            known = Outputs(lift.value[0], lift.slopes.unbind(0), lift.operator[0])
            out = _plus(out, known)
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
        """A network's value, sqrt(D) times its slopes and L, less the profiles of walls."""
        first, *hidden, last = layers
        sizes = [c.value.shape[0] for c in coordinates]
        *features, time = first.weight.split([*sizes, t.shape[0]], 1)
        along_t = time @ t + first.bias
        rate = time.sum(1, keepdim=True)
        value, operator, slopes = along_t, rate, []
        for weight, coordinate in zip(features, coordinates, strict=True):
            at = _scaled(coordinate, scale)
            value = value + weight @ at.value
            operator = operator + weight @ at.operator
            slopes.append(weight @ at.slopes)
        jets: list[HeatJet | MixedJet] = [HeatJet(value, tuple(slopes), operator)]
        profiles = [_scaled(wall.profile, scale) for wall in walls]
        for wall, profile in zip(walls, profiles, strict=True):
            flux = features[0] @ wall.slope
            at_wall = features[0] @ wall.value + along_t
            jets.append(MixedJet(at_wall, flux, rate, -flux * profile.operator, -profile.value))
        jets = through_hidden(hidden, self.activation, jets)
        read = [[_read(last, stream) for stream in jet.streams] for jet in jets]
        own, *at_walls = read
        own[0] = own[0] + last.bias[0]
        fluxes, mixed = [flux for _, flux, _, _ in at_walls], [m for *_, m in at_walls]
        return _less_walls(own, profiles, fluxes, mixed)

    def traced_outputs(self, theta: Tensor, inputs: Inputs) -> Traced:
        """The outputs of a model of one network, and what went into and came out of each layer."""
        self._check_plain()
        (coordinate,) = inputs.coordinates
        times, columns = inputs.t[0].unique(return_inverse=True)
        interior = HeatJet(
            torch.cat((coordinate.value, inputs.t)),
            (_above(coordinate.slopes, 0.0, len(columns)),),
            _above(coordinate.operator, 1.0, len(columns)),
        )
        jets: list[Any] = [interior, _wall_jet(inputs.walls, times, self.features)]
        traces = []
        for k, layer in enumerate(self.network.layers(theta)):
            if k:
                jets = [jet.activate(self.activation) for jet in jets]
            before, jets = jets, [linear(layer, [jet])[0] for jet in jets]
            pairs = zip(before, jets, strict=True)
            traces.append([Trace(jet.streams, behind.streams) for jet, behind in pairs])
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
        out = _less_walls(own, profiles, slopes, mixed)
        along = tuple(slope / inputs.root[0] for slope in out.slopes)
        outputs = Outputs(out.value, along, out.operator)
        return Traced(outputs, points, walls, at_walls, seen, columns)

    def grid(self, x: Tensor, t: Tensor) -> Grid:
        """The constants of the grid t x x on an interval, in float64."""
        self._check_plain()
        walls = (
            GridWall(at_wall.value, at_wall.first, profile.value)
            for at_wall, profile in self._walls(x.double())
        )
        return Grid(self.embeddings[0].features(x).value, tuple(walls), t.double()[None, :])

    def predict(self, theta: Tensor, grid: Grid) -> Tensor:
        """U at the nodes of a grid, as a matrix t x x; the first layer is a sum over the axes."""
        first, *hidden, last = self.network.layers(theta)
        features, time = first.weight.split([self.features, 1], 1)
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

    def _check_plain(self) -> None:
        """Refuse what only `inputs` and `outputs` know how to deal with."""
        behind = self.lift or self.factor or self.free_term
        if behind or self.find_diffusivity or self.steady or len(self.axes) > 1:
            raise ValueError(
                "this is for a plain model on an interval: for others use `inputs` and `outputs`"
            )

    def _walls(self, x: Tensor) -> list[tuple[Features, Features]]:
        """For each wall of an output transform its features, and its profile at x."""
        if self.constraint != "output_transform":
            return []
        (axis,), (embedding,) = self.axes, self.embeddings
        return [
            (embedding.features(x.new_tensor([axis.wall(side)])), axis.profile(side, x[None, :]))
            for side in axis.held
        ]


class Derivatives(NamedTuple):
    """A function at n points: value, slopes (n x axes), d/dt and Laplacian."""

    value: Tensor
    slopes: Tensor
    rate: Tensor
    laplacian: Tensor


def derivatives(function: Function, points: Tensor, axes: int) -> Derivatives:
    """The derivatives of any function of space and time, by nested autograd."""
    points = points.detach().requires_grad_()
    with torch.enable_grad():
        value = function(points)
        gradient = _gradient(value, points)
        slopes, rate = gradient[:, :axes], gradient[:, axes:].sum(1)
        seconds = [_gradient(slopes[:, i], points)[:, i] for i in range(axes)]
    parts = (value, slopes, rate, torch.stack(seconds).sum(0))
    return Derivatives(*(part.detach() for part in parts))


class _Operator(NamedTuple):
    """L applied to known functions, with the part that is proportional to D apart if need be."""

    diffusivity: float
    velocity: tuple[float, ...]
    model: Model

    def of_features(self, features: Features, i: int) -> Streams:
        """Of functions of one space coordinate."""
        drift = self.velocity[i] * features.first
        diffusion = -self.diffusivity * features.second
        return self._streams(features.value, features.first, drift, diffusion)

    def of_function(self, function: Function, points: Tensor) -> Streams:
        """Of any function of the points, by nested autograd."""
        at = derivatives(function, points, len(self.model.axes))
        drift = at.rate + at.slopes @ at.slopes.new_tensor(self.velocity)
        diffusion = -self.diffusivity * at.laplacian
        return self._streams(at.value[None], at.slopes.T, drift[None], diffusion[None])

    def _streams(self, value: Tensor, slopes: Tensor, drift: Tensor, diffusion: Tensor) -> Streams:
        slopes = math.sqrt(self.diffusivity) * slopes
        if self.model.find_diffusivity:
            return Streams(value, slopes, drift, diffusion)
        return Streams(value, slopes, drift + diffusion)


def _gradient(value: Tensor, points: Tensor) -> Tensor:
    if not value.requires_grad:
        return torch.zeros_like(points)
    (gradient,) = torch.autograd.grad(
        value.sum(), points, create_graph=True, materialize_grads=True
    )
    return gradient


def _scaled(streams: Streams, scale: Tensor | None) -> Streams:
    """Streams for another D; `scale` is its ratio to the one that they were made for."""
    if scale is None or isinstance(streams.diffusion, tuple):
        return streams
    operator = streams.operator + scale * streams.diffusion
    return Streams(streams.value, scale.sqrt() * streams.slopes, operator)


def _times(m: Streams, out: Outputs) -> Outputs:
    """A product with m; slopes carry sqrt(D), and L(m u) = m L u + u L m - 2 D grad m . grad u."""
    pairs = list(zip(m.slopes.unbind(0), out.slopes, strict=True))
    cross = torch.stack([along_m * along_u for along_m, along_u in pairs]).sum(0)
    return Outputs(
        m.value[0] * out.value,
        tuple(m.value[0] * along_u + along_m * out.value for along_m, along_u in pairs),
        m.value[0] * out.operator + m.operator[0] * out.value - 2 * cross,
    )


def _plus(one: Outputs, other: Outputs) -> Outputs:
    slopes = tuple(a + b for a, b in zip(one.slopes, other.slopes, strict=True))
    return Outputs(one.value + other.value, slopes, one.operator + other.operator)


def _less_walls(
    own: list[Tensor], profiles: list[Streams], fluxes: list[Tensor], mixed: list[Tensor]
) -> Outputs:
    """A network's own output less the profiles of walls times its fluxes there.

    `mixed` is what that adds to L.
    """
    u, *along, operator = own
    for profile, flux, more in zip(profiles, fluxes, mixed, strict=True):
        u = u - profile.value[0] * flux
        along[0] = along[0] - profile.slopes[0] * flux
        operator = operator + more
    return Outputs(u, tuple(along), operator)


def _wall_jet(walls: tuple[Wall, ...], times: Tensor, features: int) -> MixedJet:
    """All walls at all times side by side, with m = h_xt; without walls there are no columns."""
    n = len(times)
    none = times.new_zeros(features + 1, 0)
    values = (torch.cat((wall.value.expand(-1, n), times[None])) for wall in walls)
    slopes = (_above(wall.slope, 0.0, n) for wall in walls)
    value, slope = torch.cat((none, *values), 1), torch.cat((none, *slopes), 1)
    rate = _above(times.new_zeros(features, 1), 1.0, len(walls) * n)
    return MixedJet(value, slope, rate, torch.zeros_like(value), torch.ones_like(value[:1]))


def _above(features: Tensor, t: float, n: int) -> Tensor:
    """Streams of the features above the constant one of t."""
    return torch.cat((features.expand(-1, n), features.new_full((1, n), t)))


def _read(last: Layer, stream: Tensor) -> Tensor:
    """The output layer's product with a stream, without its bias."""
    return (last.weight.T * stream).sum(0)
