from pathlib import Path

from neumann_pinn.commands.gpus import take_device
from neumann_pinn.commands.logs import log_to
from neumann_pinn.commands.models import make_model
from neumann_pinn.study import calibration
from neumann_pinn.study.config import make_problem, make_protocol
from neumann_pinn.study.definition import UNTIMED
from neumann_pinn.training.calibration import calibrate
from neumann_pinn.training.engine import Machine

log_to(snakemake.log[0])
params = snakemake.params
network = params.training["network"]
problem = make_problem(params.setting)
with take_device(params.device) as device:
    ms, vanilla_ms = calibrate(
        problem,
        make_model(problem, params.method, network),
        make_model(problem, params.vanilla_method, network),
        make_protocol(params.training | UNTIMED),
        Machine.choose(device, compile=params.training["compile"]),
        turns=9,
    )
path = Path(snakemake.output[0])
calibration.write(path, snakemake.wildcards.method, ms, params.vanilla, vanilla_ms)
