"""Hard-constrained Neumann boundary conditions in physics-informed neural networks.

Importing the package imports nothing else: each public name loads its module on first use.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from neumann_pinn.model.methods import METHODS as METHODS
    from neumann_pinn.model.methods import make_model as make_model
    from neumann_pinn.model.methods import method as method
    from neumann_pinn.model.model import Model as Model
    from neumann_pinn.problems.catalogue import PROBLEMS as PROBLEMS
    from neumann_pinn.problems.initial import Cosines as Cosines
    from neumann_pinn.problems.initial import Polynomial as Polynomial
    from neumann_pinn.problems.initial import Samples as Samples
    from neumann_pinn.problems.initial import Step as Step
    from neumann_pinn.problems.problem import Problem as Problem
    from neumann_pinn.problems.series import heat as heat
    from neumann_pinn.training.engine import Machine as Machine
    from neumann_pinn.training.loop import Run as Run
    from neumann_pinn.training.module_optimizer import GaussNewton as GaussNewton
    from neumann_pinn.training.protocol import Protocol as Protocol
    from neumann_pinn.training.run import train as train
    from neumann_pinn.walls.axes import Axis as Axis
    from neumann_pinn.walls.conditions import Clamped as Clamped
    from neumann_pinn.walls.conditions import Dirichlet as Dirichlet
    from neumann_pinn.walls.conditions import Free as Free
    from neumann_pinn.walls.conditions import Neumann as Neumann
    from neumann_pinn.walls.conditions import Periodic as Periodic
    from neumann_pinn.walls.conditions import Robin as Robin
    from neumann_pinn.walls.domains import Annulus as Annulus
    from neumann_pinn.walls.domains import Ball as Ball
    from neumann_pinn.walls.domains import Implicit as Implicit
    from neumann_pinn.walls.embeddings import Cosine as Cosine
    from neumann_pinn.walls.embeddings import Flat as Flat
    from neumann_pinn.walls.embeddings import Fourier as Fourier
    from neumann_pinn.walls.embeddings import Identity as Identity
    from neumann_pinn.walls.embeddings import Waves as Waves
    from neumann_pinn.walls.layers import Columns as Columns
    from neumann_pinn.walls.layers import CosineEmbedding as CosineEmbedding
    from neumann_pinn.walls.layers import FreeTerm as FreeTerm
    from neumann_pinn.walls.layers import HardWalls as HardWalls
    from neumann_pinn.walls.layers import OutputTransform as OutputTransform
    from neumann_pinn.walls.layers import WallLift as WallLift

_MODULES = {
    "Annulus": "walls.domains",
    "Axis": "walls.axes",
    "Ball": "walls.domains",
    "Clamped": "walls.conditions",
    "Columns": "walls.layers",
    "Cosine": "walls.embeddings",
    "CosineEmbedding": "walls.layers",
    "Cosines": "problems.initial",
    "Dirichlet": "walls.conditions",
    "Flat": "walls.embeddings",
    "Fourier": "walls.embeddings",
    "Free": "walls.conditions",
    "FreeTerm": "walls.layers",
    "GaussNewton": "training.module_optimizer",
    "HardWalls": "walls.layers",
    "Identity": "walls.embeddings",
    "Implicit": "walls.domains",
    "METHODS": "model.methods",
    "Machine": "training.engine",
    "Model": "model.model",
    "Neumann": "walls.conditions",
    "OutputTransform": "walls.layers",
    "PROBLEMS": "problems.catalogue",
    "Periodic": "walls.conditions",
    "Polynomial": "problems.initial",
    "Problem": "problems.problem",
    "Protocol": "training.protocol",
    "Robin": "walls.conditions",
    "Run": "training.loop",
    "Samples": "problems.initial",
    "Step": "problems.initial",
    "WallLift": "walls.layers",
    "Waves": "walls.embeddings",
    "heat": "problems.series",
    "make_model": "model.methods",
    "method": "model.methods",
    "train": "training.run",
}
"""The public names, and the modules that define them."""

__all__ = list(_MODULES)


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        module = import_module(f"{__name__}.{_MODULES[name]}")
    except ModuleNotFoundError as error:
        raise ImportError(
            f"{__name__}.{name} needs {error.name}: pip install 'neumann-pinn[study]'"
        ) from error
    return getattr(module, name)


def __dir__() -> list[str]:
    return [*globals(), *_MODULES]
