"""docs/errata.md: the formulas as printed fail where the corrected ones hold."""

from pathlib import Path

import pytest
import sympy

from neumann_pinn import METHODS
from neumann_pinn.study import published

A, B, C, D = sympy.symbols("A B C D")
x, y, a, b = sympy.symbols("x y a b", real=True)
ERRATA = Path(__file__).parents[2] / "docs" / "errata.md"


def slope(u, at):
    return sympy.expand(sympy.diff(u, x).subs(x, at))


def interval(scale):
    return ((x - a) * (b - x) ** 2 * A + (x - a) ** 2 * (x - b) * B) / scale


def test_on_a_general_interval_the_printed_lift_has_the_wrong_flux():
    printed = interval(1)
    assert sympy.factor(slope(printed, a)) == A * (a - b) ** 2
    assert sympy.factor(slope(printed, b)) == B * (a - b) ** 2


def test_on_a_general_interval_the_corrected_lift_has_the_right_flux():
    corrected = interval((b - a) ** 2)
    assert sympy.simplify(slope(corrected, a) - A) == 0
    assert sympy.simplify(slope(corrected, b) - B) == 0


def test_on_the_unit_interval_the_printed_lift_is_right():
    unit = interval(1).subs({a: 0, b: 1})
    assert slope(unit, 0) == A
    assert slope(unit, 1) == B


def test_on_the_unit_square_the_printed_lift_has_the_wrong_flux():
    printed = A * x * (1 - y) ** 2 + B * (x - 1) * y**2 + C * y * (1 - x) ** 2 + D * (y - 1) * x**2
    assert sympy.simplify(slope(printed, 0) - (A * (1 - y) ** 2 + B * y**2 - 2 * C * y)) == 0
    assert sympy.simplify(slope(printed, 0) - A) != 0


def test_on_a_box_the_corrected_lift_has_the_right_flux():
    def along(z, low, high, flux_low, flux_high):
        lift = (z - low) * (high - z) ** 2 * flux_low + (z - low) ** 2 * (z - high) * flux_high
        return lift / (high - low) ** 2

    corrected = along(x, a, b, A, B) + along(y, a, b, C, D)
    assert sympy.simplify(slope(corrected, a) - A) == 0
    assert sympy.simplify(slope(corrected, b) - B) == 0


def test_the_extra_term_is_flat_at_both_walls_for_any_network():
    v = sympy.Function("v")
    extra = x**2 * (1 - x) ** 2 * v(x)
    for wall in (0, 1):
        assert sympy.diff(extra, x).subs(x, wall).doit() == 0


@pytest.mark.parametrize(
    "words", ["(b-a)^2", "A_1 (1-x_2)^2 + B_1 x_2^2 - 2 A_2 x_2", "x^2 (1-x)^2 v(x,t)"]
)
def test_the_document_names_each_formula(words):
    assert words in ERRATA.read_text()


def test_the_document_quotes_the_numbers_of_the_statements_that_fail():
    text = " ".join(ERRATA.read_text().split())
    table = published.accuracy().set_index(["clock", "setting", "method"])["error"]
    at_time = table["fixed_time"]
    for name in ("existing_fourier20", "existing_fourier50"):
        assert f"{at_time['high', name]:.2e}" in text
    assert f"{at_time['poly4', 'existing'] / at_time['poly4', 'vanilla']:.2f} times" in text
    vanilla = [name for name in METHODS if name.startswith("vanilla")]
    ratios = [
        at_time[setting, name] / at_time[setting][vanilla].min()
        for setting in ("high", "multiscale")
        for name in ("existing_fourier20", "existing_fourier50")
    ]
    large = [f"{ratio:.2f}" for ratio in ratios if ratio > 2]
    assert f"{', '.join(large[:-1])} and {large[-1]} times" in text


def test_the_document_counts_the_cases_of_each_reading():
    text = " ".join(ERRATA.read_text().split())
    late = published.accuracy().query("clock == 'fixed_iterations'")
    errors = late.pivot(index="setting", columns="method", values="error")
    vanilla, existing = (
        errors[[name for name in METHODS if name.startswith(kind)]]
        for kind in ("vanilla", "existing")
    )
    assert f"{(existing.min(axis=1) < vanilla.min(axis=1)).sum()} of 5 settings" in text
    better = existing.to_numpy() < vanilla.to_numpy()
    assert f"embedding: {better[:, 0].sum()} of 5" in text
    assert f"same embedding: {better.sum()} of 15" in text
    at_time = published.accuracy().query("clock == 'fixed_time'")
    errors = at_time.pivot(index="setting", columns="method", values="error")
    wavy = errors.loc[["high", "multiscale"]]
    kinds = ("vanilla_fourier", "existing_fourier", "cosine")
    ratios = [wavy[f"{kind}20"] / wavy[f"{kind}50"] for kind in kinds]
    assert sum((ratio >= 2).sum() for ratio in ratios) == 1
