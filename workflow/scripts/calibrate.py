from neumann_pinn import calibration, study
from neumann_pinn.engine import Machine
from neumann_pinn.gpus import take_device
from neumann_pinn.logs import log_to

log_to(snakemake.log[0])
params = snakemake.params
network = params.training["network"]
with take_device(params.device) as device:
    ms, vanilla_ms = calibration.calibrate(
        study.make_problem(params.setting),
        study.make_model(params.method, network),
        study.make_model(params.vanilla_method, network),
        study.make_protocol(params.training | study.UNTIMED),
        Machine.choose(device, compile=params.training["compile"]),
        turns=9,
    )
table = calibration.table(snakemake.wildcards.method, ms, params.vanilla, vanilla_ms)
table.to_csv(snakemake.output[0], index=False)
