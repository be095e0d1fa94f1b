"""The benchmark: what it compares is the same, and its command works."""

import json

import pytest

from neumann_pinn import METHODS, method
from neumann_pinn.commands.bench import LOW, DeepXDE
from neumann_pinn.commands.cli import main
from neumann_pinn.training.batches import heat_batch, points_of
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
    ours = loss_terms(model, theta, heat_batch(model, LOW, points_of(model, SMALL))).tolist()
    assert len(theirs) == (3 if model.constraint == "none" else 2)
    assert theirs == pytest.approx(ours[: len(theirs)], rel=1e-9)


@pytest.mark.bench
def test_we_are_faster_than_deepxde(tmp_path, capsys):
    file = tmp_path / "bench.json"
    arguments = ["--methods", "vanilla", "existing", "--points", "20000", "--threads", "2"]
    assert main(["bench", *arguments, "--rounds", "3", "--no-growth", "--json", str(file)]) == 0
    shown = capsys.readouterr().out
    vanilla, existing = json.loads(file.read_text())["timings"]
    assert f"{vanilla['ratio']:.1f}" in shown
    assert vanilla["ratio"] > 3
    assert existing["ratio"] > 4
    assert vanilla["memory_mib"] < vanilla["deepxde_memory_mib"]


def test_required_products_are_those_of_the_network():
    """Three products of 2 x 100 x 100 for each of 2 hidden layers and 3 streams, and a little."""
    hidden = 3 * 2 * 3 * 2 * 100 * 100
    assert required_products(method("vanilla"), 1) == hidden + 3 * 3 * 2 * 100
    assert required_products(method("cosine50"), 10) == 10 * (hidden + 1800 + 6 * 2 * 50 * 100)


def test_bench_without_deepxde_times_ours_and_says_how_it_grows(tmp_path, capsys):
    file = tmp_path / "bench.json"
    arguments = ["--methods", "cosine1", "--points", "500", "--rounds", "1", "--no-deepxde"]
    assert main(["bench", *arguments, "--no-growth", "--json", str(file)]) == 0
    (row,) = json.loads(file.read_text())["timings"]
    assert row["ratio"] is None
    assert 0 < row["share_of_peak"] < 1
    assert "cosine1" in capsys.readouterr().out


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
