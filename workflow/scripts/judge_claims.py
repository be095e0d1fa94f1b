from pathlib import Path

import pandas as pd

from neumann_pinn.commands.logs import log_to
from neumann_pinn.report.claims import to_html, to_markdown
from neumann_pinn.report.tables import claims_table
from neumann_pinn.study import calibration
from neumann_pinn.study.claims import judge
from neumann_pinn.study.evidence import Evidence
from neumann_pinn.study.facts import facts

log_to(snakemake.log[0])
stamp, output = snakemake.params.stamp, snakemake.output
costs = calibration.read(map(Path, snakemake.input.calibrations))
known = {name: facts(setting) for name, setting in snakemake.params.settings.items()}
verdicts = judge(Evidence(pd.read_csv(snakemake.input.accuracy), costs, known))
verdicts.to_csv(output.csv, index=False)
Path(output.markdown).write_text(to_markdown(verdicts, stamp))
Path(output.html).write_text(to_html(verdicts, stamp))
Path(output.tex).write_text(claims_table(verdicts, stamp))
