"""A method as the configuration names it: a constraint with an embedding."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from neumann_pinn.model.constraints import Constraint, constraint_named
from neumann_pinn.problems.problem import Problem
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


def make_method(entry: Mapping[str, Any]) -> Method:
    """The method of an entry of the configuration."""
    return Method(constraint_named(entry["constraint"]), _embedding(entry["embedding"]))


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
