from pathlib import Path

from neumann_pinn.commands.logs import log_to
from neumann_pinn.report.figures.schematic import schematic
from neumann_pinn.report.figures.style import save

log_to(snakemake.log[0])
save(schematic(), [Path(file) for file in snakemake.output])
