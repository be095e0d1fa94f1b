"""Intervals cover the truth as often as they say, and more replicates decide more."""

import math

import numpy as np
import pandas as pd
import pytest
from studies import CONFIG, ROOT, SCHEMA

from neumann_pinn.study import published
from neumann_pinn.study.config import check
from neumann_pinn.study.evidence import learnt
from neumann_pinn.study.facts import facts
from neumann_pinn.study.statistics import ENOUGH, LEVEL, Spread, corrected, interval, spread_of

KNOWN = Spread(0.7, 3.0)
WORLDS = 4000


def coverage(count, draw, known=KNOWN, level=LEVEL):
    """How often the interval contains a mean of zero."""
    inside = 0
    for _ in range(WORLDS):
        found = interval(draw(count).tolist(), known, level)
        inside += found.low <= 0 <= found.high
    return inside / WORLDS


@pytest.mark.parametrize("count", [ENOUGH, 10])
@pytest.mark.parametrize("deviation", [0.1, 0.7, 3.0])
def test_with_enough_replicates_coverage_is_nominal_whatever_the_spread(count, deviation):
    generator = np.random.default_rng(count)
    found = coverage(count, lambda n: generator.normal(0, deviation, n))
    assert found == pytest.approx(LEVEL, abs=0.02)


@pytest.mark.parametrize("count", [ENOUGH, 10])
def test_heavy_tails_change_the_coverage_little(count):
    generator = np.random.default_rng(count)
    found = coverage(count, lambda n: generator.laplace(0, 1, n))
    assert found == pytest.approx(LEVEL, abs=0.02)


@pytest.mark.parametrize("count", [1, 2, 3])
def test_with_few_replicates_coverage_is_nominal_over_spreads_as_known(count):
    """Each world has its own spread, from the distribution that is known."""
    generator = np.random.default_rng(count)

    def draw(n):
        variance = KNOWN.deviation**2 * KNOWN.degrees / generator.chisquare(KNOWN.degrees)
        return generator.normal(0, math.sqrt(variance), n)

    assert coverage(count, draw) == pytest.approx(LEVEL, abs=0.02)


def test_a_bootstrap_would_cover_too_little():
    """Why it is not used: 84 and 90 % for 5 and 10 replicates."""
    generator = np.random.default_rng(0)
    for count, most in ((5, 0.88), (10, 0.93)):
        inside = 0
        for _ in range(600):
            means = generator.choice(generator.normal(size=count), (400, count)).mean(1)
            low, high = np.quantile(means, [0.025, 0.975])
            inside += low <= 0 <= high
        assert inside / 600 < most


def test_more_replicates_decide_more():
    generator = np.random.default_rng(0)
    decided = []
    for count in (1, 2, 3, 4, 5, 7, 10):
        found = (
            interval(generator.normal(0.8, KNOWN.deviation, count).tolist(), KNOWN)
            for _ in range(WORLDS)
        )
        decided.append(sum(ratio.low > 0 for ratio in found) / WORLDS)
    assert decided == sorted(decided)
    assert decided[0] < 0.1
    assert decided[-1] > 0.8


def test_a_single_run_decides_nothing_within_the_known_spread():
    found = interval([KNOWN.deviation], KNOWN)
    assert found.low < 0 < found.high
    assert interval([10 * KNOWN.deviation], KNOWN).low > 0


def test_many_comparisons_have_a_stricter_level():
    assert corrected(0.95, 1) == pytest.approx(0.95)
    assert corrected(0.95, 10) == pytest.approx(0.995)


def replicated(known, replicates):
    """Errors of two methods whose log-ratios have a known distribution of spreads."""
    generator = np.random.default_rng(0)
    rows = []
    for setting in range(400):
        variance = known.deviation**2 / 2 * known.degrees / generator.chisquare(known.degrees)
        for method in (0, 1):
            for replicate in range(replicates):
                error = math.exp(generator.normal(0, math.sqrt(variance)))
                rows.append(("fixed_time", setting, method, replicate, error))
    return pd.DataFrame(rows, columns=["clock", "setting", "method", "replicate", "error"])


@pytest.mark.parametrize("replicates", [3, 10])
def test_a_known_spread_is_found_again(replicates):
    found = spread_of(replicated(KNOWN, replicates))
    assert found.deviation == pytest.approx(KNOWN.deviation, rel=0.1)
    assert found.degrees == pytest.approx(KNOWN.degrees, rel=0.35)


def test_equal_spreads_are_known_firmly():
    firm = Spread(0.7, 1e6)
    found = spread_of(replicated(firm, 10))
    assert found.deviation == pytest.approx(0.7, rel=0.1)
    assert found.degrees > 30


def test_the_known_spread_is_that_of_the_runs_that_are_published_here():
    runs = pd.read_csv(ROOT / "results" / "published" / "gauss_newton" / "accuracy.csv")
    facts_of = {name: facts(s) for name, s in check(CONFIG, SCHEMA)["settings"].items()}
    assert published.spread() == pytest.approx(spread_of(learnt(runs, facts_of)), rel=1e-3)
    assert runs["replicate"].nunique() > 1
