from pathlib import Path

from neumann_pinn.commands.logs import log_to
from neumann_pinn.report.tables import cost_table
from neumann_pinn.study import calibration

log_to(snakemake.log[0])
costs = calibration.read(map(Path, snakemake.input.calibrations))
params = snakemake.params
table = cost_table(costs, params.published, params.vanilla, params.methods, params.stamp)
Path(snakemake.output[0]).write_text(table)
