from pathlib import Path

from neumann_pinn.commands.logs import log_to
from neumann_pinn.files import write_whole
from neumann_pinn.study.generalisations import summary

log_to(snakemake.log[0])
table = summary(Path(file) for file in snakemake.input.runs)
write_whole(Path(snakemake.output[0]), table.to_csv(index=False).encode())
