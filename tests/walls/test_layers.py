"""The layers hold what is prescribed at every wall, for any box, flux, frequency and weight."""

import copy
import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from neumann_pinn import (
    Axis,
    Cosine,
    CosineEmbedding,
    FluxLift,
    FreeTerm,
    OutputTransform,
    RobinLift,
)
from neumann_pinn.walls.axes import SIDES

OTHERS = 1  # t
ANY = st.integers(1, 3)


def number(low, high):
    return st.floats(low, high, allow_nan=False, width=32)


@st.composite
def axes(draw, dimensions=ANY, walls=("both", "left", "right", "none")):
    """Axes with at least one held wall among them."""
    count = draw(dimensions)
    held = draw(
        st.lists(st.sampled_from(walls), min_size=count, max_size=count).filter(
            lambda kinds: any(kind != "none" for kind in kinds)
        )
    )
    lows = [draw(number(-5, 5)) for _ in held]
    return [
        Axis(low, low + draw(number(0.25, 8)), kind) for low, kind in zip(lows, held, strict=True)
    ]


@st.composite
def embedded(draw, boxes=None):
    """Axes, and an embedding of them with frequencies given, sampled or 1 ... n."""
    box = draw(boxes if boxes is not None else axes())
    parts = []
    for axis in box:
        if not axis.held:
            parts.append(axis)
            continue
        kind = draw(st.sampled_from(["one", "first", "sample", "given"]))
        if kind == "one":
            parts.append(axis)
        elif kind == "first":
            parts.append(Cosine.first(draw(st.integers(1, 8)), axis))
        elif kind == "sample":
            seed = draw(st.integers(0, 1000))
            parts.append(Cosine.sample(draw(st.integers(1, 10)), 20.0, seed, axis))
        else:
            others = st.integers(2, 60) if axis.walls == "both" else number(1.5, 60)
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


def constant_fluxes(box, draw):
    return [
        tuple(draw(number(-10, 10)) if side in axis.held else 0.0 for side in SIDES) for axis in box
    ]


def wave(box, i, side, seed, potential):
    """A flux of all other coordinates and time: of one potential, or of its own for each wall."""
    own = seed if potential else seed + 2 * i + SIDES[side] + 1
    generator = torch.Generator().manual_seed(own)
    rates = torch.randn(len(box) + OTHERS, generator=generator).double()
    phase = torch.randn(1, generator=generator).double()
    scales = torch.tensor([axis.high - axis.low for axis in box] + [1.0] * OTHERS).double()

    def flux(points):
        angle = (points * rates / scales).sum(1) + phase
        return rates[i] / scales[i] * torch.cos(angle) if potential else torch.sin(angle)

    return flux


def wave_fluxes(box, seed, potential):
    return [
        tuple(wave(box, i, side, seed, potential) if side in axis.held else 0.0 for side in SIDES)
        for i, axis in enumerate(box)
    ]


def points_on(box, i, side, seed, dtype=torch.float64, n=8):
    """Random points of a wall, some of them on its edges and corners."""
    generator = torch.Generator().manual_seed(seed)
    shares = torch.rand(n, len(box) + OTHERS, generator=generator, dtype=dtype)
    points = shares.clone()
    for j, axis in enumerate(box):
        low, high = (torch.tensor(end, dtype=dtype) for end in axis.ends)
        points[:, j] = low + (high - low) * shares[:, j]
        if j != i:
            for k, wall in enumerate(axis.held):
                points[j + k, j] = axis.wall(wall)
    points[:, i] = box[i].wall(side)
    return points


def misses(box, fluxes, u_of, coefficients=None, seed=0, dtype=torch.float64):
    """|du/dx_i + k u - flux| at points of every held wall."""
    found = []
    for i, axis in enumerate(box):
        for side in axis.held:
            points = points_on(box, i, side, seed, dtype).requires_grad_()
            u = u_of(points)
            (gradient,) = torch.autograd.grad(u.sum(), points)
            flux = fluxes[i][SIDES[side]]
            prescribed = flux(points) if callable(flux) else torch.tensor(flux, dtype=dtype)
            k = coefficients[i][SIDES[side]] if coefficients else 0.0
            found.append((gradient[:, i] + k * u[:, 0] - prescribed).detach().abs())
    return float(torch.cat(found).max())  # NaN if any is


def largest_flux(box, fluxes, seed=0):
    sizes = [1e-3]
    for i, axis in enumerate(box):
        for side in axis.held:
            flux = fluxes[i][SIDES[side]]
            points = points_on(box, i, side, seed)
            sizes.append(float(flux(points).abs().max()) if callable(flux) else abs(flux))
    return max(sizes)


@given(embedded(), st.integers(0, 1000), st.sampled_from([torch.float32, torch.float64]))
def test_insulated_walls_are_flat_to_the_bit(case, seed, dtype):
    box, embedding = case
    network = perceptron(embedding.size(len(box) + OTHERS), seed, dtype)
    insulated = [(0.0, 0.0)] * len(box)
    lift = FluxLift(box, insulated)
    assert misses(box, insulated, lambda z: lift(z, network(embedding(z))), dtype=dtype) == 0.0


@given(embedded(), st.data(), st.integers(0, 1000))
def test_constant_fluxes_hold_at_every_wall(case, data, seed):
    box, embedding = case
    fluxes = constant_fluxes(box, data.draw)
    network, lift = perceptron(embedding.size(len(box) + OTHERS), seed), FluxLift(box, fluxes)
    worst = misses(box, fluxes, lambda z: lift(z, network(embedding(z))), seed=seed)
    assert worst <= 1e-10 * largest_flux(box, fluxes)


@given(embedded(), st.integers(0, 1000), st.booleans())
def test_fluxes_that_are_functions_hold_at_every_wall_and_edge(case, seed, compatible):
    """Compatible: all are slopes of one potential. Otherwise they disagree along the edges."""
    box, embedding = case
    fluxes = wave_fluxes(box, seed, compatible)
    network, lift = perceptron(embedding.size(len(box) + OTHERS), seed), FluxLift(box, fluxes)
    worst = misses(box, fluxes, lambda z: lift(z, network(embedding(z))), seed=seed)
    assert worst <= 1e-10 * largest_flux(box, fluxes, seed)


@given(embedded(), st.data(), st.integers(0, 1000), st.booleans())
def test_robin_conditions_hold_at_every_wall(case, data, seed, functions):
    box, embedding = case
    fluxes = wave_fluxes(box, seed, False) if functions else constant_fluxes(box, data.draw)
    coefficients = [
        tuple(data.draw(number(-100, 100)) if side in axis.held else 0.0 for side in SIDES)
        for axis in box
    ]
    network = perceptron(embedding.size(len(box) + OTHERS), seed)
    lift = RobinLift(box, fluxes, coefficients)

    def u_of(points):
        return lift(points, network(embedding(points)))

    at_walls = [
        float(u_of(points_on(box, i, side, seed)).detach().abs().max())
        for i, axis in enumerate(box)
        for side in axis.held
    ]
    largest = max(1.0, *(abs(k) for pair in coefficients for k in pair))
    scale = max(largest_flux(box, fluxes, seed), largest * max(at_walls))
    assert misses(box, fluxes, u_of, coefficients, seed) <= 1e-10 * scale


@given(
    axes(st.just(1), ("both", "left", "right")),
    st.data(),
    st.integers(0, 1000),
    st.booleans(),
    st.booleans(),
)
def test_the_output_transform_holds_any_flux_of_an_interval(box, data, seed, functions, free):
    fluxes = wave_fluxes(box, seed, False) if functions else constant_fluxes(box, data.draw)
    network = perceptron(len(box) + OTHERS, seed)
    transform = OutputTransform(network, box, fluxes)
    term = FreeTerm(perceptron(len(box) + OTHERS, seed + 1), box)

    def u_of(points):
        return transform(points) + term(points) if free else transform(points)

    plain = misses(box, [(0.0, 0.0)], network, seed=seed)
    scale = max(largest_flux(box, fluxes, seed), plain)
    assert misses(box, fluxes, u_of, seed=seed) <= 1e-10 * scale


@given(axes(), st.integers(0, 1000))
def test_the_free_term_is_seen_at_no_wall(box, seed):
    term = FreeTerm(perceptron(len(box) + OTHERS, seed), box)
    assert misses(box, [(0.0, 0.0)] * len(box), term, seed=seed) == 0.0
    inside = points_on([Axis(axis.low, axis.high) for axis in box], 0, "left", seed)
    inside[:, : len(box)] = torch.tensor([(axis.low + axis.high) / 2 for axis in box])
    assert (term(inside) != 0).all()


def printed_on_an_interval(axis, fluxes):
    (left, right), a, b = fluxes[0], axis.low, axis.high
    return lambda z: ((z - a) * (b - z) ** 2 * left + (z - a) ** 2 * (z - b) * right)[:, :1]


def printed_on_a_box(box, fluxes):
    def lift(z):
        total = torch.zeros_like(z[:, 0])
        for i, axis in enumerate(box):
            left, right = fluxes[i]
            low, high = torch.ones_like(total), torch.ones_like(total)
            for j, other in enumerate(box):
                if j != i:
                    low = low * (other.high - z[:, j]) ** 2
                    high = high * (z[:, j] - other.low) ** 2
            total = total + left * (z[:, i] - axis.low) * low + right * (z[:, i] - axis.high) * high
        return total[:, None]

    return lift


@given(number(-5, 5), number(1.25, 8), st.tuples(number(0.5, 10), number(-10, -0.5)))
def test_the_formula_printed_for_an_interval_fails_the_same_test(low, length, pair):
    box, fluxes = [Axis(low, low + length)], [pair]
    worst = misses(box, fluxes, printed_on_an_interval(box[0], fluxes))
    assert worst > 1e-2 * largest_flux(box, fluxes)
    lift = FluxLift(box, fluxes)
    assert misses(box, fluxes, lambda z: lift(z, 0 * z[:, :1])) <= 1e-10 * largest_flux(box, fluxes)


@given(
    axes(st.integers(2, 3), ("both",)),
    st.lists(st.tuples(number(0.5, 10), number(0.5, 10)), min_size=3, max_size=3),
)
def test_the_formula_printed_for_a_box_fails_the_same_test(box, fluxes):
    fluxes = fluxes[: len(box)]
    assert misses(box, fluxes, printed_on_a_box(box, fluxes)) > 1e-2 * largest_flux(box, fluxes)
    lift = FluxLift(box, fluxes)
    assert misses(box, fluxes, lambda z: lift(z, 0 * z[:, :1])) <= 1e-10 * largest_flux(box, fluxes)


@pytest.mark.parametrize("dimensions", [1, 2, 3])
def test_fluxes_hold_in_single_precision_and_second_derivatives_are_right(dimensions):
    """On walls, edges and corners, and as near to them as one may come."""
    box = [Axis()] * dimensions
    fluxes = [(lambda z: torch.cos(z.sum(1)),) * 2] * dimensions
    lift = FluxLift(box, fluxes)
    for dtype, precision in ((torch.float32, 1e-6), (torch.float64, 1e-12)):
        assert misses(box, fluxes, lambda z: lift(z, 0 * z[:, :1]), dtype=dtype) <= precision

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
    box = [Axis(), Axis()]

    def spread_of_second_derivatives(fluxes):
        lift = FluxLift(box, fluxes)
        angles = torch.linspace(0.05, math.pi / 2 - 0.05, 9, dtype=torch.float64)
        z = 1e-4 * torch.stack((angles.cos(), angles.sin()), 1)
        z = z.requires_grad_()
        (gradient,) = torch.autograd.grad(lift.lift(z).sum(), z, create_graph=True)
        (second,) = torch.autograd.grad(gradient[:, 0].sum(), z)
        return float((second[:, 1].max() - second[:, 1].min()).abs())

    compatible = [
        (lambda z: torch.cos(z[:, 0] + z[:, 1]),) * 2,
        (lambda z: torch.cos(z[:, 0] + z[:, 1]),) * 2,
    ]
    assert spread_of_second_derivatives(compatible) < 1e-3
    assert 0.5 < spread_of_second_derivatives([(lambda z: z[:, 1], 0.0), (0.0, 0.0)]) < 10


def test_other_inputs_and_free_axes_pass_through():
    embedding = CosineEmbedding([Axis(walls="none"), Cosine.first(3, Axis(0, 2))])
    points = torch.rand(5, 4)
    features = embedding(points)
    assert embedding.size(4) == features.shape[1] == 6
    assert (features[:, 0] == points[:, 0]).all()
    assert (features[:, 4:] == points[:, 2:]).all()
    expected = torch.cos(math.pi * points[:, 1:2] / 2 * torch.tensor([1, 2, 3]))
    torch.testing.assert_close(features[:, 1:4], expected)


def test_a_wall_on_the_right_has_the_cosines_of_the_distance_from_it():
    points = torch.rand(5, 1, dtype=torch.float64)
    features = CosineEmbedding([Cosine((1, 2.5), Axis(0, 1, "right"))])(points)
    expected = torch.cos(math.pi / 2 * (1 - points) * torch.tensor([1, 2.5]).double())
    torch.testing.assert_close(features, expected)


def test_layers_are_modules_that_move_and_have_no_parameters_of_their_own():
    """To the device `meta`, which refuses to mix with any other."""
    axes = [Axis(-1, 1), Axis(0, 2, "left")]
    varying, network = (lambda z: z[:, 1], 0.0), perceptron(3, 0, torch.float32)
    layers = [
        CosineEmbedding([Cosine.first(3, axes[0]), axes[1]]),
        RobinLift(axes, [varying, (2.0, 0.0)], [(1.0, 0.0), (0.5, 0.0)]),
        OutputTransform(network, [axes[0], Axis(walls="none")], [varying, (0, 0)]),
        FreeTerm(network, axes),
    ]
    assert not [parameter for layer in layers[:2] for parameter in layer.parameters()]
    assert not [name for layer in layers[:2] for name in layer.state_dict()]
    for device in ("cpu", "meta"):
        points = torch.rand(3, 3, device=device)
        for layer in layers:
            layer = copy.deepcopy(layer).to(device)
            inputs = (points, points[:, :1]) if isinstance(layer, RobinLift) else (points,)
            out = layer(*inputs)
            assert out.dtype == torch.float32
            assert out.device.type == device
    assert "Axis(low=-1, high=1" in repr(layers[0])


def test_layers_take_no_point_one_point_and_no_gradients():
    axis = Axis(-1, 1)
    embedding, lift = CosineEmbedding([axis]), FluxLift([axis], [(1.0, lambda z: z[:, 1])])
    for n in (0, 1):
        points = torch.rand(n, 2)
        with torch.inference_mode():
            assert lift(points, embedding(points)[:, :1]).shape == (n, 1)


def test_a_flux_may_be_trained():
    """A parameter, or a module: an unknown flux is an inverse problem."""
    unknown, network = (
        torch.nn.Parameter(torch.tensor(0.3)),
        torch.nn.Sequential(perceptron(2, 0, torch.float32), torch.nn.Flatten(0)),
    )
    lift = FluxLift([Axis()], [(unknown, network)])
    assert {id(p) for p in lift.parameters()} == {id(p) for p in (unknown, *network.parameters())}
    points = torch.rand(4, 2)
    lift(points, points[:, :1]).sum().backward()
    assert all(p.grad is not None for p in lift.parameters())


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Axis(1, 1), "lower one first"),
        (lambda: Axis(0, math.inf), "finite"),
        (lambda: Axis(walls="top"), "both, left, right, none"),
        (lambda: Cosine((1,), Axis(walls="none")), "holds a wall"),
        (lambda: Cosine((1, 2.5)), "whole numbers"),
        (lambda: Cosine((1, -2.5), Axis(walls="left")), "positive"),
        (lambda: Cosine((2.5,), Axis(walls="left")), "add 1"),
        (lambda: FluxLift([Axis()], []), "a pair"),
        (lambda: FluxLift([Axis(walls="left")], [(1.0, 2.0)]), "right wall .* not held"),
        (lambda: RobinLift([Axis()], [(0.0, 0.0)], [(1.0,)]), "a pair"),
        (lambda: OutputTransform(torch.nn.Identity(), [Axis(), Axis()]), "one axis, not of 2"),
        (lambda: Cosine((1, math.nan)), "positive"),
        (lambda: Cosine((1, math.inf)), "positive"),
        (lambda: Cosine.sample(3, 0.0, 0, Axis(walls="left")), "positive std"),
        (lambda: Cosine.sample(0, 1.0, 0, Axis(walls="left")), "at least 1"),
        (lambda: CosineEmbedding(Axis()), "a list"),
        (lambda: CosineEmbedding([]), "at least one"),
        (lambda: CosineEmbedding([(0, 1)]), "not an Axis"),
        (lambda: FluxLift([Axis(), Axis()], (1.0, 2.0)), "a pair"),
        (lambda: RobinLift([Axis()], [(0.0, 0.0)], [(len, 0.0)]), "give numbers"),
        (lambda: CosineEmbedding([Axis(), Axis()])(torch.rand(4, 1)), "2 space coordinates"),
        (lambda: CosineEmbedding([Axis()])(torch.ones(4, 1, dtype=torch.int64)), "floating-point"),
        (lambda: FluxLift([Axis()], [(1.0, 0.0)])(torch.rand(4, 1), torch.rand(4)), "one column"),
        (lambda: FreeTerm(lambda z: z[:, 0], [Axis()])(torch.rand(4, 1)), "one column"),
        (lambda: FluxLift([Axis()], [(lambda z: 1.0, 0.0)])(*[torch.rand(4, 1)] * 2), "one number"),
        (lambda: FluxLift([Axis()], [(lambda z: z, 0.0)])(*[torch.rand(4, 1)] * 2), "one number"),
    ],
)
def test_mistakes_are_told(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_layers_work_under_forward_mode_and_vmap():
    axis = Axis(-1.5, 2.0)
    embedding, lift = CosineEmbedding([axis]), FluxLift([axis], [(1.0, lambda z: z[:, 1])])
    network = perceptron(2, 0)

    def u(point):
        points = point[None]
        return lift(points, network(embedding(points)))[0, 0]

    points = torch.rand(6, 2, dtype=torch.float64)
    forward = torch.func.vmap(torch.func.jacfwd(torch.func.jacrev(u)))(points)
    z = points.clone().requires_grad_()
    total = lift(z, network(embedding(z))).sum()
    (gradient,) = torch.autograd.grad(total, z, create_graph=True)
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
    lift = FluxLift([axis], [(1.0, 2.0)])
    labelled = lift(points.as_subclass(Labelled), points[:, :1])
    torch.testing.assert_close(labelled, lift(points, points[:, :1]))
