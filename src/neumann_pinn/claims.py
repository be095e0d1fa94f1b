"""What the paper says of its results, as claims that numbers can decide.

Each claim points to its place in the paper, says in our words what would make it true, and is a
predicate on errors and costs: those of this study, or the published ones. An error of 1 is that of
predicting zero: two methods that are both above `LEARNT` have learnt nothing yet, and which of them
is better is not decidable. With several seeds a comparison is of geometric means, and not decidable
where the ranges over the seeds overlap.
"""

import itertools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Literal, NamedTuple

import pandas as pd

from neumann_pinn import published

LEARNT = 0.5

Verdict = Literal["holds", "does not hold", "not decidable"]

VANILLA = ("vanilla", "vanilla_fourier20", "vanilla_fourier50")
EXISTING = ("existing", "existing_fourier20", "existing_fourier50")
NEW = ("cosine1", "cosine20", "cosine50")
CONSTRAINTS = (VANILLA, EXISTING, NEW)
METHODS = VANILLA + EXISTING + NEW
SMOOTH = ("low", "poly3", "poly4")
WAVY = ("high", "multiscale")
SETTINGS = ("low", "high", "multiscale", "poly3", "poly4")
BEST = dict.fromkeys(SMOOTH, "cosine1") | dict.fromkeys(WAVY, "cosine50")
IMPROVEMENTS = {"low": 54.2, "poly3": 47.2, "poly4": 25.6, "high": 96.5, "multiscale": 74.8}
"""The percentages in section 4."""


class NotDecidableError(Exception):
    """Why the numbers at hand do not decide a claim."""


class Finding(NamedTuple):
    """A verdict and the numbers behind it."""

    verdict: Verdict
    detail: str


class Error(NamedTuple):
    """A method's error: the geometric mean over the seeds and the range; infinite if diverged."""

    method: str
    mean: float
    low: float
    high: float

    def __str__(self) -> str:
        return (
            f"{self.method} {self.mean:.2e}" if self.mean < math.inf else f"{self.method} diverged"
        )


@dataclass(frozen=True)
class Evidence:
    """Errors by clock, setting, method and seed; milliseconds an iteration by method."""

    accuracy: pd.DataFrame
    costs: Mapping[str, float]
    digits: int | None = None
    """Significant digits of the errors, if they were rounded."""

    def error(self, clock: str, setting: str, methods: Sequence[str]) -> Error:
        """The error of the best of some methods."""
        return min((self._error(clock, setting, name) for name in methods), key=lambda e: e.mean)

    def _error(self, clock: str, setting: str, method: str) -> Error:
        table = self.accuracy
        rows = (table["clock"] == clock) & (table["setting"] == setting)
        errors = table.loc[rows & (table["method"] == method), "error"].fillna(math.inf).tolist()
        if not errors:
            raise NotDecidableError(f"no {method} on {setting} in this study")
        half_units = [self._half_unit(error) for error in errors]
        return Error(
            method,
            math.exp(sum(map(math.log, errors)) / len(errors)) if len(errors) > 1 else errors[0],
            min(error - half for error, half in zip(errors, half_units, strict=True)),
            max(error + half for error, half in zip(errors, half_units, strict=True)),
        )

    def _half_unit(self, error: float) -> float:
        if self.digits is None or math.isinf(error):
            return 0.0
        return 0.5 * 10.0 ** (math.floor(math.log10(error)) - self.digits + 1)

    def cost(self, method: str) -> float:
        """Milliseconds an iteration."""
        if method not in self.costs:
            raise NotDecidableError(f"no cost of {method} in this study")
        return self.costs[method]

    @classmethod
    def published(cls) -> "Evidence":
        """The paper's own numbers; costs are published without embeddings only."""
        ms = published.costs()
        costs = {
            "vanilla": ms["none"],
            "existing": ms["output_transform"],
            "cosine1": ms["cosine_embedding"],
        }
        return cls(published.accuracy(), costs, published.DIGITS)


Predicate = Callable[[Evidence], Finding]


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper that numbers can decide."""

    id: str
    place: str
    quote: str
    statement: str
    predicate: Predicate

    def judge(self, evidence: Evidence) -> Finding:
        """What some numbers say of it."""
        try:
            return self.predicate(evidence)
        except NotDecidableError as reason:
            return Finding("not decidable", str(reason))


class Lower(NamedTuple):
    """That the best of some methods has a lower error than the best of some others."""

    clock: str
    setting: str
    lower: Sequence[str]
    higher: Sequence[str]

    def decide(self, evidence: Evidence) -> tuple[bool, str]:
        """Whether it is so, and the two errors."""
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
    """Every comparison must hold; one that fails decides, one that is open leaves it open."""
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
    """The best new method improves on the best vanilla by at least so many percent.

    The percentage is printed with one decimal: half of its last digit less will do.
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
    """An iteration costs at least so many of vanilla's."""

    def predicate(evidence: Evidence) -> Finding:
        ratio = evidence.cost(method) / evidence.cost("vanilla")
        return Finding("holds" if ratio >= times else "does not hold", _times(ratio))

    return predicate


def costs_at_most(method: str, times: float) -> Predicate:
    """An iteration costs at most so many of vanilla's."""

    def predicate(evidence: Evidence) -> Finding:
        ratio = evidence.cost(method) / evidence.cost("vanilla")
        return Finding("holds" if ratio <= times else "does not hold", _times(ratio))

    return predicate


def matters_most_for_new(evidence: Evidence) -> Finding:
    """The largest error over the smallest, over embeddings: geometric mean over the settings."""
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
    """What comparisons say, by how they end: held, failed, still open."""
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
    """The first two of some comparisons, and how many they are."""
    if total == 1:
        return words[0]
    more = " | ..." if len(words) > 2 else ""
    return f"{len(words)} of {total}: {' | '.join(words[:2])}{more}"


def _times(ratio: float) -> str:
    return f"{ratio:.2f} times vanilla's iteration"


def _others(*methods: str) -> tuple[str, ...]:
    return tuple(name for name in METHODS if name not in methods)


_COSTS = published.costs()

CLAIMS: tuple[Claim, ...] = (
    *(
        Claim(
            f"best.{setting}.{clock}",
            "table 2 (bold)" if clock == "fixed_time" else "table 3 (bold)",
            "the best accuracy is highlighted in bold font",
            f"{BEST[setting]} has the lowest error of all on {setting} at {clock}",
            all_of([Lower(clock, setting, (BEST[setting],), _others(BEST[setting]))]),
        )
        for clock in ("fixed_time", "fixed_iterations")
        for setting in SETTINGS
    ),
    *(
        Claim(
            f"improvement.{setting}",
            "section 4, " + ("low frequencies" if setting in SMOOTH else "high frequencies"),
            f"relative improvement of {percent} %",
            f"{BEST[setting]} improves on the best vanilla by at least {percent} % on {setting}",
            improves(setting, percent),
        )
        for setting, percent in IMPROVEMENTS.items()
    ),
    Claim(
        "existing.worse_on_smooth",
        "section 4, low frequencies",
        "the existing hard-constraining technique performs slightly worse than the vanilla PINN",
        "vanilla has a lower error than existing on low, poly3 and poly4 at fixed_time",
        all_of(Lower("fixed_time", s, ("vanilla",), ("existing",)) for s in SMOOTH),
    ),
    Claim(
        "embedding.hurts_on_smooth",
        "section 4, low frequencies",
        "a substantial deterioration in the performance of all hard-constraining techniques",
        "existing and cosine1 beat their kin with 20 or 50 frequencies on low, poly3 and poly4",
        all_of(
            Lower("fixed_time", setting, methods[:1], methods[1:])
            for setting, methods in itertools.product(SMOOTH, (EXISTING, NEW))
        ),
    ),
    Claim(
        "embedding.larger_hurts_more_on_smooth",
        "section 4, low frequencies",
        "the accuracy decreases as the size of the Fourier embedding increases",
        "with 20 frequencies the error is lower than with 50, for both hard constraints, on low, "
        "poly3 and poly4",
        all_of(
            Lower("fixed_time", setting, methods[1:2], methods[2:])
            for setting, methods in itertools.product(SMOOTH, (EXISTING, NEW))
        ),
    ),
    Claim(
        "reference.on_wavy",
        "section 4, high frequencies",
        "the reference method is the vanilla PINN with random Fourier embedding of size 50",
        "vanilla_fourier50 is the best vanilla on high and multiscale at fixed_time",
        all_of(Lower("fixed_time", s, VANILLA[2:], VANILLA[:2]) for s in WAVY),
    ),
    Claim(
        "new.only_better_on_wavy",
        "section 4, high frequencies",
        "Better performances are achieved only by the newly proposed method",
        "on high and multiscale cosine20 and cosine50 beat the best vanilla and nothing else does",
        all_of(
            Lower("fixed_time", setting, (name,), VANILLA)
            if name in ("cosine20", "cosine50")
            else Lower("fixed_time", setting, VANILLA, (name,))
            for setting, name in itertools.product(WAVY, EXISTING + NEW)
        ),
    ),
    Claim(
        "existing.worse_on_wavy",
        "section 4, high frequencies",
        "combined with a random Fourier embedding again performs slightly worse",
        "the best vanilla beats existing_fourier20 and existing_fourier50 on high and multiscale",
        all_of(
            Lower("fixed_time", setting, VANILLA, (name,))
            for setting, name in itertools.product(WAVY, EXISTING[1:])
        ),
    ),
    Claim(
        "embedding.none_is_worse_on_wavy",
        "section 4, high frequencies",
        "no Fourier embedding leads to considerably worse accuracies",
        "on high and multiscale each constraint is worse without an embedding than with 20 or 50",
        all_of(
            Lower("fixed_time", setting, (name,), methods[:1])
            for setting, methods in itertools.product(WAVY, CONSTRAINTS)
            for name in methods[1:]
        ),
    ),
    Claim(
        "embedding.smaller_is_worse_on_wavy",
        "section 4, high frequencies",
        "using smaller Fourier embeddings (...) leads to considerably worse accuracies",
        "on high and multiscale each constraint is worse with 20 frequencies than with 50",
        all_of(
            Lower("fixed_time", setting, methods[2:], methods[1:2])
            for setting, methods in itertools.product(WAVY, CONSTRAINTS)
        ),
    ),
    Claim(
        "cost.existing",
        "section 4, training time",
        "the existing hard-constraining method 63.1 ms",
        "an iteration of existing costs at least 63.1 / 13.5 of vanilla's",
        costs_at_least("existing", _COSTS["output_transform"] / _COSTS["none"]),
    ),
    Claim(
        "cost.existing_is_longer",
        "section 4, training time",
        "its significantly longer training time",
        "an iteration of existing costs at least twice vanilla's",
        costs_at_least("existing", 2.0),
    ),
    Claim(
        "cost.new",
        "section 4, training time",
        "via a single Fourier feature mapping takes 14.6 ms",
        "an iteration of cosine1 costs at most 14.6 / 13.5 of vanilla's",
        costs_at_most("cosine1", _COSTS["cosine_embedding"] / _COSTS["none"]),
    ),
    Claim(
        "existing.mostly_better_at_fixed_iterations",
        "section 4, training time; appendix C",
        "mostly performs better than the best vanilla PINN",
        "the best existing beats the best vanilla in more than half of the settings at "
        "fixed_iterations",
        most_of(Lower("fixed_iterations", s, EXISTING, VANILLA) for s in SETTINGS),
    ),
    Claim(
        "existing.worse_than_new_at_fixed_iterations",
        "section 4, training time",
        "but still worse than the newly proposed method",
        "the best new method beats the best existing one in every setting at fixed_iterations",
        all_of(Lower("fixed_iterations", s, NEW, EXISTING) for s in SETTINGS),
    ),
    Claim(
        "existing.consistently_inferior_at_fixed_time",
        "appendix C",
        "the consistently inferior performance of the existing hard-constraining method",
        "the best vanilla beats the best existing in every setting at fixed_time",
        all_of(Lower("fixed_time", s, VANILLA, EXISTING) for s in SETTINGS),
    ),
    Claim(
        "new.always_best_at_fixed_iterations",
        "appendix C",
        "the best performances can always be observed when using the newly proposed method",
        "the best method of every setting at fixed_iterations is a new one",
        all_of(Lower("fixed_iterations", s, NEW, VANILLA + EXISTING) for s in SETTINGS),
    ),
    Claim(
        "embedding.suits_the_solution",
        "section 4, last paragraph",
        "choosing a suitable Fourier embedding strategy is crucial",
        "each constraint is best without an embedding on low, poly3 and poly4, and best with one "
        "on high and multiscale",
        all_of(
            Lower("fixed_time", setting, methods[:1], methods[1:])
            if setting in SMOOTH
            else Lower("fixed_time", setting, methods[1:], methods[:1])
            for setting, methods in itertools.product(SETTINGS, CONSTRAINTS)
        ),
    ),
    Claim(
        "embedding.matters_most_for_new",
        "section 4, last paragraph",
        "it is particularly important for the newly proposed approach",
        "the ratio of worst to best embedding, as geometric mean over the settings, is largest for "
        "the new constraint at fixed_time",
        matters_most_for_new,
    ),
    Claim(
        "new.excels_on_wavy",
        "section 5",
        "particularly excelling in high frequency and multiscale settings",
        "the best new method improves more on high and on multiscale than on any other setting",
        excels_on_high_frequencies,
    ),
)


def judge(evidence: Evidence, claims: Sequence[Claim] = CLAIMS) -> pd.DataFrame:
    """A row for each claim: what it says, what this study finds, what the published numbers say."""
    paper = Evidence.published()
    rows = []
    for claim in claims:
        ours, theirs = claim.judge(evidence), claim.judge(paper)
        rows.append(
            {
                "id": claim.id,
                "place": claim.place,
                "quote": claim.quote,
                "statement": claim.statement,
                "verdict": ours.verdict,
                "detail": ours.detail,
                "published_verdict": theirs.verdict,
                "published_detail": theirs.detail,
            }
        )
    return pd.DataFrame(rows)


def in_words(table: pd.DataFrame) -> str:
    """How many claims hold, in a line."""
    counts = table["verdict"].value_counts()
    holds, fails, unclear = (
        counts.get(word, 0) for word in ("holds", "does not hold", "not decidable")
    )
    return (
        f"{holds} of {len(table)} claims of the paper hold, {fails} do not, {unclear} are not "
        "decidable"
    )


def to_html(table: pd.DataFrame, protocol: str) -> str:
    """The claims as a page of its own."""
    columns = {
        "statement": "Claim",
        "quote": "In the paper's words",
        "place": "Place",
        "verdict": "Here",
        "detail": "Numbers",
        "published_verdict": "In its tables",
    }
    shown = table[list(columns)].rename(columns=columns)
    style = (
        "body{font:14px/1.4 sans-serif;margin:2em}table{border-collapse:collapse}"
        "th,td{text-align:left;vertical-align:top;padding:.3em .8em;border-top:1px solid #ccc}"
    )
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>Claims</title>'
        f"<style>{style}</style></head>\n<body><h1>The paper's claims</h1>\n"
        f"<p>{escape(protocol)}. {in_words(table)}.</p>\n"
        f"{shown.to_html(index=False, border=0)}\n</body></html>\n"
    )


def to_markdown(table: pd.DataFrame, protocol: str) -> str:
    """The claims as a Markdown table."""
    lines = [
        "# The paper's claims",
        "",
        f"{protocol}. {in_words(table)}.",
        "",
        "| claim | says | place | verdict | here | in the published tables |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for row in table.itertuples():
        cells = (
            f"`{row.id}`",
            row.statement,
            row.place,
            f"**{row.verdict}**",
            row.detail,
            f"{row.published_verdict}: {row.published_detail}",
        )
        lines.append("| " + " | ".join(str(cell).replace("|", "/") for cell in cells) + " |")
    return "\n".join(lines) + "\n"
