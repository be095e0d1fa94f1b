"""Exact walls for any PINN: plain torch modules.

Inputs are matrices with a row for each point: the coordinates of `axes` first, then any other
inputs of the network (time, parameters). Networks have one output column. An `Axis` says what holds
at its two walls. The first of the axes may be a `Domain` of several coordinates with a smooth wall,
a `Ball` for example, followed by the axes of a cylinder.

- `HardWalls` around a network makes all of it hold, an initial condition too. It puts together:
- `CosineEmbedding` before a network, which makes walls flat where slopes are prescribed,
  du/dx_i = 0 to the last bit, and periodic axes periodic;
- `WallLift` after it, which brings in values, fluxes and Robin conditions.
- `Columns` puts several unknowns, each with walls of its own, side by side.

Two more modules are alternatives and additions:

- `OutputTransform` imposes fluxes on a network without an embedding, by its slopes at the walls.
- `FreeTerm` adds a second network that does not change any held wall.

All of them can be differentiated any number of times, in reverse or forward mode.
"""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from neumann_pinn.walls.axes import Axis, Side, columns, free_factor
from neumann_pinn.walls.conditions import (
    Clamped,
    Dirichlet,
    Free,
    Prescribed,
    Robin,
    varies,
)
from neumann_pinn.walls.domains import Domain
from neumann_pinn.walls.embeddings import Cosine, Embedding, Flat, Waves
from neumann_pinn.walls.trigonometry import cospi, sinpi

Function = Callable[[Tensor], Tensor]
"""A function of points (n x inputs) that returns one number for each."""
Data = float | Tensor | Function
"""A number, a tensor with one element, or a function of inputs on the wall: n x inputs -> n."""


class CosineEmbedding(nn.Module):
    """Replaces each coordinate by the features that its walls ask for.

    These are cosines where slopes are prescribed at one wall or at both, cosines and sines on a
    periodic axis, those of a `Domain`, and the coordinate itself otherwise. Give each axis either
    as an `Axis`, for the single frequency 1, or as a `Cosine`, `Flat` or `Waves` with more of them:
    `Cosine((1, 2, 7), axis)`, `Cosine.first(20, axis)` or `Cosine.sample(20, std, seed, axis)`. All
    inputs after the axes pass through unchanged.
    """

    def __init__(self, axes: "Sequence[Axis | Domain | Embedding]") -> None:
        super().__init__()
        self.columns = columns(plain_axes(axes))
        self.embeddings = tuple(
            Cosine().on(axis) if isinstance(axis, Axis) else axis for axis in axes
        )
        for i, embedding in enumerate(self.embeddings):
            if isinstance(embedding, Cosine | Waves):
                rates = torch.tensor(embedding.rates, dtype=torch.float64)[:, None]
                self.register_buffer(f"rates{i}", rates, persistent=False)

    def size(self, inputs: int) -> int:
        """The number of features made from `inputs` inputs: what the network that follows sees."""
        made = sum(embedding.size for embedding in self.embeddings)
        return made + inputs - self.columns[-1]

    def forward(self, inputs: Tensor) -> Tensor:
        inputs = _plain(inputs, self.columns[-1])
        parts = []
        for i, embedding in enumerate(self.embeddings):
            x = inputs[:, self.columns[i]]
            if isinstance(embedding, Domain):
                parts.append(embedding.features(embedding.coordinates(inputs, self.columns[i])))
            elif isinstance(embedding, Cosine | Waves):
                angles = self.get_buffer(f"rates{i}").to(x) * embedding.axis.position(x)
                parts.append(cospi(angles).T)
                if isinstance(embedding, Waves):
                    parts.append(sinpi(angles).T)
                if isinstance(embedding, Flat):
                    parts.append(sinpi(angles[embedding.lowest]).T ** 3)
            else:
                parts.append(x[:, None])
        return torch.cat((*parts, inputs[:, self.columns[-1] :]), 1)

    def extra_repr(self) -> str:
        return ", ".join(map(repr, self.embeddings))


class WallLift(nn.Module):
    """outputs -> m outputs + l, so that what each axis says holds at its walls.

    The outputs must be flat where slopes are prescribed and periodic on periodic axes, as after a
    `CosineEmbedding`. m has a factor for each axis: a zero at each wall with a known value, of
    second order if the slope is known too; and for Robin walls exp(-sum k f / (1 + (k d)^2)), where
    f = 0 and f' = 1 at the wall (`Axis.profile`) and d is the distance from it. There m = 1 and
    m' = -k, and no wall adds more than 1/2 to the exponent, for any k.

    The lift l brings in the data. Functions of one coordinate (`Axis.extension`) extend what is
    prescribed at a wall into the box. The lift of several axes takes the lift of all but one of
    them and adds what is missing at the walls of the last, which is exact there. Any axis can be
    the last; blended with weights that are 1 at its walls, with zero slope, these lifts are exact
    at every point of every wall, edges and corners included. This calls functions often, 16 times
    for fluxes in two dimensions and 150 times in three, and in float64, because the weights vary
    fast near an edge.

    Where the data of two walls are compatible along their common edge, all of these lifts are the
    same smooth function. If they are everywhere, say so: `compatible=True` makes only one of them,
    which is far cheaper. Where they are not, no smooth solution exists: two known values that
    differ at an edge cannot both hold there. The blend is still exact at the walls away from it.
    """

    def __init__(
        self, axes: "Sequence[Axis | Domain | Embedding]", compatible: bool = False
    ) -> None:
        super().__init__()
        self.axes, self.compatible = plain_axes(axes), compatible
        self.columns = columns(self.axes)
        self.held = [
            i
            for i, axis in enumerate(self.axes)
            if axis.held and not (compatible and axis.is_homogeneous)
        ]
        _check_coefficients(self.axes)
        every = [p for axis in self.axes for side in axis.held for p in axis.at(side).prescribed]
        given = [datum for p in every for datum in (p.data, p.coefficient)]
        self.functions = nn.ModuleList(d for d in given if isinstance(d, nn.Module))
        self.numbers = nn.ParameterList(d for d in given if isinstance(d, nn.Parameter))
        self.has_factor = any(
            axis.at(side).zeros or isinstance(axis.at(side), Robin)
            for axis in self.axes
            for side in axis.held
        )
        self.is_homogeneous = all(axis.is_homogeneous for axis in self.axes)
        self.plain_sum = not self.has_factor and not any(callable(p.data) for p in every)

    def forward(self, inputs: Tensor, outputs: Tensor) -> Tensor:
        inputs = _plain(inputs, self.columns[-1])
        _check_outputs(inputs, outputs)
        if self.has_factor:
            outputs = self.factor(inputs)[:, None] * outputs
        if not self.is_homogeneous:
            outputs = outputs + self.lift(inputs)[:, None]
        return outputs

    def factor(self, inputs: Tensor) -> Tensor:
        """The factor m at each point; 1 everywhere if only fluxes are prescribed."""
        value, exponent = torch.ones_like(inputs[:, 0]), torch.zeros_like(inputs[:, 0])
        for i, axis in enumerate(self.axes):
            x = axis.coordinates(inputs, self.columns[i])
            value = value * axis.factor(x)
            for side in axis.held:
                wall = axis.at(side)
                if isinstance(axis, Axis) and isinstance(wall, Robin):
                    at_wall = moved_to_wall(inputs, self.columns[i], axis, side)
                    k = data_at(wall.coefficient, at_wall)
                    far = 1 + (k * (x - x.new_full((), axis.wall(side)))) ** 2
                    exponent = exponent - k * axis.profile(side, x).value / far
        return value * exponent.exp()

    def lift(self, inputs: Tensor) -> Tensor:
        """The lift l at each point."""
        if self.plain_sum or self.compatible or len(self.held) < 2:
            return self._lift(self.held)(inputs)
        return self._lift(self.held)(inputs.double()).to(inputs.dtype)

    def _lift(self, held: Sequence[int]) -> Function:
        """The lift of the given axes, exact at all their walls."""
        if self.plain_sum or len(held) < 2:
            return lambda inputs: sum(
                (self._missing(i, None)(inputs) for i in held), torch.zeros_like(inputs[:, 0])
            )
        if self.compatible:
            *first, last = held
            so_far = self._lift(first)
            lack = self._missing(last, so_far)
            return lambda inputs: so_far(inputs) + lack(inputs)
        others = [self._lift([j for j in held if j != i]) for i in held]
        missing = [self._missing(i, lift) for i, lift in zip(held, others, strict=True)]

        def blend(inputs: Tensor) -> Tensor:
            weights = _weights([self._bump(i, inputs) ** 2 for i in held])
            parts = zip(weights, others, missing, strict=True)
            return torch.stack([w * (a(inputs) + b(inputs)) for w, a, b in parts]).sum(0)

        return blend

    def _missing(self, i: int, so_far: Function | None) -> Function:
        """What a lift of other axes lacks at the walls of one axis, extended into the box."""
        axis, column = self.axes[i], self.columns[i]

        def missing(inputs: Tensor) -> Tensor:
            total = torch.zeros_like(inputs[:, 0])
            x = axis.coordinates(inputs, column)
            for side in axis.held:
                at_wall = moved_to_wall(inputs, column, axis, side)
                for prescribed in axis.at(side).prescribed:
                    lack = data_at(prescribed.data, at_wall)
                    if so_far:
                        lack = lack - found_at(
                            prescribed, so_far, at_wall, along(at_wall, column, axis)
                        )
                    total = total + axis.extension(side, prescribed.what, x) * lack
            return total

        return missing

    def _bump(self, i: int, inputs: Tensor) -> Tensor:
        return self.axes[i].bump(self.axes[i].coordinates(inputs, self.columns[i]))

    def extra_repr(self) -> str:
        return ", ".join(map(repr, self.axes))


class HardWalls(nn.Module):
    """A network around which everything holds that its axes say, for any weights.

        HardWalls(network, [Axis(0, 1, Neumann(flux), Dirichlet(2.0)), Axis(-1, 1)], initial=g)

    The network is given features of the axes, `HardWalls.size` says how many: those of a
    `CosineEmbedding`, where an `Axis` with flat walls has `Flat` ones. A `WallLift` follows it.
    With `initial` the input after the axes is time: u = initial at t = 0, and u_t = `rate` there if
    that is given, too. Both are data like those of a wall, functions of all inputs. `compatible`
    says that all data agree where walls, or a wall and the start, meet: see `WallLift`.
    """

    def __init__(
        self,
        network: nn.Module,
        axes: "Sequence[Axis | Domain | Embedding]",
        initial: Data | None = None,
        rate: Data | None = None,
        compatible: bool = False,
    ) -> None:
        super().__init__()
        every = [*axes, *started(initial, rate)]
        self.network = network
        self.embedding = CosineEmbedding(_naturally(every))
        self.lift = WallLift(every, compatible)

    @staticmethod
    def size(axes: "Sequence[Axis | Domain | Embedding]", inputs: int) -> int:
        """The number of features that the network sees, made from `inputs` inputs."""
        return CosineEmbedding(_naturally(axes)).size(inputs)

    def forward(self, inputs: Tensor) -> Tensor:
        outputs: Tensor = self.lift(inputs, self.network(self.embedding(inputs)))
        return outputs


class Columns(nn.Module):
    """Several unknowns, each a module with walls of its own, as the columns of one output.

    Each has its own network, because what a network may see depends on what holds for it: cosines
    where a slope is prescribed would be too little for an unknown whose value is known there.
    """

    def __init__(self, *unknowns: nn.Module) -> None:
        super().__init__()
        if not unknowns:
            raise ValueError("unknowns: give at least one module")
        self.unknowns = nn.ModuleList(unknowns)

    def forward(self, inputs: Tensor) -> Tensor:
        return torch.cat([unknown(inputs) for unknown in self.unknowns], 1)


class OutputTransform(nn.Module):
    """The existing hard constraint (equation 4) on any interval and with any flux.

    u = N - sum over flat walls of f (dN/dx at the wall - flux), for an unconstrained network N.
    `axes` are those of N's inputs; slopes are prescribed on exactly one of them, and nothing else
    on any. The slope of N at the wall is computed in forward mode for every point, which is what
    makes this constraint costly.

    On a `Domain` u = N + d (dN/dn - flux), with its distance d and its normal n continued inside
    (Sukumar and Srivastava 2022). If the flux is continued as n grad u, the solution u is an N
    itself, however intricate the wall is.
    """

    def __init__(self, network: nn.Module, axes: Sequence[Axis | Domain]) -> None:
        super().__init__()
        self.axes = plain_axes(axes)
        held = [i for i, axis in enumerate(self.axes) if axis.held]
        if len(held) != 1:
            raise ValueError(
                f"an output transform holds the walls of one axis, not of {len(held)}: "
                "for boxes use HardWalls"
            )
        self.network, self.lift = network, WallLift(self.axes)
        self.axis, self.columns = self.axes[held[0]], self.lift.columns
        self.column = self.columns[held[0]]
        if self.lift.has_factor:
            raise ValueError(f"an output transform holds slopes, not {self.axis}: use HardWalls")

    def forward(self, inputs: Tensor) -> Tensor:
        inputs = _plain(inputs, self.columns[-1])
        if isinstance(self.axis, Domain):
            flat = self._on_domain(inputs, self.axis)
        else:
            flat = self._on_interval(inputs, self.axis)
        held: Tensor = self.lift(inputs, flat)
        return held

    def _on_interval(self, inputs: Tensor, axis: Axis) -> Tensor:
        outputs, x = self.network(inputs), inputs[:, self.column : self.column + 1]
        _check_outputs(inputs, outputs)
        for side in axis.held:
            at_wall = moved_to_wall(inputs, self.column, axis, side)
            _, slope = _value_and_slope(self.network, at_wall, along(at_wall, self.column, axis))
            outputs = outputs - axis.profile(side, x).value * slope
        return outputs

    def _on_domain(self, inputs: Tensor, domain: Domain) -> Tensor:
        before, x, after = _around(inputs, self.column, domain)
        way = torch.cat((torch.zeros_like(before), domain.way(x), torch.zeros_like(after)), 1)
        value, change = _value_and_slope(self.network, inputs, way)
        return value + change


class FreeTerm(nn.Module):
    """phi(x)^2 v, where v is a second network of the coordinates: 16 x^2 (1-x)^2 v on [0,1].

    phi is positive inside, at most 1, and vanishes at every held wall, as do the value and the
    slope of the term, so it can be combined with any of the constraints.
    """

    def __init__(self, network: nn.Module, axes: Sequence[Axis | Domain]) -> None:
        super().__init__()
        self.network = network
        self.axes = plain_axes(axes)
        self.columns = columns(self.axes)
        for axis in self.axes:
            if axis.is_periodic:
                raise ValueError(f"a free term would not be periodic on {axis}: leave it out")

    def forward(self, inputs: Tensor) -> Tensor:
        inputs = _plain(inputs, self.columns[-1])
        outputs = self.network(inputs)
        _check_outputs(inputs, outputs)
        return free_factor(self.axes, inputs)[:, None] * outputs


def _naturally(axes: "Sequence[Axis | Domain | Embedding]") -> "list[Axis | Domain | Embedding]":
    """The axes, those with flat walls as the embeddings that `HardWalls` gives them."""
    return [Flat(axis=axis) if isinstance(axis, Axis) and axis.flat else axis for axis in axes]


def started(initial: Data | None, rate: Data | None = None) -> list[Axis]:
    """The axis of time for an initial value, and rate; none if nothing is known of the start."""
    if initial is None:
        if rate is not None:
            raise ValueError("rate: give an initial value with it")
        return []
    return [Axis(0.0, 1.0, Dirichlet(initial) if rate is None else Clamped(initial, rate), Free())]


def data_at(data: Data, at_wall: Tensor) -> Tensor:
    """The data at points on a wall."""
    if isinstance(data, Tensor):
        return data.to(at_wall).expand(len(at_wall))
    if not callable(data):
        return torch.full_like(at_wall[:, 0], data)
    value = data(at_wall)
    if not isinstance(value, Tensor) or value.shape != at_wall[:, 0].shape:
        what = tuple(value.shape) if isinstance(value, Tensor) else repr(value)
        raise ValueError(
            f"the data of a wall returned {what} for {len(at_wall)} points: return one number for "
            f"each, a tensor of shape ({len(at_wall)},)"
        )
    return value


def found_at(
    prescribed: Prescribed, function: Function, at_wall: Tensor, direction: Tensor
) -> Tensor:
    """What a function has at a wall instead of the prescribed data."""
    if prescribed.what == "value":
        return function(at_wall)
    value, slope = _value_and_slope(function, at_wall, direction)
    if isinstance(prescribed.coefficient, float | int) and not prescribed.coefficient:
        return slope
    return slope + data_at(prescribed.coefficient, at_wall) * value


def plain_axes(axes: Sequence[Any]) -> tuple[Axis | Domain, ...]:
    """The axes themselves, even where embeddings of them are given."""
    if isinstance(axes, Axis | Domain | Cosine | Waves):
        raise ValueError("axes: give a list of them, one for each coordinate")
    plain = tuple(axis.axis if isinstance(axis, Cosine | Waves) else axis for axis in axes)
    for axis in plain[1:]:
        if isinstance(axis, Domain):
            raise ValueError(f"axes: give {axis!r} first, before all axes")
    for axis in plain:
        if not isinstance(axis, Axis | Domain):
            raise ValueError(f"axes: {axis!r} is not an Axis, give Axis(low, high, left, right)")
    if not plain:
        raise ValueError("axes: give at least one")
    return plain


def _check_coefficients(axes: Sequence[Axis | Domain]) -> None:
    """Reject coefficients of Robin walls that vary where other axes have flat walls."""
    for i, axis in enumerate(axes):
        others = [other for j, other in enumerate(axes) if j != i and other.flat]
        for side in axis.held:
            wall = axis.at(side)
            if isinstance(wall, Robin) and varies(wall.coefficient) and others:
                raise ValueError(
                    f"axis {i}, {side} wall: a coefficient that varies would tilt the flat walls "
                    f"of {others[0]}: give a number"
                )


def _plain(inputs: Tensor, axes: int) -> Tensor:
    """The inputs, checked for enough columns, as a tensor that is indexed in the usual way."""
    if inputs.ndim != 2 or inputs.shape[1] < axes or not inputs.is_floating_point():
        raise ValueError(
            f"inputs of shape {tuple(inputs.shape)}, {inputs.dtype}: give a row of floating-point "
            f"numbers for each point, with its {axes} coordinates in the first columns"
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


def moved_to_wall(inputs: Tensor, column: int, axis: Axis | Domain, side: Side) -> Tensor:
    """The points moved onto a wall."""
    before, x, after = _around(inputs, column, axis)
    return torch.cat((before, axis.on_wall(side, x), after), 1)


def _around(inputs: Tensor, column: int, axis: Axis | Domain) -> tuple[Tensor, Tensor, Tensor]:
    """The inputs before an axis, its own, and those after it."""
    end = column + axis.dimension
    return inputs[:, :column], inputs[:, column:end], inputs[:, end:]


def along(inputs: Tensor, column: int, axis: Axis | Domain) -> Tensor:
    """The direction in which slopes are prescribed: that of an axis, or the normal of a domain."""
    before, x, after = _around(inputs, column, axis)
    return torch.cat((torch.zeros_like(before), axis.normal(x), torch.zeros_like(after)), 1)


def _value_and_slope(
    function: Function, inputs: Tensor, direction: Tensor
) -> tuple[Tensor, Tensor]:
    """A function's value, and its derivative along a direction."""
    value, slope = torch.func.jvp(function, (inputs,), (direction,))  # type: ignore[misc]
    return value, slope
