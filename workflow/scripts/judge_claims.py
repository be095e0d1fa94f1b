from pathlib import Path

import pandas as pd

from neumann_pinn import calibration, claims
from neumann_pinn.logs import log_to
from neumann_pinn.tables import claims_table

log_to(snakemake.log[0])
stamp, output = snakemake.params.stamp, snakemake.output
costs = calibration.read(map(Path, snakemake.input.calibrations))
verdicts = claims.judge(claims.Evidence(pd.read_csv(snakemake.input.accuracy), costs))
verdicts.to_csv(output.csv, index=False)
Path(output.markdown).write_text(claims.to_markdown(verdicts, stamp))
Path(output.html).write_text(claims.to_html(verdicts, stamp))
Path(output.tex).write_text(claims_table(verdicts, stamp))
