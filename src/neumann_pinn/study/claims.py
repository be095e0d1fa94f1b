"""What the paper says about its results, as claims that numbers can decide.

Each claim gives its place in the paper, says in our own words what would make it true, and is a
predicate on errors and costs: those of this study, or the published ones.
"""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import pandas as pd

from neumann_pinn.study import published
from neumann_pinn.study.evidence import Evidence, NotDecidableError
from neumann_pinn.study.predicates import (
    BEST,
    CONSTRAINTS,
    EXISTING,
    NEW,
    SETTINGS,
    SIZES,
    SMOOTH,
    VANILLA,
    WAVY,
    Finding,
    Lower,
    Predicate,
    all_of,
    costs_about,
    costs_at_least,
    excels_on_high_frequencies,
    improves_by,
    matters_most_for_new,
    most_of,
    similar_decays,
)

METHODS = VANILLA + EXISTING + NEW
IMPROVEMENTS = {"low": 54.2, "poly3": 47.2, "poly4": 25.6, "high": 96.5, "multiscale": 74.8}
"""The percentages in section 4."""


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper that numbers can decide."""

    id: str
    place: str
    quote: str
    statement: str
    predicate: Predicate

    def judge(self, evidence: Evidence) -> Finding:
        """What the given numbers say about it."""
        try:
            return self.predicate(evidence)
        except NotDecidableError as reason:
            return Finding("not decidable", str(reason))


def _with_size(
    id: str, word: str, place: str, quote: str, statement: str, comparisons: Sequence[Lower]
) -> tuple[Claim, Claim]:
    """A claim on a direction, and one on the size that a word of the paper stands for."""
    low, high = SIZES[word]
    size = f"at least {low:g} times" if math.isinf(high) else f"{low:g} to {high:g} times"
    sized = [comparison._replace(factors=(low, high)) for comparison in comparisons]
    return (
        Claim(id, place, quote, statement.format("larger than"), all_of(comparisons)),
        Claim(f"{id}_{word}", place, quote, statement.format(size), all_of(sized)),
    )


def _section(setting: str) -> str:
    return "section 4, " + ("low frequencies" if setting in SMOOTH else "high frequencies")


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
            _section(setting),
            f"relative improvement of {percent} %",
            f"{BEST[setting]} improves on the best vanilla on {setting} at fixed_time",
            all_of([Lower("fixed_time", setting, (BEST[setting],), VANILLA)]),
        )
        for setting, percent in IMPROVEMENTS.items()
    ),
    *(
        Claim(
            f"improvement_size.{setting}",
            _section(setting),
            f"relative improvement of {percent} %",
            f"{BEST[setting]} improves on the best vanilla by {percent} % on {setting}",
            improves_by(setting, percent),
        )
        for setting, percent in IMPROVEMENTS.items()
    ),
    Claim(
        "new.best_at_fixed_time",
        "abstract; section 5",
        "our method outperforms existing hard-constraining methods and classical PINNs",
        "the best method of every setting at fixed_time is a new one",
        all_of(Lower("fixed_time", s, NEW, VANILLA + EXISTING) for s in SETTINGS),
    ),
    Claim(
        "existing.worse_than_new_at_fixed_time",
        "section 4, training time",
        "still worse than the newly proposed method",
        "the best new method beats the best existing one in every setting at fixed_time",
        all_of(Lower("fixed_time", s, NEW, EXISTING) for s in SETTINGS),
    ),
    Claim(
        "settings.similar_decay",
        "section 4, settings",
        "chosen such that the solutions' temporal decay speeds are similar",
        "the largest modes of all settings decay at rates within a factor of 2",
        similar_decays,
    ),
    *_with_size(
        "existing.worse_on_smooth",
        "slightly",
        "section 4, low frequencies",
        "the existing hard-constraining technique performs slightly worse than the vanilla PINN",
        "existing's error is {} vanilla's on low, poly3 and poly4 at fixed_time",
        [Lower("fixed_time", s, ("vanilla",), ("existing",)) for s in SMOOTH],
    ),
    *_with_size(
        "embedding.hurts_on_smooth",
        "substantially",
        "section 4, low frequencies",
        "a substantial deterioration in the performance of all hard-constraining techniques",
        "with 20 or 50 frequencies the errors of both hard constraints are {} those without on "
        "low, poly3 and poly4",
        [
            Lower("fixed_time", setting, methods[:1], methods[1:])
            for setting, methods in itertools.product(SMOOTH, (EXISTING, NEW))
        ],
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
    *_with_size(
        "existing.worse_on_wavy",
        "slightly",
        "section 4, high frequencies",
        "combined with a random Fourier embedding again performs slightly worse",
        "on high and multiscale the errors of existing with 20 and with 50 features are {} the "
        "best vanilla's",
        [
            Lower("fixed_time", setting, VANILLA, (name,))
            for setting, name in itertools.product(WAVY, EXISTING[1:])
        ],
    ),
    *_with_size(
        "embedding.none_is_worse_on_wavy",
        "considerably",
        "section 4, high frequencies",
        "no Fourier embedding leads to considerably worse accuracies",
        "on high and multiscale the error of each constraint without an embedding is {} that with "
        "20 or 50",
        [
            Lower("fixed_time", setting, (name,), methods[:1])
            for setting, methods in itertools.product(WAVY, CONSTRAINTS)
            for name in methods[1:]
        ],
    ),
    *_with_size(
        "embedding.smaller_is_worse_on_wavy",
        "considerably",
        "section 4, high frequencies",
        "using smaller Fourier embeddings (...) leads to considerably worse accuracies",
        "on high and multiscale the error of each constraint with 20 frequencies is {} that with "
        "50",
        [
            Lower("fixed_time", setting, methods[2:], methods[1:2])
            for setting, methods in itertools.product(WAVY, CONSTRAINTS)
        ],
    ),
    Claim(
        "cost.existing",
        "section 4, training time",
        "the existing hard-constraining method 63.1 ms",
        "an iteration of existing costs 63.1 / 13.5 times vanilla's, in this implementation as in "
        "the paper's",
        costs_about("existing", _COSTS["output_transform"] / _COSTS["none"]),
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
        "an iteration of cosine1 costs 14.6 / 13.5 times vanilla's, in this implementation as in "
        "the paper's",
        costs_about("cosine1", _COSTS["cosine_embedding"] / _COSTS["none"]),
    ),
    Claim(
        "existing.mostly_better.best",
        "section 4, training time; appendix C",
        "mostly performs better than the best vanilla PINN",
        "the best existing beats the best vanilla in more than half of the settings at "
        "fixed_iterations",
        most_of(Lower("fixed_iterations", s, EXISTING, VANILLA) for s in SETTINGS),
    ),
    Claim(
        "existing.mostly_better.matched",
        "appendix C",
        "perform better than the vanilla PINN in most of the cases",
        "existing beats vanilla with the same embedding in more than half of the 15 cases at "
        "fixed_iterations",
        most_of(
            Lower("fixed_iterations", setting, (existing,), (vanilla,))
            for setting in SETTINGS
            for existing, vanilla in zip(EXISTING, VANILLA, strict=True)
        ),
    ),
    Claim(
        "existing.mostly_better.plain",
        "appendix C",
        "perform better than the vanilla PINN in most of the cases",
        "existing beats vanilla, both without an embedding, in more than half of the settings at "
        "fixed_iterations",
        most_of(Lower("fixed_iterations", s, ("existing",), ("vanilla",)) for s in SETTINGS),
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
    """A row for each claim: what it says, what this study finds, what the published numbers say.

    These say it as printed, and if one run of each method could tell: if the spread between
    replicates was as large there as in this study.
    """
    paper = Evidence.published(evidence.facts)
    one_run = replace(paper, spread=evidence.spread)
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
                "published_one_run": claim.judge(one_run).verdict,
            }
        )
    return pd.DataFrame(rows)
