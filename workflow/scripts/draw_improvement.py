from pathlib import Path

import pandas as pd

from neumann_pinn.commands.logs import log_to
from neumann_pinn.report.figures.improvement import improvement_bars
from neumann_pinn.report.figures.style import read_styles, save

log_to(snakemake.log[0])
params = snakemake.params
figure = improvement_bars(
    pd.read_csv(snakemake.input.accuracy),
    snakemake.wildcards.clock,
    params.settings,
    read_styles(params.styles),
    params.stamp,
)
save(figure, [Path(file) for file in snakemake.output])
