from neumann_pinn.commands.logs import log_to
from neumann_pinn.problems import solvers
from neumann_pinn.study.config import make_problem

log_to(snakemake.log[0])
table = solvers.solve(make_problem(snakemake.params.setting))
table.to_csv(snakemake.output[0], index=False)
