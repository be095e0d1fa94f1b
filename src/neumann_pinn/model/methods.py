"""The paper's nine methods by name: `vanilla`, `existing_fourier20`, `cosine50`, ..."""

import re

from neumann_pinn.model.constraint import Constraint
from neumann_pinn.model.model import Model
from neumann_pinn.walls.embeddings import Cosine, Fourier, Identity

METHODS = (
    "vanilla",
    "vanilla_fourier20",
    "vanilla_fourier50",
    "existing",
    "existing_fourier20",
    "existing_fourier50",
    "cosine1",
    "cosine20",
    "cosine50",
)
STD = 20.0
"""The standard deviation of the random frequencies."""

_NAME = re.compile(r"(vanilla|existing)(?:_fourier(\d+))?|cosine(\d+)")
_DRAWS = {"vanilla": 0, "existing": 1, "cosine": 2}


def method(name: str, width: int = 100, depth: int = 3) -> Model:
    """The method of that name, with any embedding size; its frequencies are always the same."""
    match = _NAME.fullmatch(name)
    if match is None:
        raise ValueError(
            f"method {name!r}: give vanilla or existing, with _fourierN or without, or cosineN"
        )
    base, fourier, cosine = match.groups()
    if cosine is not None:
        cosines = Cosine.sample(int(cosine), STD, _DRAWS["cosine"])
        return Model("cosine_embedding", (cosines,), width, depth)
    constraint: Constraint = "none" if base == "vanilla" else "output_transform"
    if fourier is None:
        return Model(constraint, (Identity(),), width, depth)
    embedding = Fourier.sample(int(fourier), STD, _DRAWS[base])
    return Model(constraint, (embedding,), width, depth)
