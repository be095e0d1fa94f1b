from pathlib import Path

import pandas as pd

from neumann_pinn.commands.logs import log_to
from neumann_pinn.report.figures.generalisations import generalisations
from neumann_pinn.report.figures.style import save

log_to(snakemake.log[0])
table = pd.read_csv(snakemake.input.table)
figure = generalisations(table, snakemake.params.problems, snakemake.params.stamp)
save(figure, [Path(file) for file in snakemake.output])
