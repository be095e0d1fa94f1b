"""The layers hold what is prescribed at every wall, for any box, kind, data and weights."""

import copy
import math
from dataclasses import replace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from neumann_pinn import (
    Axis,
    Clamped,
    Columns,
    Cosine,
    CosineEmbedding,
    Dirichlet,
    Flat,
    Free,
    FreeTerm,
    HardWalls,
    Neumann,
    OutputTransform,
    Periodic,
    Robin,
    WallLift,
    Waves,
)
from neumann_pinn.walls.axes import SIDES

OTHERS = 1  # t
ANY = st.sampled_from((1, 1, 2, 2, 3))
KINDS = (Neumann, Dirichlet, Robin, Clamped, Free)
SLOPES = (Neumann, Robin)
INSULATED, OPEN = Neumann(), Free()
LEFT_ONLY = {"left": INSULATED, "right": OPEN}


def number(low, high):
    return st.floats(low, high, allow_nan=False, width=32)


@st.composite
def boxes(draw, dimensions=ANY, kinds=(*KINDS, Periodic)):
    """Axes with a prescribed wall among them; all data are zero, Robin coefficients are not."""
    box = []
    for _ in range(draw(dimensions)):
        low = draw(number(-5, 5))
        walls = [draw(st.sampled_from(kinds)) for _ in SIDES]
        if Periodic in walls:
            walls = [Periodic, Periodic]
        made = [kind(draw(number(-30, 30))) if kind is Robin else kind() for kind in walls]
        box.append(Axis(low, low + draw(number(0.25, 8)), *made))
    if not any(axis.held for axis in box):
        box[0] = Axis(*box[0].ends)
    return box


@st.composite
def embedded(draw, of=None):
    """Axes, and an embedding of them with frequencies given, sampled or 1 ... n."""
    box = draw(of if of is not None else boxes())
    parts = []
    for axis in box:
        kind = draw(st.sampled_from(["one", "first", "flat", "sample", "given"]))
        if kind == "one" or not (axis.flat or axis.is_periodic):
            parts.append(axis)
        elif axis.is_periodic:
            parts.append(Waves((1, *draw(st.sets(st.integers(2, 60), max_size=5))), axis))
        elif kind == "first":
            parts.append(Cosine.first(draw(st.integers(1, 8)), axis))
        elif kind == "flat":
            parts.append(Flat((1, *draw(st.sets(st.integers(2, 60), max_size=3))), axis))
        elif kind == "sample":
            seed = draw(st.integers(0, 1000))
            parts.append(Cosine.sample(draw(st.integers(1, 10)), 20.0, seed, axis))
        else:
            others = st.integers(2, 60) if len(axis.flat) == 2 else number(1.5, 60)
            parts.append(Cosine((1, *draw(st.sets(others, max_size=5))), axis))
    return box, CosineEmbedding(parts)


def perceptron(inputs, seed, dtype=torch.float64):
    generator = torch.Generator().manual_seed(seed)
    layers = torch.nn.Sequential(
        torch.nn.Linear(inputs, 12), torch.nn.Tanh(), torch.nn.Linear(12, 1)
    ).to(dtype)
    with torch.no_grad():
        for parameter in layers.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator))
    return layers


class Potential:
    """A wave of all coordinates, periodic along periodic axes, and its slopes."""

    def __init__(self, box, seed, others=OTHERS):
        generator = torch.Generator().manual_seed(seed)
        self.rates = torch.randn(len(box) + others, generator=generator).double()
        self.phase = torch.randn(1, generator=generator).double()
        for i, axis in enumerate(box):
            turns = 2 * math.pi if axis.is_periodic else float(self.rates[i])
            self.rates[i] = turns / (axis.high - axis.low)

    def value(self, points):
        return torch.sin(points.double() @ self.rates + self.phase).to(points)

    def slope(self, i):
        return lambda z: (self.rates[i] * torch.cos(z.double() @ self.rates + self.phase)).to(z)


def with_data(box, seed, compatible):
    """The same walls with data that vary: of one potential, or of another one for each wall."""

    def wall(i, side):
        condition = box[i].at(side)
        wave = Potential(box, seed if compatible else seed + 2 * i + SIDES[side] + 1)
        slope = wave.slope(i)
        if isinstance(condition, Robin):
            k = condition.coefficient
            return Robin(k, lambda z: slope(z) + k * wave.value(z))
        made = {
            Neumann: lambda: Neumann(slope),
            Dirichlet: lambda: Dirichlet(wave.value),
            Clamped: lambda: Clamped(wave.value, slope),
        }
        return made.get(type(condition), lambda: condition)()

    return [Axis(*axis.ends, wall(i, "left"), wall(i, "right")) for i, axis in enumerate(box)]


def with_numbers(box, draw):
    """The same walls with data that are numbers."""

    def wall(condition):
        if isinstance(condition, Robin):
            return replace(condition, flux=draw(number(-10, 10)))
        names = {Neumann: ["flux"], Dirichlet: ["value"], Clamped: ["value", "slope"]}
        changes = {name: draw(number(-10, 10)) for name in names.get(type(condition), [])}
        return replace(condition, **changes)

    return [Axis(*axis.ends, wall(axis.left), wall(axis.right)) for axis in box]


def points_on(box, i, side, seed, dtype=torch.float64, edges=True, n=8):
    """Random points of a wall, some of them on its edges and corners."""
    generator = torch.Generator().manual_seed(seed)
    shares = torch.rand(n, len(box) + OTHERS, generator=generator, dtype=dtype)
    points = shares.clone()
    for j, axis in enumerate(box):
        low, high = (torch.tensor(end, dtype=dtype) for end in axis.ends)
        points[:, j] = low + (high - low) * shares[:, j]
        if j != i and edges:
            for k, wall in enumerate(axis.held):
                points[j + k, j] = axis.wall(wall)
    points[:, i] = box[i].wall(side)
    return points


def data_at(data, points):
    return data(points) if callable(data) else torch.full_like(points[:, 0], float(data))


def misses(box, u_of, seed=0, dtype=torch.float64, edges=True):
    """By how much anything prescribed is missed at a wall, and the size of what is there."""
    found, sizes = [torch.zeros(1, dtype=dtype)], [torch.full((1,), 1e-3, dtype=dtype)]
    for i, axis in enumerate(box):
        for side in axis.held:
            points = points_on(box, i, side, seed, dtype, edges).requires_grad_()
            u = u_of(points)[:, 0]
            (gradient,) = torch.autograd.grad(u.sum(), points)
            for prescribed in axis.at(side).prescribed:
                k, data = prescribed.coefficient, data_at(prescribed.data, points)
                here = u
                if prescribed.what == "slope":
                    here = gradient[:, i] + data_at(k, points) * u
                    sizes.append((data_at(k, points) * u).abs())
                found.append((here - data).abs())
                sizes.append(data.abs())
    return float(torch.cat(found).detach().max()), float(torch.cat(sizes).detach().max())


def assert_held(box, u_of, seed=0, edges=True):
    worst, size = misses(box, u_of, seed, edges=edges)
    assert worst <= 1e-10 * size  # False for NaN, too


@given(
    embedded(boxes(kinds=(Neumann, Dirichlet, Periodic, Free))),
    st.integers(0, 1000),
    st.sampled_from([torch.float32, torch.float64]),
)
def test_insulated_walls_and_zero_values_hold_to_the_bit(case, seed, dtype):
    box, embedding = case
    network, lift = perceptron(embedding.size(len(box) + OTHERS), seed, dtype), WallLift(box)
    worst, _ = misses(box, lambda z: lift(z, network(embedding(z))), dtype=dtype)
    assert worst == 0.0


@given(embedded(), st.data(), st.integers(0, 1000))
def test_numbers_hold_at_walls_of_every_kind(case, data, seed):
    """But for edges, where two numbers need not be compatible."""
    box, embedding = with_numbers(case[0], data.draw), case[1]
    network, lift = perceptron(embedding.size(len(box) + OTHERS), seed), WallLift(box)
    assert_held(box, lambda z: lift(z, network(embedding(z))), seed, edges=False)


@given(embedded(), st.integers(0, 1000), st.booleans())
def test_functions_hold_at_walls_of_every_kind(case, seed, compatible):
    """Compatible: all are of one potential. Otherwise they disagree along the edges."""
    box, embedding = with_data(case[0], seed, compatible), case[1]
    network, lift = perceptron(embedding.size(len(box) + OTHERS), seed), WallLift(box)
    assert_held(box, lambda z: lift(z, network(embedding(z))), seed, edges=compatible)


@given(embedded(), st.integers(0, 1000))
def test_one_lift_is_enough_for_compatible_data(case, seed):
    box, embedding = with_data(case[0], seed, compatible=True), case[1]
    network = perceptron(embedding.size(len(box) + OTHERS), seed)
    one, blend = WallLift(box, compatible=True), WallLift(box)
    assert_held(box, lambda z: one(z, network(embedding(z))), seed)
    inside = points_on(box, 0, "left", seed, edges=False)
    inside[:, 0] = sum(box[0].ends) / 2
    torch.testing.assert_close(one.lift(inside), blend.lift(inside), rtol=1e-8, atol=1e-8)


@given(embedded(boxes(kinds=(*SLOPES, Periodic, Free))), st.integers(0, 1000))
def test_slopes_hold_even_at_edges_where_they_disagree(case, seed):
    box, embedding = with_data(case[0], seed, compatible=False), case[1]
    network, lift = perceptron(embedding.size(len(box) + OTHERS), seed), WallLift(box)
    assert_held(box, lambda z: lift(z, network(embedding(z))), seed)


@given(boxes(st.integers(1, 2)), st.integers(0, 1000), st.booleans(), st.booleans())
def test_walls_and_the_start_hold_at_once(box, seed, with_rate, compatible):
    """Everything is of one potential, so that it is compatible at t = 0."""
    box = with_data(box, seed, compatible=True)
    wave, t = Potential(box, seed), len(box)
    rate = wave.slope(t) if with_rate else None
    network = perceptron(HardWalls.size(box, len(box) + OTHERS), seed)
    module = HardWalls(network, box, wave.value, rate, compatible)
    assert_held(box, module, seed)
    start = points_on(box, 0, "left", seed)
    start[:, 0] = torch.linspace(*box[0].ends, len(start))
    start[:, t] = 0
    start.requires_grad_()
    u = module(start)[:, 0]
    torch.testing.assert_close(u, wave.value(start), rtol=1e-12, atol=1e-12)
    (gradient,) = torch.autograd.grad(u.sum(), start)
    missed = float((gradient[:, t] - wave.slope(t)(start)).detach().abs().max())
    assert (missed <= 1e-10) == with_rate


@given(embedded(), st.integers(0, 1000))
def test_a_periodic_axis_has_the_same_value_and_slope_at_both_ends(case, seed):
    box, embedding = case
    network, lift = perceptron(embedding.size(len(box) + OTHERS), seed), WallLift(box)
    for i, axis in enumerate(box):
        if axis.is_periodic:
            ends = []
            for side in SIDES:
                points = points_on(box, i, side, seed, edges=False).requires_grad_()
                u = lift(points, network(embedding(points)))
                (gradient,) = torch.autograd.grad(u.sum(), points)
                ends.append(torch.cat((u.detach(), gradient), 1))
            torch.testing.assert_close(*ends, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("kinds", [(a, b) for a in KINDS for b in KINDS], ids=str)
def test_any_two_walls_leave_the_network_free_inside(kinds):
    """The factor vanishes nowhere inside, and with zero data the lift is nothing."""
    walls = [kind(-2.0) if kind is Robin else kind() for kind in kinds]
    lift = WallLift([Axis(1.0, 3.0, *walls)])
    inside = torch.linspace(1.01, 2.99, 50, dtype=torch.float64)[:, None]
    assert (lift.factor(inside) > 0).all()
    assert lift.factor(inside).max() < 4
    assert (lift.lift(inside) == 0).all()


@given(embedded(boxes(st.just(1), (Robin, Dirichlet, Clamped, Free))), st.integers(0, 1000))
def test_a_coefficient_may_vary_in_time(case, seed):
    (axis,), embedding = case

    def varying(wall):
        return Robin(lambda z: 1 + z[:, 1].sin(), 0.3) if wall.is_flat else wall

    box = [Axis(*axis.ends, varying(axis.left), varying(axis.right))]
    network, lift = perceptron(embedding.size(2), seed), WallLift(box)
    assert_held(box, lambda z: lift(z, network(embedding(z))), seed)


@given(
    boxes(st.just(1), (Neumann, Free)),
    st.data(),
    st.integers(0, 1000),
    st.booleans(),
    st.booleans(),
)
def test_the_output_transform_holds_any_flux_of_an_interval(box, data, seed, functions, free):
    box = with_data(box, seed, False) if functions else with_numbers(box, data.draw)
    network = perceptron(len(box) + OTHERS, seed)
    transform = OutputTransform(network, box)
    term = FreeTerm(perceptron(len(box) + OTHERS, seed + 1), box)

    def u_of(points):
        return transform(points) + term(points) if free else transform(points)

    plain, _ = misses(box, network, seed=seed)
    worst, size = misses(box, u_of, seed=seed)
    assert worst <= 1e-10 * max(size, plain)


@given(boxes(kinds=KINDS), st.integers(0, 1000))
def test_the_free_term_is_seen_at_no_wall(box, seed):
    term = FreeTerm(perceptron(len(box) + OTHERS, seed), box)
    clamped = [
        Axis(*axis.ends, *(Clamped() if axis.at(side).prescribed else OPEN for side in SIDES))
        for axis in box
    ]
    worst, _ = misses(clamped, term, seed=seed)
    assert worst == 0.0
    inside = points_on(box, 0, "left", seed)
    inside[:, : len(box)] = torch.tensor([(axis.low + axis.high) / 2 for axis in box])
    assert (term(inside) != 0).all()


def printed_on_an_interval(axis):
    left, right, a, b = axis.left.flux, axis.right.flux, axis.low, axis.high
    return lambda z: ((z - a) * (b - z) ** 2 * left + (z - a) ** 2 * (z - b) * right)[:, :1]


def printed_on_a_box(box):
    def lift(z):
        total = torch.zeros_like(z[:, 0])
        for i, axis in enumerate(box):
            left, right = axis.left.flux, axis.right.flux
            low, high = torch.ones_like(total), torch.ones_like(total)
            for j, other in enumerate(box):
                if j != i:
                    low = low * (other.high - z[:, j]) ** 2
                    high = high * (z[:, j] - other.low) ** 2
            total = total + left * (z[:, i] - axis.low) * low + right * (z[:, i] - axis.high) * high
        return total[:, None]

    return lift


@given(number(-5, 5), number(1.25, 8), number(0.5, 10), number(-10, -0.5))
def test_the_formula_printed_for_an_interval_fails_the_same_test(low, length, left, right):
    box = [Axis(low, low + length, Neumann(left), Neumann(right))]
    worst, size = misses(box, printed_on_an_interval(box[0]))
    assert worst > 1e-2 * size
    lift = WallLift(box)
    assert_held(box, lambda z: lift(z, 0 * z[:, :1]))


@given(
    boxes(st.integers(2, 3), (Neumann,)),
    st.lists(st.tuples(number(0.5, 10), number(0.5, 10)), min_size=3, max_size=3),
)
def test_the_formula_printed_for_a_box_fails_the_same_test(box, fluxes):
    box = [Axis(*axis.ends, *map(Neumann, pair)) for axis, pair in zip(box, fluxes, strict=False)]
    worst, size = misses(box, printed_on_a_box(box))
    assert worst > 1e-2 * size
    lift = WallLift(box)
    assert_held(box, lambda z: lift(z, 0 * z[:, :1]))


@pytest.mark.parametrize("dimensions", [1, 2, pytest.param(3, marks=pytest.mark.slow)])
def test_fluxes_hold_in_single_precision_and_second_derivatives_are_right(dimensions):
    """On walls, edges and corners, and as near to them as one may come."""
    flux = Neumann(lambda z: torch.cos(z.sum(1)))
    box = [Axis(0.0, 1.0, flux, flux)] * dimensions
    lift = WallLift(box)
    for dtype, precision in ((torch.float32, 1e-6), (torch.float64, 1e-12)):
        worst, _ = misses(box, lambda z: lift(z, 0 * z[:, :1]), dtype=dtype)
        assert worst <= precision

    z = torch.rand(100, dimensions + OTHERS, generator=torch.manual_seed(0))
    for k, distance in enumerate((0.0, 1e-12, 1e-7, 1e-4, 1e-2)):
        z[10 * k : 10 * k + 10, : min(dimensions, 2)] = distance
        z[50 + 10 * k : 60 + 10 * k, :dimensions] = distance

    def second_derivatives(z):
        z = z.requires_grad_()
        (gradient,) = torch.autograd.grad(lift.lift(z).sum(), z, create_graph=True)
        return torch.stack(
            [torch.autograd.grad(g.sum(), z, retain_graph=True)[0] for g in gradient.T]
        )

    here, truth = second_derivatives(z), second_derivatives(z.detach().double())
    assert here.isfinite().all()
    assert truth.isfinite().all()
    away = torch.cat((torch.arange(20, 50), torch.arange(70, 100)))
    assert float((here[:, away] - truth[:, away]).abs().max()) <= 1e-3


def test_compatible_fluxes_give_one_smooth_lift_and_others_one_that_jumps():
    """Second derivatives along a small circle around a corner: continuous, or not."""

    def spread_of_second_derivatives(*axes):
        lift = WallLift(axes)
        angles = torch.linspace(0.05, math.pi / 2 - 0.05, 9, dtype=torch.float64)
        z = 1e-4 * torch.stack((angles.cos(), angles.sin()), 1)
        z = z.requires_grad_()
        (gradient,) = torch.autograd.grad(lift.lift(z).sum(), z, create_graph=True)
        (second,) = torch.autograd.grad(gradient[:, 0].sum(), z)
        return float((second[:, 1].max() - second[:, 1].min()).abs())

    flux = Neumann(lambda z: torch.cos(z[:, 0] + z[:, 1]))
    assert spread_of_second_derivatives(*[Axis(0.0, 1.0, flux, flux)] * 2) < 1e-3
    alone = Axis(left=Neumann(lambda z: z[:, 1]))
    assert 0.5 < spread_of_second_derivatives(alone, Axis()) < 10


def test_other_inputs_and_open_axes_pass_through():
    embedding = CosineEmbedding([Axis(0, 1, OPEN, OPEN), Cosine.first(3, Axis(0, 2))])
    points = torch.rand(5, 4)
    features = embedding(points)
    assert embedding.size(4) == features.shape[1] == 6
    assert (features[:, 0] == points[:, 0]).all()
    assert (features[:, 4:] == points[:, 2:]).all()
    expected = torch.cos(math.pi * points[:, 1:2] / 2 * torch.tensor([1, 2, 3]))
    torch.testing.assert_close(features[:, 1:4], expected)


def test_a_wall_on_the_right_has_the_cosines_of_the_distance_from_it():
    points = torch.rand(5, 1, dtype=torch.float64)
    features = CosineEmbedding([Cosine((1, 2.5), Axis(0, 1, OPEN, INSULATED))])(points)
    expected = torch.cos(math.pi / 2 * (1 - points) * torch.tensor([1, 2.5]).double())
    torch.testing.assert_close(features, expected)


def test_a_periodic_axis_has_cosines_and_sines_of_its_length():
    points = torch.rand(5, 1, dtype=torch.float64)
    features = CosineEmbedding([Waves((1, 3), Axis(0, 2, Periodic(), Periodic()))])(points)
    angles = math.pi * points * torch.tensor([1, 3]).double()
    torch.testing.assert_close(features, torch.cat((angles.cos(), angles.sin()), 1))


def test_layers_are_modules_that_move_and_have_no_parameters_of_their_own():
    """To the device `meta`, which refuses to mix with any other."""
    axes = [
        Axis(-1, 1, Robin(1.0, lambda z: z[:, 1])),
        Axis(0, 2, Robin(0.5, 2.0), Dirichlet(lambda z: z[:, 0])),
    ]
    network = perceptron(3, 0, torch.float32)
    layers = [
        CosineEmbedding([Cosine.first(3, axes[0]), axes[1]]),
        WallLift(axes),
        OutputTransform(network, [Axis(right=Neumann(lambda z: z[:, 1])), Axis(0, 1, OPEN, OPEN)]),
        FreeTerm(network, axes),
        HardWalls(perceptron(5, 0, torch.float32), axes, initial=lambda z: z[:, 0]),
    ]
    assert not [parameter for layer in layers[:2] for parameter in layer.parameters()]
    assert not [name for layer in layers[:2] for name in layer.state_dict()]
    for device in ("cpu", "meta"):
        points = torch.rand(3, 3, device=device)
        for layer in layers:
            layer = copy.deepcopy(layer).to(device)
            inputs = (points, points[:, :1]) if isinstance(layer, WallLift) else (points,)
            out = layer(*inputs)
            assert out.dtype == torch.float32
            assert out.device.type == device
    assert "Axis(low=-1, high=1" in repr(layers[0])


def test_unknowns_with_walls_of_their_own_are_columns_of_one_output():
    boxes = [[Axis(0, 1, Dirichlet(2.0), Dirichlet(3.0))], [Axis()]]
    fields = [HardWalls(perceptron(HardWalls.size(box, 2), 0), box) for box in boxes]
    walls = torch.tensor([[0.0, 0.3], [1.0, 0.6]], dtype=torch.float64).requires_grad_()
    out = Columns(*fields)(walls)
    assert out[:, 0].tolist() == [2.0, 3.0]
    (gradient,) = torch.autograd.grad(out[:, 1].sum(), walls)
    assert gradient[:, 0].tolist() == [0.0, 0.0]
    assert len(list(Columns(*fields).parameters())) == 8


def test_layers_take_no_point_one_point_and_no_gradients():
    axis = Axis(-1, 1, Neumann(1.0), Neumann(lambda z: z[:, 1]))
    module = HardWalls(perceptron(3, 0, torch.float32), [axis])
    for n in (0, 1):
        points = torch.rand(n, 2)
        with torch.inference_mode():
            assert module(points).shape == (n, 1)


def test_data_may_be_trained():
    """A parameter, or a module: an unknown flux is an inverse problem."""
    unknown, network = (
        torch.nn.Parameter(torch.tensor(0.3)),
        torch.nn.Sequential(perceptron(2, 0, torch.float32), torch.nn.Flatten(0)),
    )
    lift = WallLift([Axis(left=Neumann(unknown), right=Neumann(network))])
    assert {id(p) for p in lift.parameters()} == {id(p) for p in (unknown, *network.parameters())}
    points = torch.rand(4, 2)
    lift(points, points[:, :1]).sum().backward()
    assert all(p.grad is not None for p in lift.parameters())


def lifted(flux):
    return lambda: WallLift([Axis(left=Neumann(flux))])(*[torch.rand(4, 1)] * 2)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Axis(1, 1), "lower one first"),
        (lambda: Axis(0, math.inf), "finite"),
        (lambda: Axis(0, 1, "left"), "left wall 'left': give one of Neumann, Dirichlet"),
        (lambda: Axis(0, 1, right=2.0), "right wall 2.0: .* as in Dirichlet"),
        (lambda: Axis(0, 1, Periodic()), "give Periodic.. for both"),
        (lambda: Cosine((1,), Axis(0, 1, OPEN, Dirichlet())), "makes a wall flat"),
        (lambda: Waves((1,), Axis()), "a periodic axis"),
        (lambda: Waves((1, 2.5)), "whole numbers"),
        (lambda: Cosine((1, 2.5)), "whole numbers"),
        (lambda: Cosine((1, -2.5), Axis(**LEFT_ONLY)), "positive"),
        (lambda: Cosine((2.5,), Axis(**LEFT_ONLY)), "add 1"),
        (lambda: OutputTransform(torch.nn.Identity(), [Axis(), Axis()]), "one axis, not of 2"),
        (lambda: OutputTransform(torch.nn.Identity(), [Axis(left=Dirichlet())]), "holds slopes"),
        (Columns, "at least one module"),
        (lambda: FreeTerm(torch.nn.Identity(), [Axis(0, 1, *[Periodic()] * 2)]), "not be periodic"),
        (lambda: HardWalls(torch.nn.Identity(), [Axis()], rate=1.0), "give an initial value"),
        (lambda: WallLift([Axis(left=Robin(len)), Axis()]), "axis 0, left wall: .* give a number"),
        (lambda: Cosine((1, math.nan)), "positive"),
        (lambda: Cosine((1, math.inf)), "positive"),
        (lambda: Cosine.sample(3, 0.0, 0, Axis(**LEFT_ONLY)), "positive std"),
        (lambda: Cosine.sample(0, 1.0, 0, Axis(**LEFT_ONLY)), "at least 1"),
        (lambda: CosineEmbedding(Axis()), "a list"),
        (lambda: CosineEmbedding([]), "at least one"),
        (lambda: CosineEmbedding([(0, 1)]), "not an Axis"),
        (lambda: CosineEmbedding([Axis(), Axis()])(torch.rand(4, 1)), "2 coordinates"),
        (lambda: CosineEmbedding([Axis()])(torch.ones(4, 1, dtype=torch.int64)), "floating-point"),
        (lambda: WallLift([Axis()])(torch.rand(4, 1), torch.rand(4)), "one column"),
        (lambda: FreeTerm(lambda z: z[:, 0], [Axis()])(torch.rand(4, 1)), "one column"),
        (lifted(lambda z: 1.0), "one number"),
        (lifted(lambda z: z), "one number"),
    ],
)
def test_mistakes_are_told(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_layers_work_under_forward_mode_and_vmap():
    axis = Axis(-1.5, 2.0, Neumann(1.0), Neumann(lambda z: z[:, 1]))
    module = HardWalls(perceptron(3, 0), [axis], initial=lambda z: z[:, 0].sin())

    def u(point):
        return module(point[None])[0, 0]

    points = torch.rand(6, 2, dtype=torch.float64)
    forward = torch.func.vmap(torch.func.jacfwd(torch.func.jacrev(u)))(points)
    z = points.clone().requires_grad_()
    (gradient,) = torch.autograd.grad(module(z).sum(), z, create_graph=True)
    for i in range(2):
        (row,) = torch.autograd.grad(gradient[:, i].sum(), z, retain_graph=True)
        torch.testing.assert_close(forward[:, i], row, rtol=1e-10, atol=1e-12)


def test_a_subclass_of_tensors_that_indexes_differently_is_taken_as_plain():
    class Labelled(torch.Tensor):
        def __getitem__(self, index):
            return super().__getitem__(index).reshape(len(self), -1)

    axis = Axis()
    points = torch.rand(4, 2)
    for layer in (CosineEmbedding([axis]), FreeTerm(perceptron(2, 0, torch.float32), [axis])):
        torch.testing.assert_close(layer(points.as_subclass(Labelled)), layer(points))
    lift = WallLift([Axis(left=Neumann(1.0), right=Neumann(2.0))])
    labelled = lift(points.as_subclass(Labelled), points[:, :1])
    torch.testing.assert_close(labelled, lift(points, points[:, :1]))
