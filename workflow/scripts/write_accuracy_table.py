from pathlib import Path

import pandas as pd

from neumann_pinn.commands.logs import log_to
from neumann_pinn.report.tables import accuracy_table

log_to(snakemake.log[0])
params = snakemake.params
table = accuracy_table(
    pd.read_csv(snakemake.input.accuracy),
    snakemake.wildcards.clock,
    params.settings,
    params.methods,
    params.stamp,
)
Path(snakemake.output[0]).write_text(table)
