"""The problems beyond the study with the methods that apply to them, and some that have it all."""

from dataclasses import replace

import torch

from neumann_pinn import (
    PROBLEMS,
    Axis,
    Cosine,
    Dirichlet,
    Identity,
    Neumann,
    Robin,
    make_model,
)
from neumann_pinn.model.constraints import CONSTRAINTS
from neumann_pinn.study.methods import Method

METHODS = {
    "vanilla": Method(CONSTRAINTS["none"], Identity()),
    "existing": Method(CONSTRAINTS["output_transform"], Identity()),
    "cosine": Method(CONSTRAINTS["cosine_embedding"], Cosine()),
    "hard": Method(CONSTRAINTS["hard_walls"], Cosine()),
}


def pairs_of(problems):
    """The names of all problems and methods that go together."""
    return [
        (name, kind)
        for name, problem in problems.items()
        for kind, method in METHODS.items()
        if method.applies(problem)
    ]


ALONG_Y = PROBLEMS["box_flux"].axes[1].left
COMBINED = {
    "everything": replace(
        PROBLEMS["box_flux"],
        axes=(
            Axis(0.0, 1.0, Dirichlet(PROBLEMS["box_flux"].exact), Robin(-2.0, 1.0)),
            Axis(-1.0, 1.0, Robin(0.7, ALONG_Y.flux), Robin(30.0, ALONG_Y.flux)),
        ),
        velocity=(0.4, -1.3),
        reaction=lambda u: u**3 - u,
        manufactured=True,
        samples=50,
        guess=0.3,
    ),
    "right_wall": replace(
        PROBLEMS["pulse"],
        axes=(
            Axis(-1.0, 2.0, Dirichlet(PROBLEMS["pulse"].exact), PROBLEMS["pulse"].axes[0].right),
        ),
        velocity=(0.4,),
        samples=50,
        guess=0.3,
    ),
    "two_walls": replace(
        PROBLEMS["pulse"],
        axes=(Axis(-1.0, 2.0, Robin(-1.5, PROBLEMS["pulse"].axes[0].left.flux), Robin(3.0, -0.7)),),
        velocity=(0.4,),
        reaction=lambda u: u**3 - u,
        samples=50,
        guess=0.3,
    ),
    "unlike": replace(
        PROBLEMS["pulse"],
        reaction=lambda values: values.flip(0) * values**2,
        manufactured=True,
        coupled=(
            replace(
                PROBLEMS["pulse"],
                label="other walls",
                axes=(Axis(0.0, 1.0, PROBLEMS["pulse"].axes[0].left, Robin(3.0, -0.7)),),
                diffusivity=0.2,
                velocity=(0.4,),
            ),
            replace(
                PROBLEMS["pulse"],
                label="a known value",
                axes=(Axis(0.0, 1.0, Dirichlet(PROBLEMS["pulse"].exact), Neumann(0.3)),),
                diffusivity=0.1,
            ),
        ),
    ),
}
"""Robin, fluxes, advection, reaction and an unknown D on a box, and on intervals.

The last has three unknowns with different walls.
"""
ALL = PROBLEMS | COMBINED
PAIRS, COMBINED_PAIRS = pairs_of(PROBLEMS), pairs_of(COMBINED)
WITH_FREE = [(*pair, False) for pair in PAIRS] + [
    (*pair, free) for pair in COMBINED_PAIRS for free in (False, True)
]
"""All pairs, those that have it all with a free term, too."""


def model_of(problem, name, width=12, depth=3, free_term=False):
    """A method's small model for a problem."""
    method = METHODS[name]
    return make_model(problem, method.constraint, method.embedding, width, depth, free_term)


def random_theta(model, seed=1):
    """Weights and biases away from their initial values, so that nothing vanishes by chance."""
    generator = torch.Generator().manual_seed(seed)
    theta = model.initial(0)
    return theta + 0.1 * torch.randn(theta.shape, generator=generator).double()
