from pathlib import Path

import pandas as pd

from neumann_pinn.commands.logs import log_to
from neumann_pinn.files import write_whole
from neumann_pinn.report.tables import generalisations_table

log_to(snakemake.log[0])
table = generalisations_table(
    pd.read_csv(snakemake.input.table), snakemake.params.problems, snakemake.params.stamp
)
write_whole(Path(snakemake.output[0]), table.encode())
