import json
from pathlib import Path

import numpy as np

from neumann_pinn.commands.logs import log_to
from neumann_pinn.files import read_arrays
from neumann_pinn.report.figures.peers import error_against_peers
from neumann_pinn.report.figures.style import save
from neumann_pinn.study import published
from neumann_pinn.training import history

log_to(snakemake.log[0])
inputs, params = snakemake.input, snakemake.params
runs = history.read_runs(map(Path, inputs.histories))
records = [json.loads(Path(file).read_bytes()) for file in inputs.runs]
network = records[0]["network"]
layers = "-".join([str(network["width"])] * network["depth"])
solution = read_arrays(Path(inputs.reference[0]), ["u"], "a reference solution")["u"]
figure = error_against_peers(
    {replicate: run for (_, _, replicate), run in runs.items()},
    float(np.sqrt(np.mean(solution**2))),
    published.peers(),
    f"{params.optimizer}; {layers}",
    " or ".join(sorted({record["device"] for record in records})),
    params.stamp,
)
save(figure, [Path(file) for file in snakemake.output])
