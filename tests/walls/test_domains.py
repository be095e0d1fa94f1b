"""Smooth walls hold their fluxes exactly, for any ball, shell, cylinder, data and weights."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from neumann_pinn import (
    Annulus,
    Axis,
    Ball,
    CosineEmbedding,
    Dirichlet,
    FreeTerm,
    GaussNewton,
    HardWalls,
    Implicit,
    Neumann,
    OutputTransform,
    WallLift,
)
from neumann_pinn.walls.domains import Domain

TIME = 1
DIMENSIONS = st.integers(1, 3)
SEEDS = st.integers(0, 1000)


def number(low, high):
    return st.floats(low, high, allow_nan=False, width=32)


def generator(seed):
    return torch.Generator().manual_seed(seed)


def random(*shape, seed):
    return torch.randn(*shape, generator=generator(seed), dtype=torch.float64)


def perceptron(inputs, seed):
    layers = nn.Sequential(nn.Linear(inputs, 12), nn.Tanh(), nn.Linear(12, 1)).double()
    with torch.no_grad():
        for i, parameter in enumerate(layers.parameters()):
            parameter.copy_(random(*parameter.shape, seed=seed + i))
    return layers


class Wave:
    """sin(rates . z + phase) of all inputs, and what it has at a wall."""

    def __init__(self, inputs, seed):
        self.rates, self.phase = random(inputs, seed=seed), random(1, seed=seed + 1)

    def value(self, z):
        return torch.sin(z @ self.rates + self.phase)

    def slope(self, i):
        return lambda z: self.rates[i] * torch.cos(z @ self.rates + self.phase)

    def flux(self, domain):
        """The normal derivative at the wall of a domain."""
        n = domain.dimension
        return lambda z: (
            domain.normal(z[:, :n]) @ self.rates[:n] * torch.cos(z @ self.rates + self.phase)
        )


class Shape:
    """A domain for given walls, and random points on each of them with their outward normals."""

    def __init__(self, make, walls):
        self.make, self.walls = make, walls


def directions(dimension, seed, n=8):
    return nn.functional.normalize(random(n, dimension, seed=seed), dim=1)


@st.composite
def balls(draw):
    center = [draw(number(-5, 5)) for _ in range(draw(DIMENSIONS))]
    radius = draw(number(0.25, 8))
    out = directions(len(center), draw(SEEDS))
    points = torch.tensor(center).double() + radius * out
    return Shape(lambda *wall: Ball(center, radius, *wall), [(points, out)])


@st.composite
def shells(draw):
    center = [draw(number(-5, 5)) for _ in range(draw(DIMENSIONS))]
    inner = draw(number(0.25, 4))
    outer = inner + draw(number(0.25, 4))
    out, middle = directions(len(center), draw(SEEDS)), torch.tensor(center).double()
    walls = [(middle + inner * out, -out), (middle + outer * out, out)]
    return Shape(lambda *wall: Annulus(center, inner, outer, *2 * wall), walls)


@st.composite
def ellipsoids(draw):
    """1 - |A (x - center)|^2 > 0."""
    center = torch.tensor([draw(number(-5, 5)) for _ in range(draw(DIMENSIONS))]).double()
    stretch = torch.tensor([draw(number(0.5, 2)) for _ in center]).double()
    out = directions(len(center), draw(SEEDS))
    low, high = (center - 1 / stretch).tolist(), (center + 1 / stretch).tolist()

    def f(x):
        return 1 - (((x - center) * stretch) ** 2).sum(1)

    normals = nn.functional.normalize(out * stretch, dim=1)
    walls = [(center + out / stretch, normals)]
    return Shape(lambda *wall: Implicit(f, low, high, *wall), walls)


SHAPES = st.one_of(balls(), shells(), ellipsoids())


def assert_flux(u, shape, expected, others):
    """du/dn is as expected at the wall, at given values of the other inputs."""
    for points, normals in shape.walls:
        z = torch.cat((points, others), 1).requires_grad_()
        (gradient,) = torch.autograd.grad(u(z).sum(), z)
        found = (gradient[:, : points.shape[1]] * normals).sum(1)
        data = expected(z).detach()
        size = max(float(gradient.abs().max()), float(data.abs().max()), 1.0)
        assert float((found - data).abs().max()) <= 1e-10 * size


def wrapped(kind, parts, inputs, seed, **data):
    size = HardWalls.size(parts, inputs) if kind is HardWalls else inputs
    return kind(perceptron(size, seed), parts, **data)


def times(seed):
    return random(8, TIME, seed=seed)


@given(SHAPES, SEEDS, st.sampled_from([HardWalls, OutputTransform]))
def test_an_insulated_wall_is_flat_to_rounding(shape, seed, kind):
    domain = shape.make()
    u = wrapped(kind, [domain], domain.dimension + TIME, seed)
    assert_flux(u, shape, lambda z: 0 * z[:, 0], times(seed))


@given(SHAPES, SEEDS, number(-10, 10), st.sampled_from([HardWalls, OutputTransform]))
def test_a_number_is_the_outward_normal_derivative(shape, seed, flux, kind):
    domain = shape.make(Neumann(flux))
    u = wrapped(kind, [domain], domain.dimension + TIME, seed)
    assert_flux(u, shape, lambda z: flux + 0 * z[:, 0], times(seed))


@given(SHAPES, SEEDS, st.sampled_from([HardWalls, OutputTransform]))
def test_a_flux_may_vary_along_the_wall_and_in_time(shape, seed, kind):
    inputs = shape.make().dimension + TIME
    flux = Wave(inputs, seed).value
    u = wrapped(kind, [shape.make(Neumann(flux))], inputs, seed)
    assert_flux(u, shape, flux, times(seed))


@given(SHAPES, SEEDS, number(-5, 5), number(0.25, 8), st.booleans(), st.booleans())
def test_a_cylinder_holds_all_its_walls_and_the_start(shape, seed, low, length, value, compatible):
    """All data are of one wave."""
    n = shape.make().dimension
    wave = Wave(n + 2, seed)
    slope = Neumann(wave.slope(n))
    axis = Axis(low, low + length, Dirichlet(wave.value) if value else slope, slope)
    parts = [shape.make(Neumann(wave.flux(shape.make()))), axis]
    u = wrapped(HardWalls, parts, n + 2, seed, initial=wave.value, compatible=compatible)
    heights = low + length * torch.rand(8, generator=generator(seed), dtype=torch.float64)
    others = torch.stack((heights, heights.abs()), 1)
    assert_flux(u, shape, wave.flux(parts[0]), others)
    for points, normals in shape.walls:
        for x in (points, points - 0.1 * normals):
            end, start = torch.cat((x, others), 1), torch.cat((x, others), 1)
            end[:, n], start[:, n + 1] = axis.high, 0
            end.requires_grad_()
            (gradient,) = torch.autograd.grad(u(end).sum(), end)
            expected = wave.slope(n)(end).detach()
            torch.testing.assert_close(gradient[:, n], expected, rtol=1e-8, atol=1e-8)
            torch.testing.assert_close(u(start)[:, 0], wave.value(start), rtol=1e-9, atol=1e-9)


@given(SHAPES, SEEDS)
def test_a_free_term_is_not_seen_at_the_wall(shape, seed):
    domain = shape.make()
    term = FreeTerm(perceptron(domain.dimension + TIME, seed), [domain])
    assert_flux(term, shape, lambda z: 0 * z[:, 0], times(seed))


@given(SHAPES)
def test_the_normal_and_the_depth_are_those_of_the_wall(shape):
    domain = shape.make()
    for points, normals in shape.walls:
        torch.testing.assert_close(domain.normal(points), normals, rtol=1e-10, atol=1e-10)
        assert float(domain.depth(points).abs().max()) <= 1e-12
        assert (domain.depth(points - 1e-3 * normals) > 0).all()
        assert (domain.depth(points + 1e-3 * normals) < 0).all()


def examples():
    def egg(x):
        return 1 - x[:, 0] ** 2 - 2 * x[:, 1] ** 2 - x[:, 0] * x[:, 1] ** 2 / 2

    return [Ball((0.0, 0.0)), Annulus((0.0, 0.0), 0.3, 1.0), Implicit(egg, (-1, -1), (1, 1))]


@pytest.mark.parametrize("domain", examples(), ids=lambda domain: type(domain).__name__)
def test_different_points_have_different_features(domain):
    """The distance of features is not much less than that of points, or its square at the wall."""
    x = 2 * torch.rand(4000, 2, generator=generator(0), dtype=torch.float64) - 1
    x = x[domain.depth(x) > 0][:1500]
    apart = torch.cdist(x, x) + torch.eye(len(x))
    features = domain.features(x)
    assert CosineEmbedding([domain]).size(2) == features.shape[1] == domain.size
    assert float(((torch.cdist(features, features) + torch.eye(len(x))) / apart**2).min()) > 0.2


@pytest.mark.parametrize("domain", examples(), ids=lambda domain: type(domain).__name__)
def test_derivatives_are_finite_and_the_same_by_autograd_and_in_forward_mode(domain):
    """At the center, too, where it is part of the domain."""
    module = wrapped(HardWalls, [domain], 3, 0, initial=lambda z: z[:, 0].sin())

    def u(point):
        return module(point[None])[0, 0]

    z = torch.tensor([[0.0, 0, 0.5], [0.3, 0.4, 1], [0.1, -0.6, 0]]).double()
    z = z[1:] if isinstance(domain, Annulus) else z
    forward = torch.func.vmap(torch.func.jacfwd(torch.func.jacrev(u)))(z)
    assert forward.isfinite().all()
    z.requires_grad_()
    (gradient,) = torch.autograd.grad(module(z).sum(), z, create_graph=True)
    for i in range(3):
        (row,) = torch.autograd.grad(gradient[:, i].sum(), z, retain_graph=True)
        torch.testing.assert_close(forward[:, i], row, rtol=1e-10, atol=1e-12)


def test_an_implicit_ball_is_a_ball():
    x = torch.rand(20, 3, generator=generator(0), dtype=torch.float64) / 2
    ball = Ball((0.0, 0.0, 0.0), 1.0)
    implicit = Implicit(lambda x: 5 - 5 * (x**2).sum(1), (-1, -1, -1), (1, 1, 1))
    torch.testing.assert_close(implicit.features(x), ball.features(x), rtol=1e-3, atol=1e-3)


def test_domains_move_take_single_precision_and_no_gradients():
    for domain in examples():
        module = HardWalls(nn.Linear(domain.size, 1), [domain])
        with torch.inference_mode():
            assert module(torch.rand(3, 2)).dtype == torch.float32
            assert module(torch.rand(0, 2)).shape == (0, 1)
        assert module.to("meta")(torch.rand(3, 2, device="meta")).device.type == "meta"


def disk(flux):
    return Ball((0.0, 0.0), 1.0, Neumann(flux))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Ball((0, 0), 0.0), "radius 0.0 .* positive"),
        (lambda: Ball((0, 0), -1.0), "radius -1.0 .* positive"),
        (lambda: Ball((0, 0), math.inf), "radius inf"),
        (lambda: Ball(()), "center .* each coordinate"),
        (lambda: Ball((0, math.nan)), "center .* each coordinate"),
        (lambda: Ball((0, 0), 1.0, Dirichlet()), "wall Dirichlet.* give Neumann"),
        (lambda: Annulus((0, 0), 1.0, 1.0), "the inner one first"),
        (lambda: Annulus((0, 0), 0.0, 1.0), "positive radii"),
        (lambda: Annulus((0, 0), 0.5, 1.0, at_outer=2.0), "at_outer 2.0: .* give Neumann"),
        (lambda: Implicit(lambda x: x[:, 0], (0, 0), (1,)), "two corners"),
        (lambda: Implicit(lambda x: x[:, 0], (1,), (0,)), "the lower one first"),
        (lambda: Implicit(lambda x: -1 - x[:, 0], (0,), (1,)), "positive inside"),
        (lambda: WallLift([Axis(), Ball((0, 0))]), "give Ball.* first"),
        (lambda: WallLift(Ball((0, 0))), "a list"),
        (lambda: CosineEmbedding([Ball((0, 0)), Axis()])(torch.rand(4, 2)), "its 3 coordinates"),
        (lambda: WallLift([disk(lambda z: z)])(torch.rand(4, 2), torch.rand(4, 1)), "one number"),
        (lambda: OutputTransform(nn.Identity(), [Ball((0, 0)), Axis()]), "one axis, not of 2"),
    ],
)
def test_mistakes_are_told(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def laplacian(v, z):
    (gradient,) = torch.autograd.grad(v.sum(), z, create_graph=True)
    return sum(
        torch.autograd.grad(gradient[:, i].sum(), z, create_graph=True)[0][:, i] for i in range(2)
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("domain", "kind", "bound"),
    [
        (lambda flux: Ball((0.0, 0.0), 1.0, flux), HardWalls, 1e-4),
        (lambda flux: Ball((0.0, 0.0), 1.0, flux), OutputTransform, 1e-4),
        (lambda *flux: Annulus((0.0, 0.0), 0.4, 1.0, *2 * flux), HardWalls, 1e-3),
    ],
    ids=["disk", "disk transformed", "annulus"],
)
def test_a_small_problem_is_solved(domain, kind, bound):
    """-u'' + u = source for u = exp(x/2) sin(2 y), with its flux."""
    bare: Domain = domain(Neumann())
    torch.manual_seed(0)

    def exact(z):
        return torch.exp(z[:, 0] / 2) * torch.sin(2 * z[:, 1])

    def flux(z):
        slopes = torch.stack((exact(z) / 2, 2 * torch.exp(z[:, 0] / 2) * torch.cos(2 * z[:, 1])), 1)
        return (bare.normal(z) * slopes).sum(1)

    def equation(u, z):
        v = u(z)
        return v[:, 0] - laplacian(v, z) - 4.75 * exact(z)

    def points():
        z = 2 * torch.rand(1200, 2, dtype=torch.float64) - 1
        return z[bare.depth(z) > 0][:400]

    hidden = [nn.Linear(bare.size if kind is HardWalls else 2, 30), nn.Tanh(), nn.Linear(30, 30)]
    network = nn.Sequential(*hidden, nn.Tanh(), nn.Linear(30, 1)).double()
    u = kind(network, [domain(Neumann(flux))])
    optimizer = GaussNewton(u, equation)
    for _ in range(60):
        optimizer.step(points())
    z = points()
    error = (u(z)[:, 0] - exact(z)).norm() / exact(z).norm()
    assert float(error.detach()) <= bound
