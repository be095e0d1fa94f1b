"""A method as the configuration names it: a constraint with an embedding."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from neumann_pinn.model.constraint import Constraint, check_constraint, count_streams
from neumann_pinn.walls.axes import UNIT
from neumann_pinn.walls.embeddings import Cosine, Embedding, Fourier, Identity


@dataclass(frozen=True)
class Method:
    """A constraint with an embedding of x, on the unit interval."""

    constraint: Constraint
    embedding: Embedding

    def __post_init__(self) -> None:
        check_constraint(self.constraint, (self.embedding,), (UNIT,))

    @property
    def streams(self) -> int:
        """How many streams a point takes through the network."""
        return count_streams(self.constraint, (UNIT,))


def make_method(entry: Mapping[str, Any]) -> Method:
    """The method of an entry of the configuration."""
    return Method(entry["constraint"], _embedding(entry["embedding"]))


def whole(number: Any) -> int:
    """A frequency that is a whole number, however it is written."""
    if float(number) != int(float(number)):
        raise ValueError(f"frequency {number}: give a whole number")
    return int(float(number))


def _embedding(entry: Mapping[str, Any]) -> Embedding:
    if not entry:
        return Identity()
    given, draw = entry["frequencies"], (entry["size"], entry["std"], entry["seed"])
    if entry["kind"] == "cosine":
        return Cosine(tuple(whole(b) for b in given)) if given else Cosine.sample(*draw)
    return Fourier(tuple(float(b) for b in given)) if given else Fourier.sample(*draw)
