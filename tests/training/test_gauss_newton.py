"""Gauss-Newton: its kernel and its steps against a dense Jacobian, its runs against themselves."""

import re
from dataclasses import replace
from statistics import median

import pandas as pd
import pytest
import torch
from studies import CONFIG, ROOT, SCHEMA

from neumann_pinn import (
    METHODS,
    Axis,
    Cosines,
    Heat,
    Identity,
    Machine,
    Model,
    Polynomial,
    Protocol,
    method,
    train,
)
from neumann_pinn.problems.points import graded, hammersley, sharing_times, shifted
from neumann_pinn.study import config, published
from neumann_pinn.training import gauss_newton as gn
from neumann_pinn.training.batches import heat_batch, points_of
from neumann_pinn.training.calibration import calibrate
from neumann_pinn.training.estimate import rough_cost
from neumann_pinn.training.loss import loss_terms, term_errors

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


ONE_WALL = Model("output_transform", (Identity(),), width=12, axes=(Axis(walls="left"),))


def case(name, width=12, problem=MULTISCALE):
    """A method's model, parameters away from their start, and the rows of some points."""
    model = ONE_WALL if name == "one wall" else method(name, width)
    generator = torch.Generator().manual_seed(1)
    theta = model.initial(0)
    theta += 0.1 * torch.randn(theta.shape, generator=generator).double()
    points = hammersley(40, 12, 10 if model.constraint == "none" else 0)
    points = heat_batch(model, problem, sharing_times(points, 7))
    return model, theta, points, gn.make_rows(points, WEIGHTS)


def plain_residuals(model, theta, rows):
    """The rows' residuals as Adam's loss has them, each row with its own walls."""
    errors = term_errors(model.outputs(theta, rows.points.inputs), rows.points)
    return rows.root * errors.gather(0, rows.term[None])[0]


def dense(model, theta, rows):
    """The Jacobian, by autograd of the plain residuals."""
    return torch.func.jacrev(lambda theta: plain_residuals(model, theta, rows))(theta)


def scales(model):
    """The diagonal of M: one, but for the output layer."""
    outputs, inputs = model.network.shapes[-1]
    diagonal = torch.ones(model.network.parameters, dtype=torch.float64)
    diagonal[-outputs * (inputs + 1) :] = gn.OUTPUT_SCALE
    return diagonal


@pytest.mark.parametrize("name", METHODS)
def test_the_squares_of_the_rows_add_up_to_the_loss(name):
    model, theta, points, rows = case(name)
    terms = loss_terms(model, theta, points)
    loss = sum(w * term for w, term in zip(WEIGHTS, terms, strict=True))
    assert float(gn.residuals(model, theta, rows).square().sum()) == pytest.approx(float(loss))


@pytest.fixture
def small_blocks(monkeypatch):
    """More than one block in a kernel, and blocks of different sizes."""
    monkeypatch.setattr(gn, "BLOCK_ROWS", 25)


@pytest.mark.parametrize("name", [*METHODS, "one wall"])
@pytest.mark.usefixtures("small_blocks")
def test_kernel_and_products_equal_the_dense_ones(name):
    model, theta, _, rows = case(name)
    truth, at = dense(model, theta, rows), gn.linearise(model, theta, rows)
    weights = torch.linspace(-1, 1, len(truth), dtype=torch.float64)
    direction = torch.linspace(-1, 1, len(theta), dtype=torch.float64)
    m = scales(model)
    plain = plain_residuals(model, theta, rows)
    for ours in (at.residuals, gn.residuals(model, theta, rows)):
        torch.testing.assert_close(ours, plain, rtol=1e-12, atol=1e-13)
    for ours, theirs in (
        (gn.kernel(at), truth * m @ truth.T),
        (gn.direction_of(at, weights), m * (truth.T @ weights)),
        (gn.change_along(at, direction), truth @ direction),
    ):
        assert float((ours - theirs).norm()) <= 1e-12 * float(theirs.norm())


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.usefixtures("small_blocks")
def test_the_kernel_of_wide_layers_is_made_of_pairs_and_the_same(name):
    """At the study's width the cheaper form of a layer differs from method to method."""
    model, theta, _, rows = case(name, width=100)
    explicit, kernel = dense(model, theta, rows), gn.kernel(gn.linearise(model, theta, rows))
    error = kernel - explicit * scales(model) @ explicit.T
    assert float(error.norm()) <= 1e-12 * float(kernel.norm())
    for streams, others in ((3, 3), (3, 4), (4, 4)):
        assert gn._by_pairs(100, 100, streams, others)


def dense_step(model, theta, rows, damping, start):
    """The same step in the space of parameters, and the second one, of acceleration."""
    jacobian, r = dense(model, theta, rows), plain_residuals(model, theta, rows)
    normal = jacobian.T @ jacobian + damping * torch.diag(1 / scales(model))
    first = start - torch.linalg.solve(normal, jacobian.T @ (r + jacobian @ start))

    def along(theta):
        return torch.func.jvp(lambda t: plain_residuals(model, t, rows), (theta,), (first,))[1]

    second = torch.func.jvp(along, (theta,), (first,))[1]
    return first, torch.linalg.solve(normal, jacobian.T @ second)


@pytest.mark.parametrize("damping", [1e-1, 1e-4])
@pytest.mark.parametrize("name", METHODS)
def test_a_step_equals_the_dense_one(name, damping):
    model, theta, _, rows = case(name)
    start = 1e-2 * torch.linspace(-1, 1, len(theta), dtype=torch.float64)
    at = gn.linearise(model, theta, rows)
    solve = gn.solver(at, gn.kernel(at), damping)
    for p in (start, 0 * start):
        first, _ = dense_step(model, theta, rows, damping, p)
        ours = p - solve(at.residuals + gn.change_along(at, p))
        assert float((ours - first).norm()) <= 1e-8 * float(first.norm())


@pytest.mark.parametrize("name", METHODS)
def test_a_step_accelerates_as_the_dense_one_does(name):
    """The second derivative is taken over a part of the step: to a hundredth, for a short one."""
    model, theta, _, rows = case(name)
    start = 1e-4 * torch.linspace(-1, 1, len(theta), dtype=torch.float64)
    optimizer = gn.GaussNewton(model, theta.clone(), lambda _: rows)
    optimizer.damping = 100.0
    at = gn.linearise(model, theta, rows)
    step = optimizer.trial(rows, at, gn.kernel(at), start)
    first, second = dense_step(model, theta, rows, 100.0, start)
    assert float((step - first + second / 2).norm()) <= 1e-2 * float(second.norm())


def test_a_step_forgets_the_last_one_where_that_leads_astray():
    model, theta, _, rows = case("cosine20")
    optimizer = gn.GaussNewton(model, theta, lambda _: rows)
    optimizer.last += 10.0
    before = float(gn.residuals(model, theta, rows).square().sum())
    optimizer.step()
    assert float(gn.residuals(model, theta, rows).square().sum()) < before
    assert float(optimizer.last.abs().max()) < 1.0


def test_a_step_starts_from_a_part_of_the_last_one():
    model, theta, _, rows = case("cosine20")
    optimizer = gn.GaussNewton(model, theta, lambda _: rows)
    optimizer.step()
    before, first, damping = theta.clone(), optimizer.last.clone(), optimizer.damping
    optimizer.step()
    assert optimizer.damping == damping / gn.DAMPING_FACTOR, "taken at the first trial"
    again = gn.GaussNewton(model, before, lambda _: rows)
    again.damping = damping
    at = gn.linearise(model, before, rows)
    expected = again.trial(rows, at, gn.kernel(at), gn.MOMENTUM * first)
    without = again.trial(rows, at, gn.kernel(at), 0 * first)
    torch.testing.assert_close(theta - before, expected)
    assert float((expected - without).norm()) > 1e-3 * float(expected.norm())


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
    """Rows that weigh nothing: no lambda makes the loss smaller."""
    model, theta, _, rows = case("cosine1")
    optimizer = gn.GaussNewton(model, theta, lambda _: rows._replace(root=0 * rows.root))
    optimizer.last += 1.0
    before = theta.clone()
    for _ in range(5):
        optimizer.step()
    assert theta.tolist() == before.tolist()
    assert not optimizer.last.any()
    assert optimizer.damping == gn.LARGEST_DAMPING


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


def test_neighbours_share_times_which_fill_the_interval():
    points = hammersley(50, 20, 10)
    shared = sharing_times(points, 8)
    assert shared.x.tolist() == points.x.tolist()
    assert shared.t[50:].tolist() == points.t[50:].tolist()
    times, counts = shared.t[:50].unique(return_counts=True)
    assert times.tolist() == pytest.approx([(2 * k + 1) / 14 for k in range(7)], rel=1e-15)
    assert counts.tolist() == [8] + [7] * 6
    moved = graded(shifted(shared, 3), 2.0)
    assert len(moved.t[:50].unique()) == 7


@pytest.mark.parametrize("name", ["vanilla", "existing", "cosine1"])
def test_points_share_times_with_gauss_newton_and_not_with_adam(name):
    model = method(name, 12, 2)
    adam = points_of(model, replace(SMALL, optimizer="adam"))
    assert adam.t.tolist() == hammersley(60, 20, adam.boundary).t.tolist()
    for shift in (None, 1):
        points = points_of(model, SMALL, shift)
        assert len(points.t[:60].unique()) == 8


def test_graded_times_crowd_at_the_start():
    points = hammersley(50, 20, 10)
    moved = graded(points, 2.0)
    assert moved.x.tolist() == points.x.tolist()
    assert moved.t.tolist() == (points.t**2).tolist()
    assert int((moved.t[:50] < 0.25).sum()) == 25
    model = method("vanilla", 12, 2)
    for shift in (None, 1):
        times = points_of(model, replace(SMALL, grading=2.0), shift).t
        assert times.tolist() == (points_of(model, SMALL, shift).t ** 2).tolist()


@pytest.mark.parametrize("name", ["existing", "cosine1"])
def test_without_any_row_nothing_is_learned(name):
    """A hard constraint whose equation and start weigh nothing."""
    model = method(name, 12, 2)
    run = train(POLY3, model, replace(SMALL, weights=(0.0, 0.0, 1.0)), machine=EAGER)
    assert run.theta.tolist() == model.initial(0).tolist()


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
    count = re.search(r"(\d+) of (\d+) claims of the paper hold, (\d+) do not", verdicts)
    assert "{} of the {} claims hold, {} do not".format(*count.groups()) in words


def published_protocol():
    """The protocol gauss_newton of the configuration."""
    protocols = config.check(CONFIG, SCHEMA)["protocols"]
    return config.make_protocol(protocols["gauss_newton"])


@pytest.mark.slow
@pytest.mark.parametrize("name", ["vanilla", "existing_fourier50", "cosine20"])
def test_the_guess_of_a_step_s_cost_is_of_the_right_size(name):
    protocol, model = published_protocol(), method(name)
    ms, _ = calibrate(POLY3, model, method("vanilla"), protocol, EAGER, turns=3)
    assert ms / 4 < rough_cost(model, protocol) < 4 * ms


@pytest.mark.slow
def test_one_cosine_reaches_1e_5_on_low_within_half_a_minute():
    """Median of five seeds, on one core, with the points of the protocol gauss_newton."""
    protocol = replace(published_protocol(), iterations=30, evaluate_every=2)
    seconds = {1e-5: [], 1e-6: []}
    for seed in range(5):
        problem = Heat(Cosines({2: 1.0}), 2)
        history = train(problem, method("cosine1"), protocol, seed=seed, machine=EAGER).history
        for error, reached in seconds.items():
            good = history[history["error_at_best_loss"] <= error]
            reached.append(good["seconds"].iloc[0] if len(good) else float("inf"))
    print({error: [f"{s:.1f} s" for s in sorted(reached)] for error, reached in seconds.items()})
    assert median(seconds[1e-5]) < 30


def test_single_precision_is_refused():
    with pytest.raises(ValueError, match="choose that"):
        Protocol(optimizer="gauss_newton")
    with pytest.raises(ValueError, match="adam or gauss_newton"):
        Protocol(optimizer="newton")
