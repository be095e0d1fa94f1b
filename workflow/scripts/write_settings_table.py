from pathlib import Path

from neumann_pinn.commands.logs import log_to
from neumann_pinn.report.tables import latex_initial, settings_table

log_to(snakemake.log[0])
params = snakemake.params
settings = {
    name: (params.labels[name], latex_initial(setting["initial"]), setting["k"])
    for name, setting in params.settings.items()
}
Path(snakemake.output[0]).write_text(settings_table(settings, params.stamp))
