# Functions only: the checked configuration, and what the rules need from it.
import os
import sys
from pathlib import Path

from snakemake.sourcecache import LocalGitFile, LocalSourceFile

# The package of this clone if there is one, otherwise the installed one.
SOURCE = Path(
    workflow.current_basedir.get_path_or_uri(secret_free=False), "..", "..", "src"
).resolve()
if (SOURCE / "neumann_pinn").is_dir():
    sys.path.insert(0, str(SOURCE))
    for_scripts = filter(None, [str(SOURCE), os.getenv("PYTHONPATH")])
    os.environ.update(PYTHONPATH=os.pathsep.join(for_scripts))

# For a module from a local Git repository: there, Snakemake 9.27 can join the folder of a rule with
# a script's path, but not with the file object that it has itself made from that path.
join_path = LocalGitFile.join
LocalGitFile.join = lambda folder, file: join_path(
    folder, file.get_path_or_uri(False) if isinstance(file, LocalSourceFile) else file
)

try:
    from neumann_pinn.commands import calls
except ModuleNotFoundError as error:
    sys.exit(
        f"neumann-pinn: no module {error.name!r} here; clone the repository, or "
        "pip install 'neumann-pinn[study]'"
    )
from neumann_pinn.report.stamp import optimizer, stamp, stamp_beyond
from neumann_pinn.study import calibration, published
from neumann_pinn.study.budget import CLOCKS
from neumann_pinn.study.config import ConfigError, check, load_unique
from neumann_pinn.study.definition import Study
from neumann_pinn.study.devices import has_cuda
from neumann_pinn.training.sources import imported_files


def checked_study(config):
    """The study that the configuration defines, or one line about its first mistake."""
    try:
        for file in workflow.configfiles:
            load_unique(Path(file))
        schema = load_unique(
            Path(workflow.source_path("../schemas/config.schema.yaml"))
        )
        return Study(check(config, schema))
    except ConfigError as error:
        sys.exit(f"neumann-pinn: {error}")


study = checked_study(config)
config = study.config
RESULTS = str(study.results)
REPLICATES = range(config["replicates"])
# A cluster job sees all the cores of its node, but was given one.
CORES = 1 if workflow.remote_exec else workflow.resource_settings.cores or 1
CUDA = config["device"] == "cuda" or (config["device"] == "auto" and has_cuda())


def from_here(path):
    """A file's path, relative to the working folder if it lies below that."""
    here = Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)


def code(script):
    """The package's files that a script imports, as inputs of the rules that run it."""
    file = Path(workflow.source_path(f"../scripts/{script}.py"))
    return [from_here(path) for path in imported_files(file)]


PUBLISHED_ACCURACY = from_here(published.ACCURACY)
PUBLISHED_COST = from_here(published.COST)
PUBLISHED_SPREAD = from_here(published.SPREAD)


def initial_table(wildcards):
    """The CSV file that a setting starts from, if there is one."""
    return study.setting(wildcards.setting)["initial"].get("table", [])


def run_files(kind):
    """The files of one kind for all runs."""
    return expand(
        getattr(rules.train.output, kind),
        setting=config["settings"],
        method=config["methods"],
        replicate=REPLICATES,
    )


def compared_files():
    """The histories of another protocol's runs that a figure shows next to these."""
    other = study.protocol["compare_with"]
    if not other:
        return []
    return [
        file.replace(f"{RESULTS}/", f"results/{other}/", 1)
        for file in run_files("history")
    ]


def compared_protocols():
    """The names of both protocols in that figure, the other one first."""
    return [name for name in (study.protocol["compare_with"], study.name) if name]


def calibration_files():
    """The calibrations of all methods."""
    return expand(rules.calibrate.output, method=config["methods"])


def figure_files(kind="*"):
    """All figures, or those of one kind: `pdf` or `png`."""
    figures = {
        rules.draw_schematic: {},
        rules.draw_improvement: {"clock": CLOCKS},
        rules.draw_heatmap: {"clock": CLOCKS},
        rules.draw_agreement: {"clock": CLOCKS},
        rules.draw_curves: {"against": ["iterations", "time"]},
        rules.draw_maps: {"setting": config["settings"]},
        rules.draw_cost: {},
        rules.draw_loss: {},
    }
    compared = compared_files()
    if compared and all(Path(file).exists() for file in compared):
        figures[rules.draw_optimizers] = {}
    if len(REPLICATES) > 1:
        figures[rules.draw_spread] = {"clock": CLOCKS}
    return [
        file
        for rule, wildcards in figures.items()
        for file in expand(rule.output, **wildcards)
        if kind in ("*", Path(file).suffix[1:])
    ]


def generalisation_files():
    """The provenance of all runs beyond the study: every setting and method that applies."""
    return [
        file
        for setting, method in study.groups[1].pairs()
        for file in expand(
            rules.train.output.run, setting=setting, method=method, replicate=REPLICATES
        )
    ]


def peer_files(output):
    """An output of the vanilla runs on the problem of which others published histories, if any."""
    beyond = study.groups[1]
    pairs = [
        (setting, method)
        for setting, method in beyond.pairs()
        if beyond.settings[setting]["problem"] == published.PEERS_PROBLEM
        and beyond.methods[method].constraint.name == "none"
    ]
    return [
        file
        for setting, method in pairs[:1]
        for file in expand(output, setting=setting, method=method, replicate=REPLICATES)
    ]


def calibration_of(wildcards):
    """The calibration of a run's method, if the run is compared at the same time with others."""
    if study.group_of(wildcards.setting).timed:
        return expand(rules.calibrate.output, method=wildcards.method)
    return []


def table_files():
    """All tables."""
    return (
        list(rules.write_settings_table.output)
        + expand(rules.write_accuracy_table.output, clock=CLOCKS)
        + expand(rules.write_comparison_table.output, clock=CLOCKS)
        + list(rules.write_cost_table.output)
        + [rules.judge_claims.output.tex]
    )


def models_of_a_setting(wildcards):
    """The parameters of every method on one setting, of the first replicate."""
    return expand(
        rules.train.output.model,
        setting=wildcards.setting,
        method=config["methods"],
        replicate=REPLICATES[0],
    )


def training_minutes(wildcards, input, attempt):
    """The time limit of a run, more with every attempt."""
    costs = calibration.read([Path(file) for file in input.calibration])
    minutes = study.minutes(wildcards.setting, wildcards.method, costs)
    return round(attempt * minutes)


def training_memory(wildcards, attempt):
    """The memory of a run in megabytes, more with every attempt."""
    return attempt * study.megabytes(wildcards.setting, wildcards.method)


def only_generalisations():
    """Whether this call was asked for the problems beyond the study, and for nothing else."""
    return set(workflow.dag_settings.targets) == {"generalisations"}


def plan():
    """What this call is going to do."""
    from neumann_pinn.report import terminal

    if only_generalisations():
        return terminal.plan_beyond(study, [Path(f) for f in generalisation_files()])
    calibrations = [Path(file) for file in calibration_files()]
    runs = [Path(file) for file in run_files("history")]
    return terminal.plan(study, runs, *calls.expected_costs(study, calibrations), CORES)


def summary():
    """The main results, and where everything is."""
    from neumann_pinn.report import terminal

    if only_generalisations():
        table = Path(rules.summarise_generalisations.output[0])
        return terminal.summary_beyond(study, table)
    accuracy, claims = (
        Path(file)
        for file in (rules.aggregate_accuracy.output[0], rules.judge_claims.output.csv)
    )
    return terminal.summary(study, accuracy, claims)
