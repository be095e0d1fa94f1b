from pathlib import Path

from neumann_pinn import study
from neumann_pinn.logs import log_to

log_to(snakemake.log[0])
grid = snakemake.params.grid
problem = study.make_problem(snakemake.params.setting)
problem.reference(grid["x"], grid["t"]).write(Path(snakemake.output[0]))
