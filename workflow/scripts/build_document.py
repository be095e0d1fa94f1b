from pathlib import Path

import pandas as pd

from neumann_pinn.commands.logs import log_to
from neumann_pinn.report import document
from neumann_pinn.report.claims import claims_summary

log_to(snakemake.log[0])
figures = [Path(file) for file in snakemake.input.figures]
*tables, claims_table = (Path(file) for file in snakemake.input.tables)
source = document.document(
    [file.name for file in figures],
    [file.name for file in tables],
    claims_table.name,
    document.read_runs([Path(file) for file in snakemake.input.runs]),
    claims_summary(pd.read_csv(snakemake.input.claims)),
    snakemake.params.stamp,
)
document.build(source, [*figures, *tables, claims_table], Path(snakemake.output[0]))
