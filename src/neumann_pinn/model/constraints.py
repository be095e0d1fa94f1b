"""The three ways in which walls enter a model.

- `none`: the plain network of the (embedded) inputs; the walls are a term in the loss.
- `output_transform`, the existing constraint (equation 4):
  u = N - sum over walls of f N_x(wall, t), with the wall profiles f of an axis.
- `cosine_embedding`, the new one (equation 7): the network of cosine features, flat at the walls.

A constraint is checked with the configuration, so nothing here imports torch.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from neumann_pinn.walls.axes import Axis, Side
from neumann_pinn.walls.embeddings import Cosine, Embedding, Identity


class Constraint(Protocol):
    """How the walls of a model's axes are held."""

    @property
    def name(self) -> str:
        """Its name in the configuration."""

    @property
    def holds(self) -> bool:
        """Whether the walls hold for any parameters, so that they are not in the loss."""

    def check(self, embeddings: Sequence[Embedding], axes: Sequence[Axis]) -> None:
        """Reject embeddings and axes that do not fit."""

    def embedding_of(self, embedding: Embedding, axis: Axis) -> Embedding:
        """A method's embedding, moved to another axis."""

    def corrected(self, axes: Sequence[Axis]) -> tuple[Side, ...]:
        """The walls at which the network's slope is taken, to be subtracted."""


@dataclass(frozen=True)
class NoConstraint:
    """The walls are a term of the loss."""

    name = "none"
    holds = False

    def check(self, embeddings: Sequence[Embedding], axes: Sequence[Axis]) -> None:
        if len(embeddings) != len(axes):
            raise ValueError(f"{len(embeddings)} embeddings on {len(axes)} axes: give one for each")

    def embedding_of(self, embedding: Embedding, axis: Axis) -> Embedding:
        return embedding.on(axis)

    def corrected(self, axes: Sequence[Axis]) -> tuple[Side, ...]:
        return ()


@dataclass(frozen=True)
class OutputTransform(NoConstraint):
    """The network's slopes at the walls are subtracted, spread inside by the wall profiles.

    It holds the walls of an interval only. On a box the corrections of one axis disturb the walls
    of the others unless they are nested, (1 - T_1)(1 - T_2) N, and the equation then needs third
    derivatives of N at 4 walls and 4 corners for each single point.
    """

    name = "output_transform"
    holds = True

    def check(self, embeddings: Sequence[Embedding], axes: Sequence[Axis]) -> None:
        _check_walls(self, axes)
        super().check(embeddings, axes)
        if len(axes) > 1:
            raise ValueError(
                "constraint 'output_transform' holds the walls of an interval, "
                f"not of {len(axes)} axes: choose cosine_embedding"
            )

    def corrected(self, axes: Sequence[Axis]) -> tuple[Side, ...]:
        (axis,) = axes
        return axis.held


@dataclass(frozen=True)
class CosineEmbedding(NoConstraint):
    """The network sees only cosines that are flat at the walls."""

    name = "cosine_embedding"
    holds = True

    def check(self, embeddings: Sequence[Embedding], axes: Sequence[Axis]) -> None:
        _check_walls(self, axes)
        super().check(embeddings, axes)
        for embedding, axis in zip(embeddings, axes, strict=True):
            if axis.held and not (isinstance(embedding, Cosine) and embedding.axis == axis):
                raise ValueError(
                    f"constraint 'cosine_embedding' needs a cosine embedding of {axis}, "
                    f"not {embedding}"
                )

    def embedding_of(self, embedding: Embedding, axis: Axis) -> Embedding:
        return embedding.on(axis) if axis.held else Identity()


CONSTRAINTS: dict[str, Constraint] = {
    constraint.name: constraint
    for constraint in (NoConstraint(), OutputTransform(), CosineEmbedding())
}
"""The constraints by name."""


def constraint_named(name: str) -> Constraint:
    """A constraint by its name in the configuration."""
    if name not in CONSTRAINTS:
        raise ValueError(f"constraint {name!r}: choose one of {', '.join(CONSTRAINTS)}")
    return CONSTRAINTS[name]


def count_streams(constraint: Constraint, axes: Sequence[Axis]) -> int:
    """The number of streams per point through a network: its own, and those of the walls."""
    return 2 + len(axes) + 4 * len(constraint.corrected(axes))


def _check_walls(constraint: Constraint, axes: Sequence[Axis]) -> None:
    if not any(axis.held for axis in axes):
        raise ValueError(f"constraint {constraint.name!r}: there is no wall to hold, choose none")
