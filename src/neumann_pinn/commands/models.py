"""Models from entries of the configuration."""

from collections.abc import Mapping
from typing import Any

from neumann_pinn.model.model import Model
from neumann_pinn.study.methods import make_method


def make_model(entry: Mapping[str, Any], network: Mapping[str, int]) -> Model:
    """The model for a method's entry, with a network of the given shape."""
    method = make_method(entry)
    return Model(method.constraint, (method.embedding,), network["width"], network["depth"])
