from pathlib import Path

from neumann_pinn import history
from neumann_pinn.figures.look import save
from neumann_pinn.figures.optimizers import error_against_seconds
from neumann_pinn.logs import log_to

log_to(snakemake.log[0])
params = snakemake.params
protocols = {
    name: history.read_runs(map(Path, files))
    for name, files in (
        (params.beside, snakemake.input.beside),
        (params.protocol, snakemake.input.histories),
    )
}
figure = error_against_seconds(protocols, params.settings, params.stamp)
save(figure, [Path(file) for file in snakemake.output])
