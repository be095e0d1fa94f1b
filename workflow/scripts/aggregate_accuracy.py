from pathlib import Path

from neumann_pinn.commands.logs import log_to
from neumann_pinn.study import calibration
from neumann_pinn.study.accuracy import accuracy
from neumann_pinn.study.budget import Budget
from neumann_pinn.training import history

log_to(snakemake.log[0])
params = snakemake.params
histories = history.read_runs(map(Path, snakemake.input.histories))
budget = Budget.make(params.budget, calibration.read(map(Path, snakemake.input.calibrations)))
wall_clock = params.budget["cost"] == "wall_clock"
table = accuracy(histories, budget, params.constraints, wall_clock)
table.to_csv(snakemake.output[0], index=False)
