from pathlib import Path

import pandas as pd

from neumann_pinn.commands.logs import log_to
from neumann_pinn.report.figures.cost import error_against_cost
from neumann_pinn.report.figures.style import read_styles, save
from neumann_pinn.study import calibration

log_to(snakemake.log[0])
params = snakemake.params
figure = error_against_cost(
    pd.read_csv(snakemake.input.accuracy),
    calibration.read(map(Path, snakemake.input.calibrations)),
    {Path(file).stem: pd.read_csv(file) for file in snakemake.input.baselines},
    params.settings,
    read_styles(params.styles),
    params.stamp,
)
save(figure, [Path(file) for file in snakemake.output])
