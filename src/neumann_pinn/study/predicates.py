"""What makes a claim true: predicates on evidence.

Predicting zero gives an error of 1: two methods that are both above `LEARNT` have learnt nothing
yet, and which of them is better is not decidable. With several seeds, geometric means are compared,
and the comparison is not decidable where the ranges over the seeds overlap.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Literal, NamedTuple

from neumann_pinn.study.evidence import Evidence, NotDecidableError

LEARNT = 0.5

Verdict = Literal["holds", "does not hold", "not decidable"]

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


Predicate = Callable[[Evidence], Finding]


class Lower(NamedTuple):
    """The statement that the best of some methods has a lower error than the best of others."""

    clock: str
    setting: str
    lower: Sequence[str]
    higher: Sequence[str]

    def decide(self, evidence: Evidence) -> tuple[bool, str]:
        """Whether it is true, and the two errors."""
        lower = evidence.error(self.clock, self.setting, self.lower)
        higher = evidence.error(self.clock, self.setting, self.higher)
        words = f"{self.setting}: {lower}, {higher}"
        if min(lower.mean, higher.mean) > LEARNT:
            raise NotDecidableError(f"{words}; nothing learnt yet, train longer")
        first, second = sorted((lower, higher), key=lambda error: error.mean)
        if first.high >= second.low:
            raise NotDecidableError(f"{words}; too close, train with more seeds")
        return lower is first, words


def all_of(comparisons: Iterable[Lower]) -> Predicate:
    """Every comparison must hold; a failed one decides, else an open one leaves the claim open."""
    comparisons = tuple(comparisons)

    def predicate(evidence: Evidence) -> Finding:
        held, failed, still_open = _sort(comparisons, evidence)
        if failed:
            return Finding("does not hold", _some(failed, len(comparisons)))
        if still_open:
            raise NotDecidableError(_some(still_open, len(comparisons)))
        return Finding("holds", _some(held, len(comparisons)))

    return predicate


def most_of(comparisons: Iterable[Lower]) -> Predicate:
    """More than half of the comparisons must hold."""
    comparisons = tuple(comparisons)

    def predicate(evidence: Evidence) -> Finding:
        held, failed, still_open = _sort(comparisons, evidence)
        if 2 * len(held) > len(comparisons):
            return Finding("holds", _some(held, len(comparisons)))
        if 2 * (len(held) + len(still_open)) > len(comparisons):
            raise NotDecidableError(_some(still_open, len(comparisons)))
        return Finding("does not hold", _some(failed, len(comparisons)))

    return predicate


def improves(setting: str, percent: float) -> Predicate:
    """The paper's best method improves on the best vanilla by at least `percent` percent.

    The paper gives one decimal, so falling short by half a unit in it will do.
    """
    least_percent = percent - 0.05

    def predicate(evidence: Evidence) -> Finding:
        vanilla = evidence.error("fixed_time", setting, VANILLA)
        new = evidence.error("fixed_time", setting, (BEST[setting],))
        if min(vanilla.mean, new.mean) > LEARNT:
            raise NotDecidableError(f"{new}, {vanilla}; nothing learnt yet, train longer")
        if math.isinf(vanilla.mean):
            raise NotDecidableError(f"{new}, {vanilla}")
        least, most = (
            100 * (1 - a / b) for a, b in ((new.high, vanilla.low), (new.low, vanilla.high))
        )
        words = f"{100 * (1 - new.mean / vanilla.mean):.1f} % ({new}, {vanilla})"
        if least < least_percent <= most and evidence.digits is None:
            raise NotDecidableError(f"{words}; too close, train with more seeds")
        return Finding("holds" if least_percent <= most else "does not hold", words)

    return predicate


def costs_at_least(method: str, times: float) -> Predicate:
    """An iteration costs at least `times` as much as vanilla's."""

    def predicate(evidence: Evidence) -> Finding:
        ratio = evidence.cost(method) / evidence.cost("vanilla")
        return Finding("holds" if ratio >= times else "does not hold", _times(ratio))

    return predicate


def costs_at_most(method: str, times: float) -> Predicate:
    """An iteration costs at most `times` as much as vanilla's."""

    def predicate(evidence: Evidence) -> Finding:
        ratio = evidence.cost(method) / evidence.cost("vanilla")
        return Finding("holds" if ratio <= times else "does not hold", _times(ratio))

    return predicate


def matters_most_for_new(evidence: Evidence) -> Finding:
    """The ratio of largest to smallest error over embeddings, as geometric mean over settings."""
    spreads = []
    for methods in CONSTRAINTS:
        logs = []
        for setting in SETTINGS:
            errors = [evidence.error("fixed_time", setting, (name,)).mean for name in methods]
            if min(errors) > LEARNT:
                raise NotDecidableError(f"{setting}: nothing learnt yet, train longer")
            if math.isinf(max(errors)):
                raise NotDecidableError(f"{setting}: a method diverged")
            logs.append(math.log(max(errors) / min(errors)))
        spreads.append(math.exp(sum(logs) / len(logs)))
    vanilla, existing, new = spreads
    words = f"vanilla {vanilla:.0f} x, existing {existing:.0f} x, new {new:.0f} x"
    return Finding("holds" if new > max(vanilla, existing) else "does not hold", words)


def excels_on_high_frequencies(evidence: Evidence) -> Finding:
    """The best new method improves more on each wavy setting than on any smooth one."""
    percent = {}
    for setting in SETTINGS:
        vanilla = evidence.error("fixed_time", setting, VANILLA)
        new = evidence.error("fixed_time", setting, NEW)
        if min(vanilla.mean, new.mean) > LEARNT:
            raise NotDecidableError(f"{setting}: nothing learnt yet, train longer")
        percent[setting] = 100 * (1 - new.mean / vanilla.mean)
    words = ", ".join(f"{setting} {value:.1f} %" for setting, value in percent.items())
    excels = min(percent[s] for s in WAVY) > max(percent[s] for s in SMOOTH)
    return Finding("holds" if excels else "does not hold", words)


def _sort(
    comparisons: Sequence[Lower], evidence: Evidence
) -> tuple[list[str], list[str], list[str]]:
    """What comparisons say, sorted by outcome: held, failed, still open."""
    held: list[str] = []
    failed: list[str] = []
    still_open: list[str] = []
    for comparison in comparisons:
        try:
            truth, words = comparison.decide(evidence)
        except NotDecidableError as reason:
            still_open.append(str(reason))
        else:
            (held if truth else failed).append(words)
    return held, failed, still_open


def _some(words: Sequence[str], total: int) -> str:
    """The first two of some comparisons, and how many there are."""
    if total == 1:
        return words[0]
    more = " | ..." if len(words) > 2 else ""
    return f"{len(words)} of {total}: {' | '.join(words[:2])}{more}"


def _times(ratio: float) -> str:
    return f"{ratio:.2f} times vanilla's iteration"
