from pathlib import Path

import pandas as pd

from neumann_pinn import study
from neumann_pinn.accuracy import best_method
from neumann_pinn.heat import Reference
from neumann_pinn.logs import log_to
from neumann_pinn.prediction import predict, read_parameters

log_to(snakemake.log[0])
params = snakemake.params
accuracy = pd.read_csv(snakemake.input.accuracy)
prediction = predict(
    {name: study.make_model(method, params.network) for name, method in params.methods.items()},
    {
        name: read_parameters(Path(file))
        for name, file in zip(params.methods, snakemake.input.models, strict=True)
    },
    best_method(accuracy, "fixed_time", snakemake.wildcards.setting),
    Reference.read(Path(snakemake.input.reference)),
    study.make_problem(params.setting).diffusivity,
)
prediction.write(Path(snakemake.output[0]))
