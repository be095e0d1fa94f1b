"""Exact Neumann and Robin walls for any PINN: plain torch modules.

Inputs are matrices with a row for each point: the space coordinates of `axes` first, then any other
inputs of the network (time, parameters). Networks have one output column. At either wall a flux is
the derivative along the coordinate, du/dx_i; the outward normal derivative at a left wall is its
negative.

- `CosineEmbedding` before a network makes every held wall insulated: du/dx_i = 0 to the last bit.
- `FluxLift` after it adds the prescribed fluxes.
- `RobinLift` after it turns insulated walls into du/dx_i + k u = c.
- `OutputTransform` imposes fluxes on a network without an embedding, by its slopes at the walls.
- `FreeTerm` adds a second network that does not change any held wall.

All of them can be differentiated any number of times, in reverse or forward mode.
"""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from neumann_pinn.walls.axes import SIDES, Axis, Side, free_factor
from neumann_pinn.walls.embeddings import Cosine
from neumann_pinn.walls.trigonometry import cospi

Function = Callable[[Tensor], Tensor]
"""A function of points (n x inputs) that returns one number for each."""
Flux = float | Tensor | Function
"""A number, a tensor with one element, or a function of inputs on the wall: n x inputs -> n.

The function may be a module, and the tensor a parameter; they are then trained with the rest.
"""
WallPair = tuple[Flux, Flux]
"""The fluxes prescribed at the left and at the right wall of an axis."""


class CosineEmbedding(nn.Module):
    """Replaces each space coordinate by cosines that are flat at its held walls.

    Give each axis either as an `Axis`, for the single cosine of frequency 1, or as a `Cosine` with
    more of them: `Cosine((1, 2, 7), axis)`, `Cosine.first(20, axis)` or
    `Cosine.sample(20, std, seed, axis)`. Axes without held walls and all other inputs pass through
    unchanged.
    """

    def __init__(self, axes: Sequence[Axis | Cosine]) -> None:
        super().__init__()
        _plain_axes(axes)
        self.axes = tuple(
            Cosine(axis=axis) if isinstance(axis, Axis) and axis.held else axis for axis in axes
        )
        for i, axis in enumerate(self.axes):
            if isinstance(axis, Cosine):
                rates = torch.tensor(axis.rates, dtype=torch.float64)[:, None]
                self.register_buffer(f"rates{i}", rates, persistent=False)

    def size(self, inputs: int) -> int:
        """The number of features made from `inputs` inputs: what the network that follows sees."""
        spaces = (axis.size if isinstance(axis, Cosine) else 1 for axis in self.axes)
        return sum(spaces) + inputs - len(self.axes)

    def forward(self, inputs: Tensor) -> Tensor:
        inputs = _plain(inputs, self.axes)
        parts = []
        for i, axis in enumerate(self.axes):
            x = inputs[:, i]
            if isinstance(axis, Cosine):
                rates = self.get_buffer(f"rates{i}").to(x)
                parts.append(cospi(rates * axis.axis.position(x)).T)
            else:
                parts.append(x[:, None])
        return torch.cat((*parts, inputs[:, len(self.axes) :]), 1)

    def extra_repr(self) -> str:
        return ", ".join(map(repr, self.axes))


class RobinLift(nn.Module):
    """outputs -> m outputs + l, so that du/dx_i + k u = c at every held wall of a box.

    The outputs must be flat at these walls, as after a `CosineEmbedding`. `fluxes` has a pair c
    for each axis, numbers or functions of the inputs at the wall; `coefficients` has a pair k
    of numbers. Both must be 0 at walls that are not held.

    A function f of one coordinate with f = 0 and f' = 1 at a wall (`Axis.profile`) extends what is
    prescribed there into the box. m = exp(-sum k f / (1 + (k d)^2)), where d is the distance from
    the wall, turns flat walls into Robin walls: m = 1 and m' = -k at the wall, and no wall adds
    more than 1/2 to the exponent, for any k.

    The lift of several axes takes the lift l of all but one of them and adds what is missing at the
    walls of the last, l + f (c - (d/dx_i + k) l), which is exact there. Any axis can be the last;
    blended with weights that are 1 at its walls, with zero slope, these lifts are exact at every
    point of every wall, edges and corners included. This calls functions often, 16 times in two
    dimensions and 150 times in three, and in float64, because the weights vary fast near an edge.

    Where the data of two walls are compatible along their common edge, (d/dx_i + k_i) c_j =
    (d/dx_j + k_j) c_i, all of these lifts are the same smooth function. Where they are not, no
    twice differentiable solution exists: the lift is still exact at the walls, but its second
    derivatives jump at that edge.
    """

    def __init__(
        self,
        axes: Sequence[Axis],
        fluxes: Sequence[WallPair],
        coefficients: Sequence[tuple[float, float]] | None = None,
    ) -> None:
        super().__init__()
        self.axes = _plain_axes(axes)
        self.fluxes = _pairs("fluxes", fluxes, self.axes)
        if coefficients is None:
            coefficients = [(0.0, 0.0)] * len(self.axes)
        self.coefficients = _pairs("coefficients", coefficients, self.axes)
        every = [c for pair in self.fluxes for c in pair]
        if any(callable(k) or isinstance(k, Tensor) for pair in self.coefficients for k in pair):
            raise ValueError("coefficients: give numbers")
        self.functions = nn.ModuleList(c for c in every if isinstance(c, nn.Module))
        self.numbers = nn.ParameterList(c for c in every if isinstance(c, nn.Parameter))
        self.is_robin = any(k for pair in self.coefficients for k in pair)
        self.is_insulated = not any(_varies(c) or c for c in every)
        self.plain_sum = not self.is_robin and not any(callable(c) for c in every)

    def forward(self, inputs: Tensor, outputs: Tensor) -> Tensor:
        inputs = _plain(inputs, self.axes)
        _check_outputs(inputs, outputs)
        if self.is_robin:
            outputs = self.factor(inputs)[:, None] * outputs
        if not self.is_insulated:
            outputs = outputs + self.lift(inputs)[:, None]
        return outputs

    def factor(self, inputs: Tensor) -> Tensor:
        """The factor m at each point; 1 everywhere without Robin coefficients."""
        exponent = torch.zeros_like(inputs[:, 0])
        for i, (axis, coefficients) in enumerate(zip(self.axes, self.coefficients, strict=True)):
            for side in axis.held:
                x, k = inputs[:, i], coefficients[SIDES[side]]
                far = 1 + (k * (x - x.new_full((), axis.wall(side)))) ** 2
                exponent = exponent - k * axis.profile(side, x).value / far
        return exponent.exp()

    def lift(self, inputs: Tensor) -> Tensor:
        """The lift l at each point."""
        held = [i for i, axis in enumerate(self.axes) if axis.held]
        if self.plain_sum or len(held) < 2:
            return self._lift(held)(inputs)
        return self._lift(held)(inputs.double()).to(inputs.dtype)

    def _lift(self, held: Sequence[int]) -> Function:
        """The lift of the given axes, exact at all their walls."""
        if self.plain_sum or len(held) < 2:
            return lambda inputs: sum(
                (self._missing(i, None)(inputs) for i in held), torch.zeros_like(inputs[:, 0])
            )
        others = [self._lift([j for j in held if j != i]) for i in held]
        missing = [self._missing(i, lift) for i, lift in zip(held, others, strict=True)]

        def blend(inputs: Tensor) -> Tensor:
            weights = _weights([self.axes[i].bump(inputs[:, i]) ** 2 for i in held])
            parts = zip(weights, others, missing, strict=True)
            return torch.stack([w * (a(inputs) + b(inputs)) for w, a, b in parts]).sum(0)

        return blend

    def _missing(self, i: int, so_far: Function | None) -> Function:
        """What a lift of other axes lacks at the walls of one axis, extended inside by profiles."""
        axis, fluxes, coefficients = self.axes[i], self.fluxes[i], self.coefficients[i]

        def missing(inputs: Tensor) -> Tensor:
            total = torch.zeros_like(inputs[:, 0])
            for side in axis.held:
                at_wall = _on_wall(inputs, i, axis, side)
                lack = flux_at(fluxes[SIDES[side]], at_wall)
                if so_far:
                    value, slope = _value_and_slope(so_far, at_wall, i)
                    lack = lack - slope - coefficients[SIDES[side]] * value
                total = total + axis.profile(side, inputs[:, i]).value * lack
            return total

        return missing

    def extra_repr(self) -> str:
        return f"axes={self.axes}, fluxes={self.fluxes}, coefficients={self.coefficients}"


class FluxLift(RobinLift):
    """outputs -> outputs + l, so that du/dx_i is the prescribed flux at every held wall of a box.

    The outputs must be flat at these walls, as after a `CosineEmbedding`. This is `RobinLift` with
    k = 0; see there for how l is built and what happens at edges.
    """

    def __init__(self, axes: Sequence[Axis], fluxes: Sequence[WallPair]) -> None:
        super().__init__(axes, fluxes)


class OutputTransform(nn.Module):
    """The existing hard constraint (equation 4) on any interval and with any flux.

    u = N - sum over held walls of f (dN/dx at the wall - flux), for an unconstrained network N.
    `axes` are those of N's inputs; walls are held on exactly one of them. The slope of N at the
    wall is computed in forward mode for every point, which is what makes this constraint costly.
    """

    def __init__(
        self, network: nn.Module, axes: Sequence[Axis], fluxes: Sequence[WallPair] | None = None
    ) -> None:
        super().__init__()
        self.axes = _plain_axes(axes)
        held = [i for i, axis in enumerate(self.axes) if axis.held]
        if len(held) != 1:
            raise ValueError(
                f"an output transform holds the walls of one axis, not of {len(held)}: "
                "for boxes use a CosineEmbedding"
            )
        self.network = network
        (self.column,) = held
        self.lift = FluxLift(axes, [(0.0, 0.0)] * len(self.axes) if fluxes is None else fluxes)

    def forward(self, inputs: Tensor) -> Tensor:
        inputs = _plain(inputs, self.axes)
        outputs, axis = self.network(inputs), self.axes[self.column]
        _check_outputs(inputs, outputs)
        for side in axis.held:
            at_wall = _on_wall(inputs, self.column, axis, side)
            _, slope = _value_and_slope(self.network, at_wall, self.column)
            profile = axis.profile(side, inputs[:, self.column : self.column + 1])
            outputs = outputs - profile.value * slope
        return self.lift(inputs, outputs)


class FreeTerm(nn.Module):
    """phi(x)^2 v, where v is a second network of the coordinates: 16 x^2 (1-x)^2 v on [0,1].

    phi is positive inside, at most 1, and vanishes at every held wall, as do the value and the
    slope of the term, so it can be combined with any of the constraints.
    """

    def __init__(self, network: nn.Module, axes: Sequence[Axis]) -> None:
        super().__init__()
        self.network = network
        self.axes = _plain_axes(axes)

    def forward(self, inputs: Tensor) -> Tensor:
        inputs = _plain(inputs, self.axes)
        outputs = self.network(inputs)
        _check_outputs(inputs, outputs)
        return free_factor(self.axes, inputs)[:, None] * outputs


def flux_at(flux: Flux, at_wall: Tensor) -> Tensor:
    """The prescribed flux at points on a wall."""
    if isinstance(flux, Tensor):
        return flux.to(at_wall).expand(len(at_wall))
    if not callable(flux):
        return torch.full_like(at_wall[:, 0], flux)
    value = flux(at_wall)
    if not isinstance(value, Tensor) or value.shape != at_wall[:, 0].shape:
        what = tuple(value.shape) if isinstance(value, Tensor) else repr(value)
        raise ValueError(
            f"a flux returned {what} for {len(at_wall)} points: return one number for each, "
            f"a tensor of shape ({len(at_wall)},)"
        )
    return value


def _plain_axes(axes: Sequence[Any]) -> tuple[Axis, ...]:
    """The axes themselves, even where embeddings of them are given."""
    if isinstance(axes, Axis | Cosine):
        raise ValueError("axes: give a list of them, one for each space coordinate")
    plain = tuple(axis.axis if isinstance(axis, Cosine) else axis for axis in axes)
    for axis in plain:
        if not isinstance(axis, Axis):
            raise ValueError(f"axes: {axis!r} is not an Axis, give Axis(low, high, walls)")
    if not plain:
        raise ValueError("axes: give at least one")
    return plain


def _pairs(name: str, pairs: Sequence[Any], axes: Sequence[Axis]) -> tuple[Any, ...]:
    """The pairs, one for each axis, which must be 0 where no wall is held."""
    if len(pairs) != len(axes) or any(
        not isinstance(pair, Sequence) or len(pair) != 2 for pair in pairs
    ):
        raise ValueError(f"{name}: give a pair (left, right) for each of the axes")
    for axis, pair in zip(axes, pairs, strict=True):
        for side, value in zip(SIDES, pair, strict=True):
            if side not in axis.held and (_varies(value) or value != 0):
                raise ValueError(f"{name}: the {side} wall of {axis} is not held, give 0")
    return tuple(tuple(pair) for pair in pairs)


def _varies(flux: Flux) -> bool:
    return callable(flux) or isinstance(flux, Tensor)


def _plain(inputs: Tensor, axes: Sequence[object]) -> Tensor:
    """The inputs, checked for enough columns, as a tensor that is indexed in the usual way."""
    if inputs.ndim != 2 or inputs.shape[1] < len(axes) or not inputs.is_floating_point():
        raise ValueError(
            f"inputs of shape {tuple(inputs.shape)}, {inputs.dtype}: give a row of floating-point "
            f"numbers for each point, with its {len(axes)} space coordinates in the first columns"
        )
    usual = type(inputs).__getitem__ is Tensor.__getitem__
    return inputs if usual else inputs.as_subclass(Tensor)


def _check_outputs(inputs: Tensor, outputs: Tensor) -> None:
    if outputs.shape != (len(inputs), 1):
        raise ValueError(
            f"outputs of shape {tuple(outputs.shape)} for {len(inputs)} points: "
            f"give one column, ({len(inputs)}, 1)"
        )


def _product(factors: Sequence[Tensor]) -> Tensor:
    product = torch.ones_like(factors[0])
    for factor in factors:
        product = product * factor
    return product


def _weights(squares: Sequence[Tensor]) -> list[Tensor]:
    """Weights that sum to 1, one for each axis: 1 and flat where the square of its bump vanishes.

    At an edge, where several squares vanish, their axes share the weight equally.
    """
    products = [
        _product([square for j, square in enumerate(squares) if j != i])
        for i in range(len(squares))
    ]
    meeting = [(square == 0).to(square.dtype) for square in squares]
    at_edge = torch.stack(products).sum(0) == 0
    shares = [torch.where(at_edge, m, p) for m, p in zip(meeting, products, strict=True)]
    total = torch.stack(shares).sum(0)
    return [share / total for share in shares]


def _on_wall(inputs: Tensor, column: int, axis: Axis, side: Side) -> Tensor:
    """The points moved onto a wall; that coordinate no longer depends on the inputs."""
    wall = torch.full_like(inputs[:, :1], axis.wall(side))
    return torch.cat((inputs[:, :column], wall, inputs[:, column + 1 :]), 1)


def _value_and_slope(function: Function, inputs: Tensor, column: int) -> tuple[Tensor, Tensor]:
    """A function's value, and its derivative along one column of the inputs."""
    direction = torch.zeros_like(inputs)
    direction[:, column] = 1
    value, slope = torch.func.jvp(function, (inputs,), (direction,))  # type: ignore[misc]
    return value, slope
