"""A method as the configuration names it: a constraint with an embedding."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from neumann_pinn.model.constraints import Constraint, constraint_named
from neumann_pinn.problems.problem import Problem
from neumann_pinn.study import published
from neumann_pinn.walls.embeddings import Cosine, Embedding, Fourier, Identity


@dataclass(frozen=True)
class Method:
    """A constraint with an embedding of each space coordinate."""

    constraint: Constraint
    embedding: Embedding

    def check(self, problem: Problem) -> None:
        """Reject a problem that the method does not apply to."""
        for field in problem.fields:
            embeddings = [self.constraint.embedding_of(self.embedding, axis) for axis in field.axes]
            self.constraint.check(embeddings, field.axes, field.order)

    def applies(self, problem: Problem) -> bool:
        """Whether the method applies to a problem."""
        try:
            self.check(problem)
        except ValueError:
            return False
        return True


def make_method(entry: Mapping[str, Any], replicate: int = 0) -> Method:
    """The method of an entry of the configuration, with the frequencies of a replicate."""
    constraint = constraint_named(entry["constraint"])
    return Method(constraint, _embedding(entry["embedding"], replicate))


def whole(number: Any) -> int:
    """A frequency that is a whole number, however it is written."""
    if float(number) != int(float(number)):
        raise ValueError(f"frequency {number}: give a whole number")
    return int(float(number))


def _embedding(entry: Mapping[str, Any], replicate: int) -> Embedding:
    if not entry:
        return Identity()
    given = entry["frequencies"] or _published(entry)
    if replicate and not entry["frequencies"]:
        given = []
    draw = (entry["size"], entry["std"], replicate)
    if entry["kind"] == "cosine":
        return Cosine(tuple(whole(b) for b in given)) if given else Cosine.sample(*draw)
    return Fourier(tuple(float(b) for b in given)) if given else Fourier.sample(*draw)


def _published(entry: Mapping[str, Any]) -> list[float]:
    """The published frequencies that an embedding starts from, if any."""
    name, every = entry["published"], published.frequencies()
    if not name:
        return []
    if name not in every:
        raise ValueError(f"published {name!r}: choose one of {', '.join(every)}")
    size = len(every[name]) * (2 if entry["kind"] == "fourier" else 1)
    if size != entry["size"]:
        raise ValueError(f"published {name!r} has {size} features: give size {size}")
    return every[name]
