from pathlib import Path

import pandas as pd

from neumann_pinn import claims, document
from neumann_pinn.logs import log_to

log_to(snakemake.log[0])
figures = [Path(file) for file in snakemake.input.figures]
*tables, claims_table = (Path(file) for file in snakemake.input.tables)
source = document.document(
    [file.name for file in figures],
    [file.name for file in tables],
    claims_table.name,
    document.read_runs([Path(file) for file in snakemake.input.runs]),
    claims.in_words(pd.read_csv(snakemake.input.claims)),
    snakemake.params.stamp,
)
document.build(source, [*figures, *tables, claims_table], Path(snakemake.output[0]))
