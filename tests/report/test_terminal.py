"""What a user reads at the start and at the end, and the stamp on everything."""

import copy
import math

import pandas as pd
import pytest
from drawings import BEYOND, accuracy_table
from studies import CONFIG, SCHEMA

from neumann_pinn.report import terminal
from neumann_pinn.report.stamp import stamp, stamp_beyond
from neumann_pinn.study.config import check
from neumann_pinn.study.definition import Study

COSTS = dict.fromkeys(CONFIG["methods"], 10.0)


def study(protocol="tiny", **changes):
    return Study(check(copy.deepcopy(CONFIG) | {"protocol": protocol} | changes, SCHEMA))


def runs(folder, *methods):
    return [folder / "low" / method / "0" / "history.csv" for method in methods]


@pytest.mark.parametrize(
    ("protocol", "words"),
    [
        ("paper", "1,000,000 iterations, 20,000/500/1,000 domain/initial/boundary points, Adam"),
        ("paper", "learning rate 0.0001, 1 replicate"),
        ("gauss_newton", "all after 40 steps), Gauss-Newton, 1 replicate"),
    ],
)
def test_the_stamp_says_which_protocol_made_it(protocol, words):
    assert stamp(study(protocol)).startswith(f"Protocol {protocol}: ")
    assert words in stamp(study(protocol))
    assert stamp(study("tiny"), protocol) == stamp(study(protocol))


def test_the_stamp_counts_replicates_and_says_which_frequencies_they_have():
    words = "2 replicates, the first with the published frequencies"
    assert stamp(study(replicates=2)).endswith(words)
    assert stamp(study()).endswith("1 replicate, with the published frequencies")
    own = {name: CONFIG["methods"][name] for name in ("vanilla", "cosine1")}
    assert stamp(study(methods=own)).endswith("1 replicate")
    assert stamp_beyond(study(replicates=2)).endswith("2 replicates")


def test_the_plan_counts_what_is_left_and_how_long_it_takes(tmp_path):
    files = runs(tmp_path, "vanilla", "existing", "cosine1")
    files[0].parent.mkdir(parents=True)
    files[0].touch()
    said = terminal.plan(study("adam"), files, COSTS, "as calibrated", 2)
    assert "3 runs, 1 of them done" in said
    minutes = math.ceil(2 * 15_000 * 10e-3 / 60 / 2)
    assert f"about {minutes} minutes of training on 2 cores (as calibrated)" in said


def test_the_plan_knows_that_cheap_methods_train_longer_at_fixed_time(tmp_path):
    cheap = COSTS | {"cosine1": 5.0}
    files = runs(tmp_path, "cosine1")
    same, longer = (
        terminal.plan(study("adam"), files, costs, "as calibrated", 1) for costs in (COSTS, cheap)
    )
    assert "on 1 core (" in same
    assert same == longer, "half the cost, and twice the iterations"


def test_the_summary_names_the_best_methods_the_claims_and_the_places(tmp_path):
    accuracy = tmp_path / "accuracy.csv"
    table = accuracy_table("fixed_time").query("replicate == 0")
    table.to_csv(accuracy, index=False)
    best = table.query("clock == 'fixed_time' and setting == 'low'")
    name, error = best.loc[best["error"].idxmin(), ["method", "error"]]
    claims = tmp_path / "claims.csv"
    pd.DataFrame({"verdict": ["holds", "does not hold", "holds"]}).to_csv(claims)
    said = terminal.summary(study("adam"), accuracy, claims)
    assert f"{name} ({error:.2e})" in said
    assert "2 of 3 claims of the paper hold, 1 do not" in said
    assert "Rank correlation with the published errors:" in said
    assert "Figures: results/adam/figures/" in said
    assert terminal.summary(study("adam"), tmp_path / "none.csv", claims) == (
        "Results are in results/adam/"
    )


def test_the_problems_beyond_the_study_have_a_plan_and_a_table_too(tmp_path):
    files = [tmp_path / "one.json", tmp_path / "two.json"]
    files[0].touch()
    assert "2 runs beyond the study, 1 of them done" in terminal.plan_beyond(study(), files)
    table = tmp_path / "generalisations.csv"
    BEYOND.to_csv(table, index=False)
    said = terminal.summary_beyond(study(), table)
    assert f"Table and figures: {tmp_path}/" in said
    assert "nan" not in said.lower()
    lines = [line.split() for line in said.splitlines()]
    assert ["slab", "existing", "0", "3.00e-02", "1.0e-09", "60.0"] in lines
    assert ["inverse", "cosine", "0", "5.00e-02", "1.0e-15", "30.0", "0.1234", "0.0100"] in lines
    assert ["open", "vanilla", "0", "4.00e-01", "22.0"] in lines, "no slope, so none is missed"
