from pathlib import Path

import pandas as pd

from neumann_pinn.figures import Style, improvement_bars, save
from neumann_pinn.logs import log_to

log_to(snakemake.log[0])
params = snakemake.params
figure = improvement_bars(
    pd.read_csv(snakemake.input.accuracy),
    snakemake.wildcards.clock,
    params.settings,
    {name: Style(*style) for name, style in params.styles.items()},
    params.stamp,
)
save(figure, [Path(file) for file in snakemake.output])
