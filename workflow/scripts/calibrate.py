from neumann_pinn import study
from neumann_pinn.calibration import calibrate
from neumann_pinn.engine import Machine
from neumann_pinn.logs import log_to

log_to(snakemake.log[0])
training = snakemake.params.training
costs = calibrate(
    study.make_problem(snakemake.params.setting),
    {
        name: study.make_model(method, training["network"])
        for name, method in snakemake.params.methods.items()
    },
    study.make_protocol(training),
    Machine.choose(snakemake.params.device, compile=training["compile"]),
    rounds=9,
)
costs.to_csv(snakemake.output[0], index=False)
