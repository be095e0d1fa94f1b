from pathlib import Path

import pandas as pd

from neumann_pinn.figures.generalisations import generalisations
from neumann_pinn.figures.look import save
from neumann_pinn.logs import log_to

log_to(snakemake.log[0])
table = pd.read_csv(snakemake.input.table)
figure = generalisations(table, snakemake.params.problems, snakemake.params.stamp)
save(figure, [Path(file) for file in snakemake.output])
