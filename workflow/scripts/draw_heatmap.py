from pathlib import Path

import pandas as pd

from neumann_pinn.commands.logs import log_to
from neumann_pinn.report.figures.heatmap import error_heatmap
from neumann_pinn.report.figures.style import save
from neumann_pinn.study import published

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
