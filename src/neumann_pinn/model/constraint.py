"""How the walls enter a model: the three constraints by name, and what fits them.

- `none`: the plain network of the (embedded) inputs; the walls are a term in the loss.
- `output_transform`, the existing constraint (equation 4):
  u = N - sum over walls of f N_x(wall, t), with the wall profiles f of an axis.
- `cosine_embedding`, the new one (equation 7): the network of cosine features, flat at the walls.
"""

from collections.abc import Sequence
from typing import Literal, get_args

from neumann_pinn.walls.axes import Axis
from neumann_pinn.walls.embeddings import Cosine, Embedding

Constraint = Literal["none", "output_transform", "cosine_embedding"]


def check_constraint(
    constraint: str, embeddings: Sequence[Embedding], axes: Sequence[Axis]
) -> None:
    """Reject embeddings and axes that do not fit a constraint."""
    if constraint not in get_args(Constraint):
        raise ValueError(
            f"constraint {constraint!r}: choose one of {', '.join(get_args(Constraint))}"
        )
    if len(embeddings) != len(axes):
        raise ValueError(f"{len(embeddings)} embeddings on {len(axes)} axes: give one for each")
    if constraint == "cosine_embedding":
        for embedding, axis in zip(embeddings, axes, strict=True):
            if axis.held and not (isinstance(embedding, Cosine) and embedding.axis == axis):
                raise ValueError(
                    f"constraint 'cosine_embedding' needs a cosine embedding of {axis}, "
                    f"not {embedding}"
                )
    if constraint == "output_transform" and len(axes) > 1:
        raise ValueError(
            "constraint 'output_transform' holds the walls of an interval, "
            f"not of {len(axes)} axes: choose cosine_embedding"
        )


def count_streams(constraint: str, axes: Sequence[Axis]) -> int:
    """The number of streams per point through a network: its own, and those of the walls."""
    walls = 4 * len(axes[0].held) if constraint == "output_transform" else 0
    return 2 + len(axes) + walls
