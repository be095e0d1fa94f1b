from neumann_pinn import baseline, study
from neumann_pinn.logs import log_to

log_to(snakemake.log[0])
table = baseline.solve(study.make_problem(snakemake.params.setting))
table.to_csv(snakemake.output[0], index=False)
