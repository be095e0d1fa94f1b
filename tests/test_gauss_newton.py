"""Gauss-Newton: its kernel and its steps against a dense Jacobian, its runs against themselves."""

from dataclasses import replace

import pandas as pd
import pytest
import torch
from conftest import ROOT

from neumann_pinn import (
    METHODS,
    Cosines,
    Heat,
    Machine,
    Polynomial,
    Protocol,
    method,
    published,
    train,
)
from neumann_pinn import gauss_newton as gn
from neumann_pinn.loss import batch, loss_terms
from neumann_pinn.points import hammersley, shifted

MULTISCALE = Heat(Cosines({2: 1.0, 50: 0.1}), 50)
POLY3 = Heat(Polynomial((0.0, 0.0, 3.0, -2.0)), 1)
WEIGHTS = (1.0, 2.0, 0.5)
EAGER = Machine.choose("cpu", compile=False)
SMALL = Protocol(
    iterations=12,
    evaluate_every=2,
    domain=60,
    initial=20,
    boundary=10,
    grid=(20, 10),
    precision="float64",
    optimizer="gauss_newton",
)


def case(name, width=12, problem=MULTISCALE):
    """A method's model, parameters away from their start, and the rows of some points."""
    model = method(name, width)
    generator = torch.Generator().manual_seed(1)
    theta = model.initial(0)
    theta += 0.1 * torch.randn(theta.shape, generator=generator).double()
    points = batch(model, problem, hammersley(40, 12, 10 if model.constraint == "none" else 0))
    return model, theta, points, gn.make_rows(points, WEIGHTS)


def dense(model, theta, rows):
    """The Jacobian, by autograd of the plain residuals."""
    return torch.func.jacrev(lambda theta: gn.residuals(model, theta, rows))(theta)


@pytest.mark.parametrize("name", METHODS)
def test_the_squares_of_the_rows_add_up_to_the_loss(name):
    model, theta, points, rows = case(name)
    terms = loss_terms(model, theta, points)
    loss = sum(w * term for w, term in zip(WEIGHTS, terms, strict=True))
    assert float(gn.residuals(model, theta, rows).square().sum()) == pytest.approx(float(loss))


@pytest.mark.parametrize("name", METHODS)
def test_jacobian_kernel_and_products_equal_the_dense_ones(name):
    model, theta, _, rows = case(name)
    truth, at = dense(model, theta, rows), gn.linearise(model, theta, rows)
    weights = torch.linspace(-1, 1, len(truth), dtype=torch.float64)
    torch.testing.assert_close(at.residuals, gn.residuals(model, theta, rows))
    for ours, theirs in (
        (gn.jacobian(at), truth),
        (gn.kernel(at), truth @ truth.T),
        (gn.times_transposed(at, weights), truth.T @ weights),
    ):
        assert float((ours - theirs).norm()) <= 1e-12 * float(theirs.norm())


@pytest.mark.parametrize("name", METHODS)
def test_the_kernel_of_wide_layers_is_made_of_pairs_and_the_same(name):
    """At the study's width the cheaper form of a layer differs from method to method."""
    model, theta, _, rows = case(name, width=100)
    at = gn.linearise(model, theta, rows)
    explicit = gn.jacobian(at)
    kernel = gn.kernel(at)
    assert float((kernel - explicit @ explicit.T).norm()) <= 1e-12 * float(kernel.norm())


@pytest.mark.parametrize("damping", [1e-1, 1e-4])
@pytest.mark.parametrize("name", METHODS)
def test_a_step_equals_the_dense_one(name, damping):
    """theta - (J^T J + lambda I)^-1 J^T r in the space of parameters, with its acceleration."""
    model, theta, _, rows = case(name)
    jacobian = dense(model, theta, rows)
    normal = jacobian.T @ jacobian + damping * torch.eye(len(theta), dtype=torch.float64)
    r = gn.residuals(model, theta, rows)
    first = torch.linalg.solve(normal, jacobian.T @ r)

    def along(theta):
        return torch.func.jvp(lambda t: gn.residuals(model, t, rows), (theta,), (first,))[1]

    bend = torch.func.jvp(along, (theta,), (first,))[1]
    second = torch.linalg.solve(normal, jacobian.T @ bend)

    optimizer = gn.GaussNewton(model, theta.clone(), lambda _: rows)
    optimizer.damping = damping
    at = gn.linearise(model, theta, rows)
    solve = gn.solver(at, gn.kernel(at), damping)
    assert float((solve(r) - first).norm()) <= 1e-8 * float(first.norm())
    assert float((solve(bend) - second).norm()) <= 1e-8 * float(second.norm())
    step = optimizer.trial(rows, at, gn.kernel(at))
    if float(second.norm()) < 0.1 * float(first.norm()):
        expected = first + second / 2
        assert float((step - expected).norm()) <= 1e-2 * float(second.norm())


def test_no_step_makes_the_loss_on_its_points_larger():
    model, theta, _, rows = case("cosine20")
    optimizer = gn.GaussNewton(model, theta, lambda _: rows)
    losses = []
    for _ in range(6):
        losses.append(float(gn.residuals(model, theta, rows).square().sum()))
        optimizer.step()
    assert losses == sorted(losses, reverse=True)
    assert losses[-1] < 1e-2 * losses[0]


def test_without_a_step_that_helps_the_parameters_stay():
    """At the exact solution of one row's worth of data no lambda makes the loss smaller."""
    model, theta, _, rows = case("cosine1")
    optimizer = gn.GaussNewton(model, theta, lambda _: rows._replace(root=0 * rows.root))
    before = theta.clone()
    optimizer.step()
    assert theta.tolist() == before.tolist()
    assert optimizer.damping > gn.FIRST_DAMPING


@pytest.mark.parametrize("name", ["vanilla", "existing", "cosine20"])
def test_a_run_resumes_to_the_bit(name, tmp_path):
    model = method(name, 12, 2)
    whole = train(POLY3, model, SMALL, machine=EAGER)
    train(POLY3, model, replace(SMALL, iterations=6), machine=EAGER, checkpoints=tmp_path)
    resumed = train(POLY3, model, SMALL, machine=EAGER, checkpoints=tmp_path)
    assert resumed.resumed_at == 6
    assert resumed.theta.tolist() == whole.theta.tolist()
    columns = [column for column in whole.history if column != "seconds"]
    assert resumed.history[columns].equals(whole.history[columns])


def test_it_is_far_ahead_of_adam_and_does_not_overfit():
    problem = Heat(Cosines({2: 1.0}), 2)
    protocol = replace(SMALL, iterations=30, evaluate_every=10, domain=150, initial=40)
    model = method("cosine1", 30, 2)
    newton = train(problem, model, protocol, machine=EAGER).history.iloc[-1]
    adam = replace(protocol, optimizer="adam", iterations=600, evaluate_every=100)
    slow = train(problem, model, replace(adam, learning_rate=2e-3), machine=EAGER).history.iloc[-1]
    assert newton["error_at_best_loss"] < slow["error_at_best_loss"] / 20
    assert newton["error_at_best_loss"] < 1e-3
    assert newton["loss_held_out"] < 10 * newton["loss"]


def test_a_held_out_loss_shows_what_the_training_points_hide():
    """Few points, many cosines: the loss falls, that on other points does not."""
    protocol = Protocol(
        iterations=400,
        evaluate_every=100,
        learning_rate=5e-3,
        domain=30,
        initial=10,
        boundary=10,
        grid=(20, 10),
    )
    history = train(MULTISCALE, method("cosine50", 30, 2), protocol, machine=EAGER).history
    last = history.iloc[-1]
    assert last["loss_held_out"] > 10 * last["loss"]


def test_shifted_points_stay_where_they_belong_and_differ():
    points = hammersley(50, 20, 10)
    sets = [shifted(points, number) for number in (-1, 1, 2)]
    for moved in sets:
        assert ((moved.x >= 0) & (moved.x <= 1) & (moved.t >= 0) & (moved.t <= 1)).all()
        assert (moved.t[50:70] == 0).all()
        assert moved.x[70:].tolist() == points.x[70:].tolist()
    assert len({tuple(moved.x.tolist()) for moved in (points, *sets)}) == 4


def test_the_write_up_quotes_the_published_results():
    """docs/gauss_newton.md: its table and its count of claims are those of the files it names."""
    folder = ROOT / "results" / "published" / "gauss_newton"
    words = (ROOT / "docs" / "gauss_newton.md").read_text()
    ours = pd.read_csv(folder / "accuracy.csv")
    tables = {"here": ours, "published": published.accuracy()}
    columns = [
        ("here", "fixed_iterations"),
        ("here", "fixed_time"),
        ("published", "fixed_iterations"),
    ]
    for setting in ours["setting"].unique():
        cells = []
        for table, clock in columns:
            rows = tables[table]
            rows = rows[(rows["setting"] == setting) & (rows["clock"] == clock)]
            best = rows.loc[rows["error"].idxmin()]
            cells.append(f"`{best['method']}` {best['error']:.2e}")
        assert f"| `{setting}` | {' | '.join(cells)} |" in words
    verdicts = (folder / "claims.md").read_text()
    assert "23 of the 33 claims hold, 10 do not" in words
    assert "23 of 33 claims of the paper hold, 10 do not" in verdicts


def test_single_precision_is_refused():
    with pytest.raises(ValueError, match="choose that"):
        Protocol(optimizer="gauss_newton")
    with pytest.raises(ValueError, match="adam or gauss_newton"):
        Protocol(optimizer="newton")
