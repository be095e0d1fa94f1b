from pathlib import Path

from neumann_pinn import calibration, history
from neumann_pinn.budget import Budget
from neumann_pinn.figures import Style, error_curves, save
from neumann_pinn.logs import log_to

log_to(snakemake.log[0])
params = snakemake.params
histories = history.read_runs(map(Path, snakemake.input.histories))
figure = error_curves(
    histories,
    Budget.make(params.budget, calibration.read(map(Path, snakemake.input.calibrations))),
    snakemake.wildcards.against,
    params.settings,
    {name: Style(*style) for name, style in params.styles.items()},
    params.stamp,
    wall_clock=params.budget["cost"] == "wall_clock",
)
save(figure, [Path(file) for file in snakemake.output])
