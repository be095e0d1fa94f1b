from pathlib import Path

from neumann_pinn.commands.logs import log_to
from neumann_pinn.problems.reference import write_reference
from neumann_pinn.study.config import make_problem

log_to(snakemake.log[0])
grid = snakemake.params.grid
problem = make_problem(snakemake.params.setting)
reference = problem.reference(grid["x"], grid["t"])
write_reference(Path(snakemake.output[0]), reference)
