from pathlib import Path

import pandas as pd

from neumann_pinn.commands.logs import log_to
from neumann_pinn.report.figures.agreement import agreement
from neumann_pinn.report.figures.style import read_styles, save
from neumann_pinn.study import published

log_to(snakemake.log[0])
params = snakemake.params
figure = agreement(
    pd.read_csv(snakemake.input.accuracy),
    published.accuracy(),
    published.spread(),
    snakemake.wildcards.clock,
    params.settings,
    read_styles(params.styles),
    params.stamp,
)
save(figure, [Path(file) for file in snakemake.output])
