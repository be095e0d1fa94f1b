from pathlib import Path

from neumann_pinn.commands.logs import log_to
from neumann_pinn.report.figures.optimizers import error_against_seconds
from neumann_pinn.report.figures.style import save
from neumann_pinn.training import history

log_to(snakemake.log[0])
params = snakemake.params
sides = (snakemake.input.compared, snakemake.input.histories)
protocols = {
    name: history.read_runs(map(Path, files))
    for name, files in zip(params.protocols, sides, strict=True)
}
figure = error_against_seconds(protocols, params.settings, params.stamp)
save(figure, [Path(file) for file in snakemake.output])
