"""Made-up results to draw, and what a reader sees of a drawing."""

import math

import numpy as np
import pandas as pd
from matplotlib.colors import to_hex

from neumann_pinn.report.figures.style import Style
from neumann_pinn.study.budget import Budget

PROTOCOL = "Protocol made up: 1,000 iterations, 2 replicates"
SETTINGS = {"low": "Low frequency", "high": "High frequency", "poly": "Polynomial, 3rd order"}
STYLES = {
    "vanilla": Style("Vanilla", "none", 1),
    "fourier": Style("Vanilla, Fourier 20", "none", 20),
    "existing": Style("Existing HC", "output_transform", 1),
    "cosine1": Style("New HC, 1 cosine", "cosine_embedding", 1),
    "cosine20": Style("New HC, 20 cosines", "cosine_embedding", 20),
    "cosine50": Style("New HC, 50 cosines", "cosine_embedding", 50),
}
LABELS = {method: style.label for method, style in STYLES.items()}
BLUE, ORANGE, GREEN, RED = "#0173b2", "#de8f05", "#029e73", "#d55e00"
CONSTRAINT_COLOURS = {"none": BLUE, "output_transform": ORANGE, "cosine_embedding": GREEN}
COLOURS = {method: CONSTRAINT_COLOURS[style.constraint] for method, style in STYLES.items()}
LINES = {method: {1: "-", 20: "--", 50: ":"}[style.size] for method, style in STYLES.items()}

ERRORS = {
    "low": {
        "vanilla": (0.2, 0.8),
        "fourier": (0.5, 0.98),
        "existing": (0.1, 0.9),
        "cosine1": (0.01, 0.04),
        "cosine20": (0.004, 0.001),
        "cosine50": (3.0, 12.0),
    },
    "high": {
        "vanilla": (0.9, 1.6),
        "fourier": (0.02, 0.08),
        "existing": (0.5, math.nan),
        "cosine1": (0.7, 0.7),
        "cosine20": (0.005, 0.02),
        "cosine50": (0.04, 0.01),
    },
    "poly": {
        "vanilla": (0.05, 0.05),
        "fourier": (0.04, 0.09),
        "existing": (0.08, 0.02),
        "cosine1": (0.001, 0.004),
        "cosine20": (0.1, 0.4),
        "cosine50": (0.3, 1.2),
    },
}
"""Of each setting and method, by replicate; one of them diverged."""
REFERENCES = {"low": "vanilla", "high": "fourier", "poly": "vanilla"}
"""The vanilla variants with the lowest geometric means of these."""

COSTS = dict(zip(STYLES, (10.0, 12.0, 30.0, 9.0, 11.0, 13.0), strict=True))
BUDGET = Budget(1000, 200, COSTS, "vanilla")


def mean(errors):
    """The geometric mean; none with a diverged replicate."""
    return math.prod(errors) ** (1 / len(errors))


def accuracy_table(clock, errors=ERRORS, references=REFERENCES):
    """Errors at a clock, and other ones at the other clock."""
    (other,) = {"fixed_time", "fixed_iterations"} - {clock}
    rows = []
    for setting, methods in errors.items():
        best = mean(methods.get(references[setting], [math.nan]))
        for method, of_replicates in methods.items():
            for replicate, error in enumerate(of_replicates):
                run = {"setting": setting, "method": method, "replicate": replicate}
                run["reference"] = references[setting]
                improvement = 100 * (1 - error / best)
                here = {"error": error, "iterations": 1000, "relative_improvement": improvement}
                there = {"error": error**2, "iterations": 700, "relative_improvement": 1.0}
                rows += [{"clock": other} | run | there, {"clock": clock} | run | here]
    return pd.DataFrame(rows)


BEYOND_LABELS = {"slab": "Slab", "inverse": "D", "open": "No slope given_1"}
BEYOND = pd.DataFrame(
    [
        ("slab", "vanilla", "none", 0.1, 0.5, 20.0, math.nan),
        ("slab", "existing", "output_transform", 0.03, 1e-9, 60.0, math.nan),
        ("slab", "cosine", "cosine_embedding", 0.002, 0.0, 25.0, math.nan),
        ("inverse", "cosine", "cosine_embedding", 0.05, 1e-15, 30.0, 0.1234),
        ("open", "vanilla", "none", 0.4, math.nan, 22.0, math.nan),
    ],
    columns=[
        *("problem", "method", "constraint", "error", "wall_violation", "seconds"),
        "found_diffusivity",
    ],
).assign(replicate=0, status="finished", iterations=1000, diffusivity=0.1)
BEYOND["diffusivity_limit"] = BEYOND["found_diffusivity"] / 12.34
"""Runs beyond the study, one of them on a problem without a slope at its walls."""


def history(scale=1.0, ms=10.0):
    """Six evaluations; the lowest loss is the last but two, its error not the lowest."""
    iteration = np.arange(0, 1001, 200)
    loss = scale * np.array([1, 0.3, 0.1, 0.02, 0.05, 0.03])
    return pd.DataFrame(
        {
            "iteration": iteration,
            "seconds": iteration * ms * 1.5 / 1e3,
            "loss_pde": 0.7 * loss,
            "loss_initial": 0.2 * loss,
            "loss_boundary": 0.1 * loss,
            "loss": loss,
            "best_loss": np.minimum.accumulate(loss),
            "loss_held_out": 3 * loss,
            "error": scale * np.array([0.9, 0.6, 0.5, 0.2, 0.1, 0.4]),
            "error_at_best_loss": scale * np.array([0.9, 0.6, 0.5, 0.2, 0.2, 0.2]),
        }
    )


def histories(replicates=(0, 1)):
    """A history for each setting, method and replicate, all different."""
    runs = [(s, m, replicate) for s in SETTINGS for m in STYLES for replicate in replicates]
    return {run: history(1 + i / 10, COSTS[run[1]]) for i, run in enumerate(runs)}


def digits(values):
    """Numbers to six digits, to compare and to sort."""
    return tuple(f"{value:.6g}" for value in values)


def seen(line):
    """What one sees of a line: its points, its colour and whether it is dashed."""
    points = digits(line.get_xdata()), digits(line.get_ydata())
    return *points, to_hex(line.get_color()), line.get_linestyle()


def words_of(legend):
    return [text.get_text() for text in legend.get_texts()]


def tick_words(labels):
    return [label.get_text() for label in labels]


def contains(limits, values):
    low, high = sorted(limits)
    return low <= np.nanmin(values) and np.nanmax(values) <= high
