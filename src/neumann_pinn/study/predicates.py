"""What makes a claim true: predicates on evidence.

A comparison is a ratio of two errors with an interval for it. It counts only if the better one has
clearly passed what predictions without training reach. A claim made of many comparisons holds if
each of them does at the given level; it does not if one of them fails at a level corrected for
their number (Bonferroni), because one of many may fail by chance.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Literal, NamedTuple

import numpy as np

from neumann_pinn.study.evidence import (
    Evidence,
    NotDecidableError,
    NothingLearntError,
    log_ratio,
    times,
)
from neumann_pinn.study.statistics import LEVEL, Interval, corrected

TIE = 1.25
"""Errors whose ratio is known to be smaller than this are as good as equal."""
COST_TIE = 1.1
"""The same for costs: timings repeat to about a tenth."""
SIZES = {
    "slightly": (1.0, 2.0),
    "considerably": (2.0, math.inf),
    "substantially": (2.0, math.inf),
}
"""The range of a ratio that a word stands for."""
SIMILAR = 2.0
"""The largest ratio between numbers that are `similar`."""

Verdict = Literal["holds", "does not hold", "tie", "not decidable"]

VANILLA = ("vanilla", "vanilla_fourier20", "vanilla_fourier50")
EXISTING = ("existing", "existing_fourier20", "existing_fourier50")
NEW = ("cosine1", "cosine20", "cosine50")
CONSTRAINTS = (VANILLA, EXISTING, NEW)
SMOOTH = ("low", "poly3", "poly4")
WAVY = ("high", "multiscale")
SETTINGS = ("low", "high", "multiscale", "poly3", "poly4")
BEST = dict.fromkeys(SMOOTH, "cosine1") | dict.fromkeys(WAVY, "cosine50")


class Finding(NamedTuple):
    """A verdict and the numbers behind it."""

    verdict: Verdict
    detail: str
    counts: bool = True
    """Whether networks that have learnt something were compared."""


Predicate = Callable[[Evidence], Finding]


class Lower(NamedTuple):
    """The best of some methods has a lower error than the best of others, by a range of factors."""

    clock: str
    setting: str
    lower: Sequence[str]
    higher: Sequence[str]
    factors: tuple[float, float] = (1.0, math.inf)

    def decide(self, evidence: Evidence, level: float = LEVEL) -> Finding:
        """What the numbers say about it at a confidence level."""
        lower = evidence.errors(self.clock, self.setting, self.lower)
        higher = evidence.errors(self.clock, self.setting, self.higher)
        try:
            evidence.check_learnt(self.setting, min(lower, higher, key=lambda e: e.mean))
        except NothingLearntError as reason:
            return Finding("not decidable", str(reason), counts=False)
        ratio = evidence.interval(log_ratio(higher, lower), level)
        words = f"{self.setting}: {lower}, {higher}, {_factor(ratio)}"
        return Finding(_within(ratio, self.factors), words)


def all_of(comparisons: Iterable[Lower]) -> Predicate:
    """Every comparison must hold."""
    comparisons = tuple(comparisons)

    def predicate(evidence: Evidence) -> Finding:
        plain = [comparison.decide(evidence) for comparison in comparisons]
        strict = _corrected(comparisons, evidence)
        if failed := [found.detail for found in strict if found.verdict == "does not hold"]:
            return Finding("does not hold", _some(failed, len(plain), len(failed)))
        held, ties = (
            [found.detail for found in plain if found.verdict == verdict]
            for verdict in ("holds", "tie")
        )
        if len(held) == len(plain):
            return Finding("holds", _some(held, len(plain)))
        if len(held) + len(ties) == len(plain):
            return Finding("tie", _some(ties, len(plain)))
        rest = [found.detail for found in plain if found.verdict not in ("holds", "tie")]
        return Finding("not decidable", _some(rest, len(plain)))

    return predicate


def most_of(comparisons: Iterable[Lower]) -> Predicate:
    """More than half of those that count must hold, each at a level corrected for their number."""
    comparisons = tuple(comparisons)

    def predicate(evidence: Evidence) -> Finding:
        every = _corrected(comparisons, evidence)
        counted = [found for found in every if found.counts]
        if not counted:
            return Finding("not decidable", _some([f.detail for f in every], len(every)))
        held, unclear = (
            [found.detail for found in counted if found.verdict == verdict]
            for verdict in ("holds", "not decidable")
        )
        others = [f.detail for f in counted if f.verdict not in ("holds", "not decidable")]
        if 2 * len(held) > len(counted):
            return Finding("holds", _some(held, len(counted)))
        if 2 * (len(held) + len(unclear)) <= len(counted):
            return Finding("does not hold", _some(others, len(counted), len(others)))
        return Finding("not decidable", _some(unclear, len(counted)))

    return predicate


def improves_by(setting: str, percent: float) -> Predicate:
    """The interval of the improvement on the best vanilla contains the published percentage."""

    def predicate(evidence: Evidence) -> Finding:
        vanilla = evidence.errors("fixed_time", setting, VANILLA)
        new = evidence.errors("fixed_time", setting, (BEST[setting],))
        evidence.check_learnt(setting, vanilla)
        ratio = evidence.interval(log_ratio(vanilla, new))
        mean, low, high = (100 * (1 - math.exp(-number)) for number in ratio)
        words = f"{mean:.1f} % [{low:.1f}, {high:.1f}] ({new}, {vanilla})"
        if not low - 0.05 <= percent <= high + 0.05:
            return Finding("does not hold", words)
        return Finding("holds" if ratio.low > 0 else "not decidable", words)

    return predicate


def costs_about(method: str, times: float) -> Predicate:
    """An iteration costs so many times as much as vanilla's."""

    def predicate(evidence: Evidence) -> Finding:
        ratio, words = _cost(evidence, method)
        close = times / COST_TIE <= ratio <= times * COST_TIE
        return Finding("holds" if close else "does not hold", words)

    return predicate


def costs_at_least(method: str, times: float) -> Predicate:
    """An iteration costs at least so many times as much as vanilla's."""

    def predicate(evidence: Evidence) -> Finding:
        ratio, words = _cost(evidence, method)
        if times / COST_TIE < ratio < times * COST_TIE:
            return Finding("tie", words)
        return Finding("holds" if ratio > times else "does not hold", words)

    return predicate


def matters_most_for_new(evidence: Evidence) -> Finding:
    """The ratio of largest to smallest error over embeddings, as geometric mean over settings."""
    spreads = []
    for methods in CONSTRAINTS:
        of_settings = []
        for setting in SETTINGS:
            each = [evidence.errors("fixed_time", setting, (name,)) for name in methods]
            evidence.check_learnt(setting, min(each, key=lambda e: e.mean))
            logs = np.log([errors.by_replicate for errors in each])
            of_settings.append(logs.max(0) - logs.min(0))
        spreads.append(np.mean(of_settings, 0))
    vanilla, existing, new = spreads
    lead = evidence.interval(new - np.maximum(vanilla, existing))
    sizes = (
        f"{name} {times(spread.mean())} x"
        for name, spread in zip(("vanilla", "existing", "new"), spreads, strict=True)
    )
    return Finding(_within(lead, (1.0, math.inf)), f"{', '.join(sizes)}; lead {_factor(lead)}")


def excels_on_high_frequencies(evidence: Evidence) -> Finding:
    """The best new method improves more on each wavy setting than on any smooth one."""
    gains = {}
    for setting in SETTINGS:
        vanilla = evidence.errors("fixed_time", setting, VANILLA)
        new = evidence.errors("fixed_time", setting, NEW)
        evidence.check_learnt(setting, vanilla)
        gains[setting] = log_ratio(vanilla, new)
    wavy, smooth = (np.array([gains[s] for s in group]) for group in (WAVY, SMOOTH))
    lead = evidence.interval(wavy.min(0) - smooth.max(0))
    words = ", ".join(f"{setting} {times(gain.mean())} x" for setting, gain in gains.items())
    return Finding(_within(lead, (1.0, math.inf)), f"{words}; lead {_factor(lead)}")


def similar_decays(evidence: Evidence) -> Finding:
    """The fastest and the slowest decay of the settings' large modes are similar."""
    missing = [setting for setting in SETTINGS if setting not in evidence.facts]
    if missing:
        raise NotDecidableError(f"no setting {missing[0]} in this study")
    rates = {setting: evidence.facts[setting].decay for setting in SETTINGS}
    words = ", ".join(f"{setting} {rate:.2g}" for setting, rate in rates.items())
    alike = max(rates.values()) <= SIMILAR * min(rates.values())
    return Finding("holds" if alike else "does not hold", f"the largest mode decays as {words}")


def _cost(evidence: Evidence, method: str) -> tuple[float, str]:
    ratio = evidence.cost(method) / evidence.cost("vanilla")
    return ratio, f"{ratio:.2f} times vanilla's iteration"


def _corrected(comparisons: Sequence[Lower], evidence: Evidence) -> list[Finding]:
    level = corrected(LEVEL, len(comparisons))
    return [comparison.decide(evidence, level) for comparison in comparisons]


def _within(ratio: Interval, factors: tuple[float, float]) -> Verdict:
    """Whether a ratio, known by an interval for its logarithm, lies in a range of factors."""
    low, high = math.log(factors[0]), math.log(factors[1])
    if low <= ratio.low and ratio.high <= high:
        return "holds"
    if factors[0] == 1 and -math.log(TIE) <= ratio.low and ratio.high <= math.log(TIE):
        return "tie"
    return "does not hold" if ratio.high < low or high < ratio.low else "not decidable"


def _factor(ratio: Interval) -> str:
    return f"{times(ratio.mean)} x [{times(ratio.low)}, {times(ratio.high)}]"


def _some(words: Sequence[str], total: int, shown: int = 2) -> str:
    """The first of some comparisons, and how many there are."""
    if total == 1:
        return words[0]
    more = " | ..." if len(words) > shown else ""
    return f"{len(words)} of {total}: {' | '.join(words[:shown])}{more}"
