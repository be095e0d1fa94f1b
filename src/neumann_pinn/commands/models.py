"""Models from entries of the configuration."""

from collections.abc import Mapping
from typing import Any

from neumann_pinn.model import methods
from neumann_pinn.model.model import Model
from neumann_pinn.problems.problem import Problem
from neumann_pinn.study.methods import make_method


def make_model(
    problem: Problem, entry: Mapping[str, Any], network: Mapping[str, int], replicate: int = 0
) -> Model:
    """The model of a problem for a method's entry, with a network of the given shape."""
    method = make_method(entry, replicate)
    return methods.make_model(
        problem, method.constraint, method.embedding, network["width"], network["depth"]
    )
