"""The benchmark: what it compares is the same, and its command works."""

import json
from dataclasses import replace

import pandas as pd
import pytest
from studies import CONFIG, SCHEMA

from neumann_pinn import METHODS, method
from neumann_pinn.commands import bench
from neumann_pinn.commands.bench import LOW, NEWTON, DeepXDE, Training
from neumann_pinn.commands.cli import main
from neumann_pinn.study import config
from neumann_pinn.training.batches import make_batch, points_of
from neumann_pinn.training.estimate import required_products
from neumann_pinn.training.loss import loss_terms
from neumann_pinn.training.protocol import Protocol

SMALL = Protocol(domain=300, initial=20, boundary=30, precision="float64")


@pytest.mark.bench
@pytest.mark.parametrize("name", METHODS)
def test_deepxde_s_model_and_ours_have_the_same_loss_at_the_same_weights(name):
    model = method(name)
    theirs = DeepXDE(model, SMALL, 1).loss_terms()
    theta = model.network.initial(0)
    ours = loss_terms(model, theta, make_batch(LOW, model, points_of(LOW, SMALL))).tolist()
    assert len(theirs) == (2 if model.held_by.holds_slopes else 3)
    assert theirs == pytest.approx(ours[: len(theirs)], rel=1e-9)


@pytest.mark.bench
def test_we_are_faster_than_deepxde(tmp_path, capsys):
    file = tmp_path / "bench.json"
    arguments = ["--methods", "vanilla", "existing", "--points", "20000", "--threads", "2"]
    arguments += ["--rounds", "3", "--no-newton", "--no-growth", "--json", str(file)]
    assert main(["bench", *arguments]) == 0
    shown = capsys.readouterr().out
    measured = json.loads(file.read_text())
    vanilla, existing = measured["timings"]
    assert f"{vanilla['ratio']:.1f}" in shown
    assert vanilla["ratio"] > 3
    assert existing["ratio"] > 4
    assert vanilla["memory_mib"] < vanilla["deepxde_memory_mib"]
    assert measured["newton"] == []
    assert "Gauss-Newton" not in shown


@pytest.mark.bench
def test_gauss_newton_reaches_an_error_that_adam_does_not(tmp_path, capsys):
    file = tmp_path / "bench.json"
    arguments = ["--methods", "cosine1", "--points", "500", "--rounds", "3", "--no-deepxde"]
    assert main(["bench", *arguments, "--no-growth", "--json", str(file)]) == 0
    (row,) = json.loads(file.read_text())["newton"]
    training, adam = row["training"], row["adam_training"]
    assert 0 < training["seconds_to"]["1e-3"] < training["seconds_to"]["1e-5"]
    assert training["error"] < 1e-6
    assert adam["seconds_to"]["1e-5"] is None
    assert f"{training['seconds_to']['1e-5']:.1f}" in capsys.readouterr().out
    assert adam["seconds"] >= training["seconds"]
    assert 0.05 < row["share_of_peak"] < 1


def test_required_products_are_those_of_the_network():
    """Three products of 2 x 100 x 100 for each of 2 hidden layers and 3 streams, and a little."""
    hidden = 3 * 2 * 3 * 2 * 100 * 100
    for name, rest in (("vanilla", 1800), ("cosine50", 1800 + 6 * 2 * 50 * 100)):
        model = method(name)
        points = make_batch(LOW, model, points_of(LOW, SMALL)).size
        assert required_products(LOW, model, SMALL) == points * (hidden + rest)


def test_gauss_newton_trains_as_in_the_study():
    protocol = config.check(CONFIG, SCHEMA)["protocols"]["gauss_newton"]
    assert replace(NEWTON, evaluate_every=5) == config.make_protocol(protocol)


def test_a_training_is_summed_up_by_the_first_time_at_each_error():
    errors = [0.5, 1e-3, 9e-4, 2e-5]
    history = pd.DataFrame({"seconds": [0.0, 1.5, 2.5, 3.5], "error_at_best_loss": errors})
    assert Training.of(history) == Training(3.5, 2e-5, {"1e-3": 1.5, "1e-5": None})


@pytest.mark.slow
def test_bench_without_deepxde_times_ours_and_shows_gauss_newton_beside_adam(
    tmp_path, capsys, monkeypatch
):
    small = replace(NEWTON, iterations=10, domain=60, initial=20, boundary=10, grid=(20, 10))
    monkeypatch.setattr(bench, "NEWTON", small)
    file = tmp_path / "bench.json"
    arguments = ["--methods", "cosine1", "--points", "500", "--rounds", "1", "--no-deepxde"]
    assert main(["bench", *arguments, "--no-growth", "--json", str(file)]) == 0
    measured = json.loads(file.read_text())
    (row,) = measured["timings"]
    assert row["ratio"] is None
    assert 0 < row["share_of_peak"] < 1
    (newton,) = measured["newton"]
    assert newton["points"] == 80
    assert 0 < newton["share_of_peak"] < 1
    assert newton["training"]["seconds"] > 0
    assert newton["adam_training"]["seconds_to"] == {"1e-3": None, "1e-5": None}
    shown = capsys.readouterr().out
    assert "Gauss-Newton: 60 domain points, 1 thread, 10 steps" in shown
    last = shown.splitlines()[-1].split()
    assert last[:2] == ["cosine1", f"{newton['ms']:.1f}"]
    assert last[-3:-1] == ["-", "-"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--methods", "vanila"], "method 'vanila'"),
        (["--points", "0"], "--points 0: give at least 1"),
    ],
)
def test_a_mistake_is_one_line_and_exit_code_1(arguments, message, capsys):
    assert main(["bench", *arguments]) == 1
    error = capsys.readouterr().err.strip()
    assert message in error
    assert "\n" not in error
