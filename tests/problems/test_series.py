import itertools
import math
import time

import pytest
import sympy
import torch

from neumann_pinn import Cosines, Polynomial, Samples, Step, heat
from neumann_pinn.problems.solvers import crank_nicolson

LOW = heat(Cosines({2: 1.0}), 2)
MULTISCALE = heat(Cosines({2: 1.0, 50: 0.1}), 50)
POLY3 = heat(Polynomial((0.0, 0.0, 3.0, -2.0)), 1)
POLY4 = heat(Polynomial((0.0, 0.0, 16.0, -32.0, 16.0)), 1)
SETTINGS = {"low": LOW, "multiscale": MULTISCALE, "poly3": POLY3, "poly4": POLY4}


def grid(n):
    return torch.linspace(0, 1, n, dtype=torch.float64)


def on_grid(problem, x, t):
    """The series at places and times."""
    return problem.exact.on_grid(x[:, None], t)


@pytest.mark.parametrize("powers", [(1, 2), (0, 0, 3, -2), (0, 0, 16, -32, 16), (1, 0, 0, 0, 0, 7)])
def test_polynomial_coefficients_equal_the_integrals(powers):
    x = sympy.symbols("x")
    g = sum(c * x**m for m, c in enumerate(powers))
    a = Polynomial(tuple(float(c) for c in powers)).coefficients(12)
    for j in (0, 1, 2, 5, 12):
        integral = sympy.integrate(2 * g * sympy.cos(sympy.pi * j * x), (x, 0, 1))
        assert float(a[j]) == pytest.approx(float(integral), rel=1e-13, abs=1e-15)


@pytest.mark.parametrize("degree", [9, 20, 41])
def test_moments_of_a_high_degree_keep_their_digits(degree):
    a = Polynomial((0.0,) * degree + (1.0,)).coefficients(30)
    x = sympy.symbols("x")
    for j in (1, 3, 8, 30):
        integral = 2 * sympy.Integral(x**degree * sympy.cos(sympy.pi * j * x), (x, 0, 1))
        assert float(a[j]) == pytest.approx(float(integral.evalf(20, maxn=400)), rel=1e-12)


def test_step_coefficients_equal_the_integrals():
    x = sympy.symbols("x")
    a = Step(0.25, left=2.0, right=-1.0).coefficients(7)
    for j in (0, 1, 4, 7):
        wave = sympy.cos(sympy.pi * j * x)
        quarter = sympy.Rational(1, 4)
        left = sympy.integrate(4 * wave, (x, 0, quarter))
        integral = left - sympy.integrate(2 * wave, (x, quarter, 1))
        assert float(a[j]) == pytest.approx(float(integral), rel=1e-13, abs=1e-15)
    assert Step(0.25, 2.0, -1.0)(grid(9)).tolist() == [2.0] * 2 + [0.5] + [-1.0] * 6


def test_samples_of_a_sum_of_cosines_give_back_its_coefficients():
    exact = Cosines({0: 0.5, 3: 2.0, 7: -1.0})
    samples = Samples(tuple(exact(grid(33)).tolist()))
    torch.testing.assert_close(samples.coefficients(20), exact.coefficients(20), atol=1e-14, rtol=0)
    x = torch.rand(10_000, dtype=torch.float64)
    torch.testing.assert_close(samples(x), exact(x), atol=1e-12, rtol=0)


def test_samples_are_interpolated(tmp_path):
    values = (0.3, -1.0, 2.5, 0.1)
    path = tmp_path / "u0.csv"
    path.write_text("x,u\n" + "".join(f"{i / 3!r},{u}\n" for i, u in enumerate(values)))
    samples = Samples.read(path)
    torch.testing.assert_close(samples(grid(4)), torch.tensor(values, dtype=torch.float64))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("x,v\n0,1\n1,2\n", "no column u"),
        ("x,u\n0,1\n0.4,2\n1,2\n", "evenly spaced"),
        ("x,u\n0,1\n1,abc\n", "finite number"),
    ],
)
def test_a_bad_table_names_itself_and_the_fault(tmp_path, content, message):
    path = tmp_path / "bad.csv"
    path.write_text(content)
    with pytest.raises(ValueError, match=rf"bad\.csv.*{message}"):
        Samples.read(path)


@pytest.mark.parametrize("name", SETTINGS)
def test_the_solution_satisfies_the_equation_the_walls_and_the_start(name):
    problem = SETTINGS[name]
    k = 1 / math.pi / math.sqrt(problem.diffusivity)
    h = 1e-3 / k
    stencil = torch.tensor([-2.0, -1.0, 0.0, 1.0, 2.0], dtype=torch.float64)
    second = torch.tensor([-1, 16, -30, 16, -1], dtype=torch.float64) / 12 / h**2
    first = torch.tensor([1, -8, 0, 8, -1], dtype=torch.float64) / 12 / h
    for x in (0.0, 0.123, 0.5, 0.77, 1.0):
        for t in (0.2, 0.9):
            u = on_grid(problem, x + h * stencil, t + h * stencil)
            residual = first @ u[:, 2] - problem.diffusivity * (second @ u[2])
            assert abs(float(residual)) < 1e-6
            if x in (0.0, 1.0):
                assert abs(float(first @ u[2])) < 1e-8 * k**2
    x = grid(501)
    start = on_grid(problem, x, torch.zeros(1))[0]
    given = problem.start(torch.stack((x, torch.zeros_like(x)), 1))
    assert float((start - given).abs().max()) < 1e-6
    assert problem.exact.initial.wall_slopes() == pytest.approx((0, 0), abs=1e-12)


@pytest.mark.parametrize("name", ["low", "poly3", "poly4"])
def test_the_solution_agrees_with_crank_nicolson_to_its_order(name):
    problem = SETTINGS[name]
    errors = []
    for n in (64, 128, 256):
        u = torch.from_numpy(crank_nicolson(problem, n)[-1])
        errors.append(
            float((u - on_grid(problem, grid(n + 1), torch.ones(1))[0]).norm() / u.norm())
        )
    assert errors[-1] < 1e-4
    orders = [math.log2(coarse / fine) for coarse, fine in itertools.pairwise(errors)]
    assert orders == pytest.approx([2, 2], abs=0.1)


@pytest.mark.parametrize("name", SETTINGS)
def test_the_solution_on_a_grid_is_the_one_at_its_nodes(name):
    """As one product, and summed point by point; the reference is the same again."""
    problem = SETTINGS[name]
    x, t, u = problem.reference(9, 5)
    points = torch.cartesian_prod(grid(5), grid(9)).flip(1)
    torch.testing.assert_close(problem.exact(points).view(5, 9), u, rtol=0, atol=1e-14)
    assert x.tolist() == grid(9)[:, None].tolist()
    assert t.tolist() == grid(5).tolist()
    assert u.tolist() == on_grid(problem, grid(9), grid(5)).tolist()


def test_a_500_by_500_grid_takes_little_time_and_no_large_array():
    with torch.profiler.profile(profile_memory=True) as profile:
        start = time.perf_counter()
        u = on_grid(POLY4, grid(500), grid(500))
        assert time.perf_counter() - start < 0.5
    assert u.shape == (500, 500)
    largest = max(event.self_cpu_memory_usage for event in profile.events())
    assert largest == u.nbytes


def test_a_non_neumann_polynomial_shows_its_slopes():
    assert Polynomial((1.0, 2.0, 3.0)).wall_slopes() == (2.0, 8.0)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Cosines({1.5: 1.0}), "whole number"),
        (lambda: Cosines({300: 1.0}).coefficients(200), "at least 300 terms"),
        (lambda: Step(1.5), "between 0 and 1"),
        (lambda: heat(Cosines({1: 1.0}), 0), "positive k"),
        (lambda: Samples((1.0,)), "at least two"),
    ],
)
def test_bad_problems_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()
