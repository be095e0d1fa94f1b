from pathlib import Path

from neumann_pinn import calibration, history
from neumann_pinn.budget import Budget
from neumann_pinn.figures.curves import error_curves
from neumann_pinn.figures.look import read_styles, save
from neumann_pinn.logs import log_to

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
