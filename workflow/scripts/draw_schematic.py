from pathlib import Path

from neumann_pinn.figures.look import save
from neumann_pinn.figures.schematic import schematic
from neumann_pinn.logs import log_to

log_to(snakemake.log[0])
save(schematic(), [Path(file) for file in snakemake.output])
