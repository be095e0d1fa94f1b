"""Losses, gradients and walls of the nine methods against nested autograd."""

import nested_autograd
import pytest
import torch
from studies import COMPILE

from neumann_pinn import METHODS, Cosines, Polynomial, Protocol, heat, method
from neumann_pinn.problems.points import Counts, make_points
from neumann_pinn.training.batches import make_batch, points_of
from neumann_pinn.training.engine import Machine
from neumann_pinn.training.loss import LossTerms, loss_terms
from neumann_pinn.training.protocol import LOSS_POINTS
from neumann_pinn.training.trainers import AdamTrainer
from neumann_pinn.training.trees import cast

MULTISCALE = heat(Cosines({2: 1.0, 50: 0.1}), 50)
POLY3 = heat(Polynomial((0.0, 0.0, 3.0, -2.0)), 1)


def random_theta(model, dtype=torch.float64):
    """Weights and biases away from their initial values, so that nothing vanishes by chance."""
    generator = torch.Generator().manual_seed(1)
    theta = model.initial(0)
    return (theta + 0.1 * torch.randn(theta.shape, generator=generator).double()).to(dtype)


@pytest.mark.parametrize("problem", [MULTISCALE, POLY3], ids=["multiscale", "poly3"])
@pytest.mark.parametrize("name", METHODS)
def test_loss_and_gradient_equal_nested_autograd(name, problem):
    model = method(name)
    theta = random_theta(model).requires_grad_()
    points = make_points(problem, Counts(120, 30, 40))

    terms = loss_terms(model, theta, make_batch(problem, model, points))
    expected = nested_autograd.loss_terms(model, theta, problem, points)
    torch.testing.assert_close(terms, expected, rtol=1e-10, atol=0)

    for ours, theirs in zip(terms, expected, strict=True):
        if float(theirs.detach()) == 0:
            continue
        (gradient,) = torch.autograd.grad(ours, theta, retain_graph=True)
        (truth,) = torch.autograd.grad(theirs, theta, retain_graph=True)
        assert float((gradient - truth).norm()) <= 1e-10 * float(truth.norm())


@pytest.mark.parametrize("compile", COMPILE)
@pytest.mark.parametrize("name", ["vanilla", "existing_fourier20", "cosine20"])
def test_the_trainer_s_blocks_and_threads_give_the_same_gradient(name, compile):
    model = method(name)
    protocol = Protocol(domain=1500, initial=50, boundary=70, precision="float64")
    machine = Machine.choose("cpu", threads=2, compile=compile)
    with machine.prepared():
        points = make_batch(MULTISCALE, model, points_of(MULTISCALE, protocol))
        trainer = AdamTrainer(model, points, protocol, 0, machine)
        theta = random_theta(model).requires_grad_()
        gradient, terms = trainer.objective(theta.detach())
        trainer.close()
    assert (trainer.objective.eager_reason is None) == compile
    points = make_points(MULTISCALE, Counts(1500, 50, 70))
    expected = nested_autograd.loss_terms(model, theta, MULTISCALE, points)
    (truth,) = torch.autograd.grad(expected.sum(), theta)
    torch.testing.assert_close(terms, expected.detach(), rtol=1e-10, atol=0)
    assert float((gradient - truth).norm()) <= 1e-10 * float(truth.norm())


def test_the_loss_of_many_points_is_taken_in_blocks_and_the_same():
    """The streams of 20,000 points at once would take 50 MB in each layer."""
    model, protocol = method("vanilla"), Protocol(domain=20_000, precision="float64")
    points = make_batch(MULTISCALE, model, points_of(MULTISCALE, protocol))
    theta = random_theta(model)
    terms = LossTerms(model, points, protocol, Machine.choose("cpu"))
    with torch.profiler.profile(profile_memory=True) as profile:
        found = terms(theta)
    largest = max(event.self_cpu_memory_usage for event in profile.events())
    assert largest <= 3 * LOSS_POINTS * 100 * 8
    assert points.size == 21_500
    with torch.no_grad():
        assert found == pytest.approx(loss_terms(model, theta, points).tolist(), rel=1e-12)


@pytest.mark.parametrize("name", ["vanilla", "cosine1"])
def test_few_points_are_one_block_to_the_bit(name):
    model, protocol = method(name), Protocol(domain=500, initial=50, boundary=50)
    points = make_batch(POLY3, model, points_of(POLY3, protocol))
    theta = random_theta(model, torch.float32)
    terms = LossTerms(model, points, protocol, Machine.choose("cpu"))
    with torch.no_grad():
        all_at_once = loss_terms(model, theta, cast(points, torch.float32, torch.device("cpu")))
    assert terms(theta) == all_at_once.tolist()


def walls(n=50):
    x, t = torch.tensor([0.0, 1.0]), torch.linspace(0, 1, n)
    return torch.cartesian_prod(x.double(), t.double())


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("name", ["cosine1", "cosine20", "cosine50"])
def test_cosine_methods_are_flat_at_both_walls_to_the_bit(name, dtype):
    model = method(name)
    inputs = cast(model.inputs(walls(), MULTISCALE.diffusivity), dtype, torch.device("cpu"))
    slope = model.outputs(random_theta(model, dtype), inputs).slopes[0]
    assert slope.dtype == dtype
    assert (slope == 0.0).all()


@pytest.mark.parametrize("name", ["existing", "existing_fourier20", "existing_fourier50"])
def test_the_existing_constraint_is_flat_at_both_walls_to_rounding(name):
    model = method(name)
    diffusivity = POLY3.diffusivity
    slope = model.outputs(random_theta(model), model.inputs(walls(), diffusivity)).slopes[0]
    assert float(slope.abs().max()) <= 1e-10


@pytest.mark.parametrize("name", ["vanilla", "vanilla_fourier20", "vanilla_fourier50"])
def test_vanilla_is_not_flat_at_the_walls(name):
    model = method(name)
    diffusivity = POLY3.diffusivity
    slope = model.outputs(random_theta(model), model.inputs(walls(), diffusivity)).slopes[0]
    assert float(slope.abs().max()) > 0.05


@pytest.mark.parametrize("name", METHODS)
def test_predictions_on_a_grid_equal_the_solution_at_its_nodes(name):
    model = method(name)
    theta = random_theta(model)
    x = torch.linspace(0, 1, 7, dtype=torch.float64)
    t = torch.linspace(0, 1, 5, dtype=torch.float64)
    nodes = nested_autograd.solution(model, theta, x.repeat(5), t.repeat_interleave(7))
    u = model.values(theta, model.nodes(x[:, None], t))
    torch.testing.assert_close(u, nodes.detach().view(5, 7))
