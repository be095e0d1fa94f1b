"""Gauss-Newton for a user's own module: the steps of the jets' form, from residuals of any kind."""

import io
import math
import runpy
import time

import pytest
import torch
from studies import ROOT
from torch import nn

from neumann_pinn import Axis, CosineEmbedding, Cosines, GaussNewton, Protocol, heat, method
from neumann_pinn.training import gauss_newton
from neumann_pinn.training.batches import make_batch, points_of
from neumann_pinn.training.gauss_newton import GaussNewtonSteps
from neumann_pinn.training.linearised import Residuals

LOW = heat(Cosines({2: 1.0}), 2)
MODEL = method("cosine1", width=10, depth=2)
EXAMPLE = runpy.run_path(str(ROOT / "docs" / "examples" / "gauss_newton_plain.py"))


def network(theta=None):
    """The same network as a module, with the model's parameters."""
    layers = [nn.Linear(2, 10), nn.Tanh(), nn.Linear(10, 10), nn.Tanh(), nn.Linear(10, 1)]
    module = nn.Sequential(CosineEmbedding([Axis()]), *layers).double()
    nn.utils.vector_to_parameters(MODEL.initial(0) if theta is None else theta, module.parameters())
    return module


def equation(u, points):
    points.requires_grad_()
    (slopes,) = torch.autograd.grad(u(points).sum(), points, create_graph=True)
    (second,) = torch.autograd.grad(slopes[:, 0].sum(), points, create_graph=True)
    return slopes[:, 1] - LOW.diffusivity * second[:, 0]


def equation_by_func(u, points):
    def along(column):
        direction = torch.zeros_like(points)
        direction[:, column] = 1
        return lambda function: lambda x: torch.func.jvp(function, (x,), (direction,))[1]

    return (along(1)(u)(points) - LOW.diffusivity * along(0)(along(0)(u))(points))[:, 0]


def start(u, points):
    return u(points)[:, 0] - LOW.start(points)


def sets(number):
    """A step's points: all for the equation, those at the start for the values."""
    protocol = Protocol(domain=40, initial=12, boundary=2)
    points = points_of(LOW, protocol, number)
    return torch.cat((points.inside, points.start)), points.start


@pytest.mark.parametrize("residual", [equation, equation_by_func])
def test_its_steps_are_those_of_the_jets(residual, monkeypatch):
    monkeypatch.setattr(gauss_newton, "SINGLE_PRECISION", math.inf)
    module = network()
    optimizer = GaussNewton(module, residual, start)
    theta = MODEL.initial(0)
    steps = GaussNewtonSteps(theta)
    for number in (1, 2, 3):
        points = points_of(LOW, Protocol(domain=40, initial=12, boundary=2), number)
        rows = Residuals(MODEL, make_batch(LOW, MODEL, points), (1.0, 1.0, 1.0))
        expected = steps.step(rows)
        assert optimizer.step(*sets(number)) == pytest.approx(expected, rel=1e-9)
        ours = nn.utils.parameters_to_vector(module.parameters()).detach()
        assert float((ours - theta).norm()) <= 1e-8 * float(steps.last.norm())
    assert optimizer.param_groups[0]["damping"] == steps.damping


def test_a_saved_state_continues_to_the_bit():
    whole = network()
    optimizer = GaussNewton(whole, equation, start)
    for number in range(1, 6):
        if number == 4:
            file = io.BytesIO()
            torch.save({"module": whole.state_dict(), "optimizer": optimizer.state_dict()}, file)
        optimizer.step(*sets(number))
    file.seek(0)
    saved = torch.load(file, weights_only=True)
    again = network(torch.zeros(len(MODEL.initial(0)), dtype=torch.float64))
    again.load_state_dict(saved["module"])
    optimizer = GaussNewton(again, equation, start)
    optimizer.load_state_dict(saved["optimizer"])
    for number in (4, 5):
        optimizer.step(*sets(number))
    for one, other in zip(again.parameters(), whole.parameters(), strict=True):
        assert torch.equal(one, other)


def test_a_number_may_be_a_parameter_too():
    """The unknown factor of a straight line, beside a network."""

    class Line(nn.Module):
        def __init__(self):
            super().__init__()
            self.factor = nn.Parameter(torch.tensor(0.5, dtype=torch.float64))

        def forward(self, points):
            return self.factor * points[:, :1]

    line = Line()
    optimizer = GaussNewton(line, lambda u, points: u(points)[:, 0] - 3 * points[:, 0])
    for _ in range(12):
        loss = optimizer.step(torch.rand(20, 1, dtype=torch.float64))
    assert float(line.factor.detach()) == pytest.approx(3, abs=1e-3)
    assert loss < 1e-4


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: GaussNewton(nn.Linear(2, 1), start), r"weight has torch.float32.*double\(\)"),
        (lambda: GaussNewton(network()), "give at least one function"),
        (lambda: GaussNewton(network(), equation, start).step(sets(1)[0]), "1 sets .* 2 residuals"),
        (lambda: GaussNewton(network(), lambda u, p: u(p)).step(sets(1)[0]), r"shape \(52,\)"),
    ],
)
def test_what_it_cannot_use_is_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_the_example_with_walls_reaches_its_solution():
    example = runpy.run_path(str(ROOT / "docs" / "examples" / "gauss_newton_walls.py"))
    assert example["solve"](steps=25) < 1e-3


@pytest.mark.slow
def test_poisson_on_a_square_within_a_minute_where_adam_is_far_behind():
    began = time.perf_counter()
    error = EXAMPLE["solve"]()
    seconds = time.perf_counter() - began
    adam = adam_for(seconds)
    print(f"Gauss-Newton {error:.1e} and Adam {adam:.1e} after {seconds:.0f} s each")
    assert error < 1e-6
    assert seconds < 60
    assert adam > 100 * error


def adam_for(seconds):
    """The error of the same network after as many seconds of Adam, the best of three rates."""
    errors = []
    for rate in (1e-3, 3e-3, 1e-2):
        torch.manual_seed(0)
        layers = [nn.Linear(2, 40), nn.Tanh(), nn.Linear(40, 40), nn.Tanh(), nn.Linear(40, 1)]
        module = nn.Sequential(*layers).double()
        optimizer = torch.optim.Adam(module.parameters(), lr=rate)
        end = time.perf_counter() + seconds
        while time.perf_counter() < end:
            inside = torch.rand(500, 2, dtype=torch.float64).requires_grad_()
            edge = EXAMPLE["on_the_edge"](120)
            residuals = EXAMPLE["equation"](module, inside), EXAMPLE["edge"](module, edge)
            optimizer.zero_grad()
            sum(part.square().mean() for part in residuals).backward()
            optimizer.step()
        test = torch.rand(5000, 2, dtype=torch.float64)
        miss = module(test)[:, 0] - EXAMPLE["exact"](test)
        errors.append((miss.norm() / EXAMPLE["exact"](test).norm()).item())
    return min(error for error in errors if math.isfinite(error))
