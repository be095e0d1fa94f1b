"""The four ways in which walls enter a model.

- `none`: the plain network of the (embedded) inputs; the walls are terms in the loss.
- `output_transform`, the existing constraint (equation 4):
  u = N - sum over walls of f N_x(wall, t), with the wall profiles f of an axis.
- `cosine_embedding`, the new one (equation 7): the network of cosine features, flat at the walls.
- `hard_walls`: the same with one more flat feature, which is odd at the walls; known values at
  walls and at the start are not in the loss either.

A periodic axis is embedded by periodic functions in any case.

A constraint is checked with the configuration, so nothing here imports torch.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from neumann_pinn.walls.axes import Axis, Side
from neumann_pinn.walls.embeddings import Cosine, Embedding, Waves, natural


class Constraint(Protocol):
    """How the walls of a model's axes are held."""

    @property
    def name(self) -> str:
        """Its name in the configuration."""

    @property
    def holds_slopes(self) -> bool:
        """Whether slopes at walls hold for any parameters, so that they are not in the loss."""

    @property
    def holds_values(self) -> bool:
        """The same for values, at walls and at the start."""

    def check(self, embeddings: Sequence[Embedding], axes: Sequence[Axis], order: int) -> None:
        """Reject embeddings, axes and orders in time that do not fit."""

    def embedding_of(self, embedding: Embedding, axis: Axis) -> Embedding:
        """A method's embedding, moved to another axis."""

    def corrected(self, axes: Sequence[Axis]) -> tuple[Side, ...]:
        """The walls at which the network's slope is taken, to be subtracted."""


@dataclass(frozen=True)
class NoConstraint:
    """The walls are terms of the loss."""

    name = "none"
    holds_slopes = False
    holds_values = False

    def check(self, embeddings: Sequence[Embedding], axes: Sequence[Axis], order: int) -> None:
        if len(embeddings) != len(axes):
            raise ValueError(f"{len(embeddings)} embeddings on {len(axes)} axes: give one for each")
        for embedding, axis in zip(embeddings, axes, strict=True):
            if axis.is_periodic and not (isinstance(embedding, Waves) and embedding.axis == axis):
                raise ValueError(f"{axis} needs waves along it, not {embedding}")

    def embedding_of(self, embedding: Embedding, axis: Axis) -> Embedding:
        return natural(axis, (1,)) if axis.is_periodic else embedding.on(axis)

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
    holds_slopes = True

    def check(self, embeddings: Sequence[Embedding], axes: Sequence[Axis], order: int) -> None:
        _check_flat(self, axes)
        super().check(embeddings, axes, order)
        if order == 2:
            raise ValueError(
                "constraint 'output_transform' would need third derivatives at the walls for an "
                "equation of second order in time: choose cosine_embedding"
            )
        if len(axes) > 1:
            raise ValueError(
                "constraint 'output_transform' holds the walls of an interval, "
                f"not of {len(axes)} axes: choose cosine_embedding"
            )

    def corrected(self, axes: Sequence[Axis]) -> tuple[Side, ...]:
        (axis,) = axes
        return axis.flat


@dataclass(frozen=True)
class CosineEmbedding(NoConstraint):
    """The network sees only cosines that are flat at the walls."""

    name = "cosine_embedding"
    holds_slopes = True

    def check(self, embeddings: Sequence[Embedding], axes: Sequence[Axis], order: int) -> None:
        _check_flat(self, axes)
        self._check_cosines(embeddings, axes, order)

    def embedding_of(self, embedding: Embedding, axis: Axis) -> Embedding:
        return embedding.on(axis) if axis.flat else natural(axis)

    def _check_cosines(
        self, embeddings: Sequence[Embedding], axes: Sequence[Axis], order: int
    ) -> None:
        super().check(embeddings, axes, order)
        for embedding, axis in zip(embeddings, axes, strict=True):
            if axis.flat and not (isinstance(embedding, Cosine) and embedding.axis == axis):
                raise ValueError(
                    f"constraint {self.name!r} needs a cosine embedding of {axis}, not {embedding}"
                )


@dataclass(frozen=True)
class HardWalls(CosineEmbedding):
    """Whatever is prescribed at walls of any kind and at the start holds for any parameters."""

    name = "hard_walls"
    holds_values = True

    def embedding_of(self, embedding: Embedding, axis: Axis) -> Embedding:
        given = embedding.on(axis)
        return natural(axis, given.frequencies) if isinstance(given, Cosine) else natural(axis)

    def check(self, embeddings: Sequence[Embedding], axes: Sequence[Axis], order: int) -> None:
        self._check_cosines(embeddings, axes, order)


CONSTRAINTS: dict[str, Constraint] = {
    constraint.name: constraint
    for constraint in (NoConstraint(), OutputTransform(), CosineEmbedding(), HardWalls())
}
"""The constraints by name."""


def constraint_named(name: str) -> Constraint:
    """A constraint by its name in the configuration."""
    if name not in CONSTRAINTS:
        raise ValueError(f"constraint {name!r}: choose one of {', '.join(CONSTRAINTS)}")
    return CONSTRAINTS[name]


def count_streams(constraint: Constraint, axes: Sequence[Axis], order: int) -> int:
    """The number of streams per point through a network: its own, and those of the walls."""
    return 2 + len(axes) + (order == 2) + 4 * len(constraint.corrected(axes))


def _check_flat(constraint: Constraint, axes: Sequence[Axis]) -> None:
    if not any(axis.flat for axis in axes):
        raise ValueError(
            f"constraint {constraint.name!r}: no wall has a prescribed slope, choose hard_walls"
        )
