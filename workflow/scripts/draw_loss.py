from pathlib import Path

from neumann_pinn import history
from neumann_pinn.figures.look import read_styles, save
from neumann_pinn.figures.loss import error_against_loss
from neumann_pinn.logs import log_to

log_to(snakemake.log[0])
params = snakemake.params
histories = history.read_runs(map(Path, snakemake.input.histories))
figure = error_against_loss(histories, params.settings, read_styles(params.styles), params.stamp)
save(figure, [Path(file) for file in snakemake.output])
