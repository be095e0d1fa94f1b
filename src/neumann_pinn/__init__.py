"""Hard-constrained Neumann boundary conditions in physics-informed neural networks."""

from neumann_pinn.axis import Axis
from neumann_pinn.constraint import Model
from neumann_pinn.embedding import Cosine, Fourier, Identity
from neumann_pinn.engine import Machine
from neumann_pinn.heat import Cosines, Heat, Polynomial, Samples, Step
from neumann_pinn.layers import CosineEmbedding, FluxLift, FreeTerm, OutputTransform, RobinLift
from neumann_pinn.method import METHODS, method
from neumann_pinn.train import Protocol, Run, train

__all__ = [
    "METHODS",
    "Axis",
    "Cosine",
    "CosineEmbedding",
    "Cosines",
    "FluxLift",
    "Fourier",
    "FreeTerm",
    "Heat",
    "Identity",
    "Machine",
    "Model",
    "OutputTransform",
    "Polynomial",
    "Protocol",
    "RobinLift",
    "Run",
    "Samples",
    "Step",
    "method",
    "train",
]
