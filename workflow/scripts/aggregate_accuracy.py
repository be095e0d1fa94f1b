import json
from pathlib import Path

from neumann_pinn import calibration, history
from neumann_pinn.accuracy import Budget, accuracy
from neumann_pinn.logs import log_to

log_to(snakemake.log[0])
params = snakemake.params
histories, statuses = {}, {}
for file, run in zip(snakemake.input.histories, snakemake.input.runs, strict=True):
    setting, method, seed = Path(file).parts[-4:-1]
    histories[setting, method, int(seed)] = history.read(Path(file))
    statuses[setting, method, int(seed)] = json.loads(Path(run).read_text())["status"]
budget = Budget.make(params.budget, calibration.read(map(Path, snakemake.input.calibrations)))
wall_clock = params.budget["cost"] == "wall_clock"
table = accuracy(histories, statuses, budget, params.constraints, wall_clock)
table.to_csv(snakemake.output[0], index=False)
