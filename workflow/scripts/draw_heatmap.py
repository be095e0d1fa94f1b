from pathlib import Path

import pandas as pd

from neumann_pinn import published
from neumann_pinn.figures.heatmap import error_heatmap
from neumann_pinn.figures.look import save
from neumann_pinn.logs import log_to

log_to(snakemake.log[0])
params = snakemake.params
figure = error_heatmap(
    pd.read_csv(snakemake.input.accuracy),
    published.accuracy(),
    snakemake.wildcards.clock,
    params.settings,
    params.methods,
    params.stamp,
)
save(figure, [Path(file) for file in snakemake.output])
