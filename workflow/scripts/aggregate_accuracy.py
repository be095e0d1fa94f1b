from pathlib import Path

from neumann_pinn import calibration, history
from neumann_pinn.accuracy import accuracy
from neumann_pinn.budget import Budget
from neumann_pinn.logs import log_to

log_to(snakemake.log[0])
params = snakemake.params
histories = history.read_runs(map(Path, snakemake.input.histories))
budget = Budget.make(params.budget, calibration.read(map(Path, snakemake.input.calibrations)))
wall_clock = params.budget["cost"] == "wall_clock"
table = accuracy(histories, budget, params.constraints, wall_clock)
table.to_csv(snakemake.output[0], index=False)
