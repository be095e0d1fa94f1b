from pathlib import Path

from neumann_pinn.commands.logs import log_to
from neumann_pinn.report.figures.loss import error_against_loss
from neumann_pinn.report.figures.style import read_styles, save
from neumann_pinn.training import history

log_to(snakemake.log[0])
params = snakemake.params
histories = history.read_runs(map(Path, snakemake.input.histories))
figure = error_against_loss(histories, params.settings, read_styles(params.styles), params.stamp)
save(figure, [Path(file) for file in snakemake.output])
