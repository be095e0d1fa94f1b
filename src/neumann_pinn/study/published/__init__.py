"""The paper's numbers as data: its tables 2 and 3, and the cost of an iteration (section 4).

Also the random frequencies of its networks, which it does not print: its authors' script draws them
from NumPy's legacy generator with the seed 0, in the order of the file. That the published runs
used the script as it is public is an assumption.

Also what others reach with second-order optimizers on a heat problem: the best runs that Dangel,
Mueller and Zeinhofer (2024, KFAC for PINNs) publish in f-dangel/kfac-pinns-experiments, experiments
13 and 23, thinned to the moments at which the error fell. u_t = u_xx / 4 on [0, 1]^2, u = exp(-pi^2
t / 4) sin(pi x), walls and start in the loss; 900 points inside, 120 on walls and start; float64.
Each is the best of about 50 hyperparameter settings, with 1,000 seconds for each. Their scripts ask
for an RTX 6000 GPU; the machine is not recorded. Their seconds include evaluations.
"""

from __future__ import annotations

import csv
import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

    from neumann_pinn.study.statistics import Spread

ACCURACY = Path(__file__).with_name("accuracy.csv")
COST = Path(__file__).with_name("cost.csv")
FREQUENCIES = Path(__file__).with_name("frequencies.json")
SPREAD = Path(__file__).with_name("spread.json")
PEERS = Path(__file__).with_name("heat1d_dirichlet_histories.csv")
PEERS_PROBLEM = "dirichlet"
"""The catalogue's name of the problem that the others solve."""
ITERATIONS = 1_000_000
"""The published budget."""
ROUNDING = 0.01
"""By how much rounding to three digits can change the logarithm of a ratio of two errors."""


def accuracy() -> pd.DataFrame:
    """The published errors: clock, setting, method, replicate, error."""
    import pandas as pd

    return pd.read_csv(ACCURACY).assign(replicate=0)


@cache
def frequencies() -> dict[str, list[float]]:
    """The drawn frequencies by method; real ones are listed once for cosine and sine."""
    drawn: dict[str, list[float]] = json.loads(FREQUENCIES.read_text())
    return drawn


@cache
def spread() -> Spread:
    """The spread between replicates in this study's own published runs, not in the paper's."""
    from neumann_pinn.study.statistics import Spread

    return Spread(**json.loads(SPREAD.read_text()))


def costs() -> dict[str, float]:
    """Published milliseconds per iteration, by constraint (Quadro RTX 5000, no embedding)."""
    with COST.open(newline="") as file:
        return {row["constraint"]: float(row["ms"]) for row in csv.DictReader(file)}


def peers() -> pd.DataFrame:
    """Others' histories: optimizer, network, seconds, step, lowest_error_so_far.

    The error is the root mean square of u_network - u at 9,000 random points, not relative.
    """
    import pandas as pd

    return pd.read_csv(PEERS)
