from pathlib import Path

from neumann_pinn.commands.logs import log_to
from neumann_pinn.report.figures.curves import error_curves
from neumann_pinn.report.figures.style import read_styles, save
from neumann_pinn.study import calibration
from neumann_pinn.study.budget import Budget
from neumann_pinn.training import history

log_to(snakemake.log[0])
params = snakemake.params
histories = history.read_runs(map(Path, snakemake.input.histories))
figure = error_curves(
    histories,
    Budget.make(params.budget, calibration.read(map(Path, snakemake.input.calibrations))),
    snakemake.wildcards.against,
    params.settings,
    read_styles(params.styles),
    params.stamp,
    wall_clock=params.budget["cost"] == "wall_clock",
)
save(figure, [Path(file) for file in snakemake.output])
