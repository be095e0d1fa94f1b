import pandas as pd
import pytest

from neumann_pinn.study.accuracy import accuracy, winners
from neumann_pinn.study.budget import Budget
from neumann_pinn.training.history import Row

COSTS = {"vanilla": 10.0, "fourier": 10.5, "existing": 47.0, "cheap": 8.0}
CONSTRAINTS = {
    "vanilla": "none",
    "fourier": "none",
    "existing": "output_transform",
    "cheap": "cosine_embedding",
}
BUDGET = Budget(1000, 100, COSTS, "vanilla")


def history(ms, start=1.0, iterations=1300):
    """An error that falls by one part in 1 + iteration / 100."""
    rows = [
        Row(i, i * ms / 1e3, 0, 0, 0, 0, 0, 0, 9.0, start / (1 + i / 100))
        for i in range(0, iterations + 1, 100)
    ]
    return pd.DataFrame(rows, columns=Row._fields)


def diverging_at(iteration, ms):
    """A history that ends with a loss that is no number."""
    rows = history(ms, iterations=iteration)
    rows.loc[rows.index[-1], ["loss", "error"]] = float("nan")
    return rows


def table(wall_clock=False, **others):
    histories = {("low", name, 0): history(ms) for name, ms in COSTS.items()}
    histories |= {("low", name, 0): other for name, other in others.items()}
    return accuracy(histories, BUDGET, CONSTRAINTS, wall_clock).set_index(["clock", "method"])


def test_fixed_time_is_the_last_evaluation_within_vanilla_s_time():
    assert [BUDGET.at_fixed_time(name) for name in COSTS] == [1000, 900, 200, 1200]
    assert [BUDGET.to_train(name) for name in COSTS] == [1000, 1000, 1000, 1200]
    rows = table()
    assert rows.loc["fixed_time"]["iterations"].to_dict() == {
        "vanilla": 1000,
        "fourier": 900,
        "existing": 200,
        "cheap": 1200,
    }
    assert (rows.loc["fixed_iterations"]["iterations"] == 1000).all()


def test_the_wall_clock_gives_the_same_where_it_agrees_with_the_costs():
    assert table(wall_clock=True).equals(table())


def test_improvement_is_relative_to_the_best_vanilla():
    rows = table().loc["fixed_time"]
    assert set(rows["reference"]) == {"vanilla"}
    best = 1 / 11
    assert rows.loc["vanilla", "relative_improvement"] == 0
    assert rows.loc["cheap", "error"] == pytest.approx(1 / 13)
    assert rows.loc["cheap", "relative_improvement"] == pytest.approx(100 * (1 - 1 / 13 / best))
    assert rows.loc["existing", "relative_improvement"] == pytest.approx(100 * (1 - 1 / 3 / best))


def test_a_diverged_run_has_no_error_and_hurts_nobody():
    rows = table(vanilla=diverging_at(800, 10)).loc["fixed_time"]
    assert rows.loc["vanilla", "status"] == "diverged"
    assert pd.isna(rows.loc["vanilla", "error"])
    assert set(rows["reference"]) == {"fourier"}


def test_a_run_that_diverges_late_counts_where_it_had_not_yet():
    rows = table(existing=diverging_at(800, 47))
    assert rows.loc[("fixed_time", "existing"), "error"] == pytest.approx(1 / 3)
    assert pd.isna(rows.loc[("fixed_iterations", "existing"), "error"])


def test_a_history_that_is_too_short_is_an_error():
    with pytest.raises(ValueError, match="low/existing/0 ends at iteration 700, before 1000"):
        table(existing=history(47, iterations=700))


def test_several_seeds_are_compared_by_their_geometric_mean():
    histories = {
        ("low", "vanilla", 0): history(10, 1.0),
        ("low", "vanilla", 1): history(10, 4.0),
        ("low", "fourier", 0): history(10.5, 1.9),
        ("low", "fourier", 1): history(10.5, 1.9),
    }
    rows = accuracy(histories, BUDGET, CONSTRAINTS, False)
    at_iterations = rows[rows["clock"] == "fixed_iterations"]
    assert set(at_iterations["reference"]) == {"fourier"}
    assert winners(rows).loc["low", "fixed_iterations"].startswith("fourier")
