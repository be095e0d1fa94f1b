from pathlib import Path

from neumann_pinn.commands.logs import log_to
from neumann_pinn.report.pages import write_pages
from neumann_pinn.training import history

log_to(snakemake.log[0])
histories = history.read_runs(map(Path, snakemake.input.histories))
records = dict(zip(histories, map(Path, snakemake.input.runs), strict=True))
runs = {run: (records[run], histories[run]) for run in histories}
write_pages(runs, Path(snakemake.output[0]), snakemake.params.stamp)
