"""The paper's claims, applied to its own tables and to numbers made for the purpose."""

import itertools
import math

import pandas as pd
import pytest

from neumann_pinn import METHODS
from neumann_pinn.report.claims import claims_summary, to_html
from neumann_pinn.study import published
from neumann_pinn.study.claims import CLAIMS, IMPROVEMENTS, SETTINGS, judge
from neumann_pinn.study.claims import METHODS as CLAIMED_METHODS
from neumann_pinn.study.evidence import Evidence

NOT_IN_ITS_TABLES = {"embedding.smaller_is_worse_on_wavy"}
"""What the paper says of itself that its own tables do not bear out; see docs/errata.md."""


def verdicts(evidence):
    table = judge(evidence)
    return dict(zip(table["id"], table["verdict"], strict=True))


def paper(accuracy=None, costs=None):
    own = Evidence.published()
    return Evidence(
        own.accuracy if accuracy is None else accuracy, costs or own.costs, published.DIGITS
    )


def swapped(clock, setting, one, other):
    """The published errors with those of two methods exchanged."""
    table = published.accuracy().set_index(["clock", "setting", "method"]).sort_index()
    here, there = (clock, setting, one), (clock, setting, other)
    first, second = table.loc[here, "error"], table.loc[there, "error"]
    table.loc[here, "error"], table.loc[there, "error"] = second, first
    return table.reset_index()


def test_the_published_tables_are_complete():
    table = published.accuracy()
    expected = set(itertools.product(("fixed_time", "fixed_iterations"), SETTINGS, METHODS))
    rows = table[["clock", "setting", "method"]].itertuples(index=False, name=None)
    assert set(rows) == expected
    assert len(table) == len(expected)
    assert set(CLAIMED_METHODS) == set(METHODS)


def test_ids_are_unique_and_there_are_enough_of_them():
    assert len({claim.id for claim in CLAIMS}) == len(CLAIMS) >= 15


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_what_the_paper_says_of_itself_holds_in_its_tables(claim):
    expected = "does not hold" if claim.id in NOT_IN_ITS_TABLES else "holds"
    assert claim.judge(Evidence.published()).verdict == expected


@pytest.mark.parametrize(("setting", "percent"), IMPROVEMENTS.items())
def test_the_percentages_are_those_of_the_published_errors_up_to_rounding(setting, percent):
    evidence = Evidence.published()
    vanilla = evidence.error("fixed_time", setting, METHODS[:3])
    new = evidence.error("fixed_time", setting, METHODS[6:])
    low, high = 100 * (1 - new.high / vanilla.low), 100 * (1 - new.low / vanilla.high)
    assert low - 0.05 <= percent <= high + 0.05


@pytest.mark.parametrize(
    ("swap", "fails"),
    [
        (("fixed_time", "low", "cosine1", "vanilla"), "best.low.fixed_time"),
        (("fixed_time", "low", "cosine1", "vanilla"), "improvement.low"),
        (("fixed_iterations", "high", "cosine50", "cosine20"), "best.high.fixed_iterations"),
        (("fixed_time", "poly3", "cosine20", "cosine50"), "embedding.larger_hurts_more_on_smooth"),
        (("fixed_time", "multiscale", "existing_fourier50", "cosine50"), "new.only_better_on_wavy"),
        (("fixed_time", "high", "vanilla", "vanilla_fourier50"), "reference.on_wavy"),
        (("fixed_iterations", "low", "cosine1", "existing"), "new.always_best_at_fixed_iterations"),
    ],
)
def test_a_swapped_pair_of_numbers_is_noticed(swap, fails):
    assert verdicts(paper(swapped(*swap)))[fails] == "does not hold"


def upside_down():
    """The published errors with the best and the worst exchanged."""
    return published.accuracy().assign(error=lambda table: 1e-6 / table["error"])


def existing_ahead():
    """Existing first at fixed time, last at fixed iterations; embeddings hardly matter to new."""
    errors = dict(
        zip(METHODS, (1e-3, 2e-3, 3e-3, 1e-5, 2e-5, 3e-5, 1e-4, 1.1e-4, 1.2e-4), strict=True)
    )
    table = published.accuracy()
    table["error"] = table["method"].map(errors)
    late = table["method"].str.startswith("existing") & (table["clock"] == "fixed_iterations")
    table.loc[late, "error"] *= 1e3
    return table


def test_each_claim_fails_in_one_of_two_other_worlds():
    costs = {"vanilla": 1.0, "existing": 0.5, "cosine1": 2.0}
    failed = {
        name
        for world in (upside_down(), existing_ahead())
        for name, verdict in verdicts(Evidence(world, costs)).items()
        if verdict == "does not hold"
    }
    assert failed == {claim.id for claim in CLAIMS}


def test_nothing_is_decided_by_methods_that_have_learnt_nothing():
    found = verdicts(Evidence(published.accuracy().assign(error=0.99), Evidence.published().costs))
    assert {v for name, v in found.items() if not name.startswith("cost")} == {"not decidable"}


def test_nothing_is_decided_without_the_methods_and_settings():
    empty = published.accuracy().query("method == 'vanilla'")
    found = verdicts(Evidence(empty, {"vanilla": 1.0}))
    assert set(found.values()) == {"not decidable"}


def test_overlapping_seeds_leave_a_comparison_open():
    seeds = [published.accuracy().assign(seed=seed) for seed in (0, 1)]
    low = seeds[0].query("setting == 'low' and method == 'cosine1'").index
    seeds[0].loc[low, "error"] /= 4
    seeds[1].loc[low, "error"] *= 4
    found = verdicts(Evidence(pd.concat(seeds), Evidence.published().costs))
    assert found["best.low.fixed_time"] == "not decidable"
    assert found["improvement.low"] == "not decidable"
    assert found["best.high.fixed_time"] == "holds"


def test_a_diverged_method_is_the_worse_one():
    table = published.accuracy()
    table.loc[(table["setting"] == "low") & (table["method"] == "cosine1"), "error"] = math.nan
    found = verdicts(paper(table))
    assert found["best.low.fixed_time"] == "does not hold"
    assert found["existing.worse_on_smooth"] == "holds"


def test_a_summary_counts_the_verdicts():
    table = judge(Evidence.published())
    words = "32 of 33 claims of the paper hold, 1 do not, 0 are not decidable"
    assert claims_summary(table) == words


def test_a_page_of_claims_shows_text_as_text():
    table = judge(Evidence.published()).assign(statement="<script>alert(1)</script>")
    page = to_html(table, "a < b")
    assert "<script>" not in page
    assert "a &lt; b" in page
