# Functions only: the checked configuration, what the rules take from it, and what a user reads.
import json
import math
import os
import signal
import sys
from pathlib import Path
from threading import Thread, current_thread, main_thread

import pandas as pd
import torch

ROOT = Path(workflow.current_basedir.get_path_or_uri(secret_free=False)).parents[1]
SOURCE = ROOT / "src" / "neumann_pinn"
sys.path.insert(0, str(ROOT / "src"))
for_scripts = filter(None, [str(ROOT / "src"), os.getenv("PYTHONPATH")])
os.environ.update(PYTHONPATH=os.pathsep.join(for_scripts))

from neumann_pinn import calibration, claims, generalisation, published, study
from neumann_pinn.accuracy import CLOCKS, winners
from neumann_pinn.budget import Budget, by_constraint
from neumann_pinn.estimate import rough_cost
from neumann_pinn.files import try_lock, write_whole
from neumann_pinn.problems import PROBLEMS
from neumann_pinn.train import TRAJECTORY_MODULES

CORE = (*TRAJECTORY_MODULES, "study")


def checked(config):
    """The configuration with its defaults, or one line about its first mistake."""
    try:
        for file in workflow.configfiles:
            study.load_unique(Path(file))
        schema = study.load_unique(ROOT / "workflow" / "schemas" / "config.schema.yaml")
        return study.check(config, schema)
    except study.ConfigError as error:
        sys.exit(f"neumann-pinn: {error}")


config = checked(config)
NAME = config["protocol"]
PROTOCOL = config["protocols"][NAME]
RESULTS = f"results/{NAME}"
# A job of a cluster sees all its node's cores, but was given one.
CORES = 1 if workflow.remote_exec else workflow.resource_settings.cores or 1
CUDA = config["device"] == "cuda" or (
    config["device"] == "auto" and torch.cuda.is_available()
)
CONSTRAINTS = {name: method["constraint"] for name, method in config["methods"].items()}
CALIBRATION = {
    key: value
    for key, value in PROTOCOL.items()
    if key not in ("beside", "cost", "checkpoint_seconds", *study.UNTIMED)
}
TRAINING = {
    key: value
    for key, value in PROTOCOL.items()
    if key not in ("beside", "cost", "checkpoint_seconds")
}


def own(*parts):
    """A file of the package, from the working folder where it lies below that."""
    here, path = Path.cwd(), SOURCE.joinpath(*parts)
    return str(path.relative_to(here) if path.is_relative_to(here) else path)


def source(*modules):
    """The package's source files of some modules, as inputs of the rules that use them."""
    return [own(f"{module}.py") for module in modules]


PUBLISHED_ACCURACY = own("published", "accuracy.csv")
PUBLISHED_COST = own("published", "cost.csv")


def initial_table(wildcards):
    """The CSV that a setting starts from, if it does."""
    return config["settings"][wildcards.setting]["initial"].get("table", [])


def run_files(kind):
    """The files of one kind of all runs."""
    return expand(
        getattr(rules.train.output, kind),
        setting=config["settings"],
        method=config["methods"],
        seed=config["seeds"],
    )


def files_beside():
    """The histories of another protocol's runs that a figure shows beside these."""
    if not PROTOCOL["beside"]:
        return []
    own_part, other = f"{RESULTS}/", f"results/{PROTOCOL['beside']}/"
    return [file.replace(own_part, other, 1) for file in run_files("history")]


def calibration_files():
    """The calibrations of all methods."""
    return expand(rules.calibrate.output, method=config["methods"])


def figure_files(kind="*"):
    """All figures, or those of one kind: `pdf` or `png`."""
    figures = {
        rules.draw_schematic: {},
        rules.draw_improvement: {"clock": CLOCKS},
        rules.draw_heatmap: {"clock": CLOCKS},
        rules.draw_curves: {"against": ["iterations", "time"]},
        rules.draw_maps: {"setting": config["settings"]},
        rules.draw_cost: {},
        rules.draw_loss: {},
    }
    beside = files_beside()
    if beside and all(Path(file).exists() for file in beside):
        figures[rules.draw_optimizers] = {}
    if len(config["seeds"]) > 1:
        figures[rules.draw_spread] = {"clock": CLOCKS}
    return [
        file
        for rule, wildcards in figures.items()
        for file in expand(rule.output, **wildcards)
        if kind in ("*", Path(file).suffix[1:])
    ]


def generalisation_files():
    """The provenance of all runs beyond the study: every problem and method that applies."""
    return [
        file
        for name, problem in PROBLEMS.items()
        for file in expand(
            rules.train_generalisation.output.run,
            problem=name,
            method=generalisation.methods_for(problem),
            seed=config["seeds"],
        )
    ]


def problem_labels():
    """How the figure and the table call the problems beyond the study."""
    return {name: problem.label for name, problem in PROBLEMS.items()}


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
    """The parameters of every method on one setting, with the first seed."""
    return expand(
        rules.train.output.model,
        setting=wildcards.setting,
        method=config["methods"],
        seed=config["seeds"][0],
    )


def unlabelled(kind, name):
    """An entry of the configuration without its label, which changes no result."""
    return {key: value for key, value in config[kind][name].items() if key != "label"}


def labels(kind):
    """How figures and tables call the settings or the methods."""
    return {name: entry["label"] or name for name, entry in config[kind].items()}


def figure_labels(kind):
    """The same for figures, which would take dollars for mathematics."""
    return {name: label.replace("$", r"\$") for name, label in labels(kind).items()}


def styles():
    """Label, constraint and number of features of x of each method."""
    return {
        name: [figure_labels("methods")[name], method["constraint"], features(name)]
        for name, method in config["methods"].items()
    }


def features(method):
    """How many features of x a method's network sees."""
    return study.make_model(config["methods"][method], PROTOCOL["network"]).features


def optimizer(name):
    """The optimizer of a protocol, in words."""
    return {"adam": "Adam", "gauss_newton": "Gauss-Newton"}[
        config["protocols"][name]["optimizer"]
    ]


def stamp(name=NAME):
    """A protocol in a line, for every figure and table."""
    protocol = config["protocols"][name]
    points, seeds = protocol["points"], config["seeds"]
    times = (
        f" at times graded by t^{points['grading']:g}" if points["grading"] > 1 else ""
    )
    rate = (
        f" with learning rate {protocol['learning_rate']:g}"
        if protocol["optimizer"] == "adam"
        else ""
    )
    return (
        f"Protocol {name}: {protocol['iterations']:,} iterations, {points['domain']:,}/"
        f"{points['initial']:,}/{points['boundary']:,} domain/initial/boundary points{times}, "
        f"{optimizer(name)}{rate}, {len(seeds)} seed{'s' if len(seeds) > 1 else ''}"
    )


def cost():
    """What decides fixed time: `calibrated`, `wall_clock`, or milliseconds of each method."""
    if PROTOCOL["cost"] == "published":
        return by_constraint(published.costs(), CONSTRAINTS)
    if isinstance(PROTOCOL["cost"], dict):
        return by_constraint(PROTOCOL["cost"], CONSTRAINTS)
    return PROTOCOL["cost"]


def published_costs():
    """Published milliseconds of the methods that have them: those with one feature of x."""
    of_constraint = published.costs()
    return {
        name: of_constraint[constraint]
        for name, constraint in CONSTRAINTS.items()
        if features(name) == 1
    }


def budget_parameters():
    """All that the two clocks depend on, besides a calibration."""
    return {
        "iterations": PROTOCOL["iterations"],
        "evaluate_every": PROTOCOL["evaluate_every"],
        "cost": cost(),
        "vanilla": study.plain_vanilla(config),
    }


def training_minutes(wildcards, input, attempt):
    """Twice the calibrated time of a run and ten minutes, more with every attempt."""
    costs = calibration.read([Path(input.calibration)])
    iterations = Budget.make(budget_parameters(), costs).to_train(wildcards.method)
    return round(attempt * (10 + 2 * iterations * costs[wildcards.method] / 6e4))


def training_memory(wildcards, attempt):
    """Megabytes of a run: the process, and its points' features."""
    points = sum(PROTOCOL["points"][kind] for kind in ("domain", "initial", "boundary"))
    columns = features(wildcards.method) + 10
    return attempt * (1200 + points * columns * 64 // 10**6)


def claim_results():
    """Keep the results folder for this call alone; another call at work is an error.

    This lock ends with its process, however that ends; Snakemake's own would outlive it.
    """
    lock = try_lock(Path(RESULTS, ".lock"))
    if lock is None:
        sys.exit(
            f"neumann-pinn: another snakemake is at work in {RESULTS}, wait for it or choose "
            "another protocol"
        )
    return lock


def end_on_sigterm():
    """Let Snakemake's answer to SIGTERM come from a thread of its own.

    It takes a lock that the main thread may hold: there it would wait for itself for ever.
    """
    if current_thread() is main_thread():
        answer = signal.getsignal(signal.SIGTERM)
        signal.signal(
            signal.SIGTERM, lambda *said: Thread(target=answer, args=said).start()
        )


def write_plan():
    """Which runs there are, for `neumann-pinn watch`."""
    names = {kind: list(config[kind]) for kind in ("settings", "methods", "seeds")}
    write_whole(Path(RESULTS, "plan.json"), json.dumps(names).encode())


def plan():
    """What this call is going to do."""
    if only_generalisations():
        try:
            generalisation.check(study.make_protocol(PROTOCOL))
        except ValueError as error:
            sys.exit(f"neumann-pinn: config key 'protocols.{NAME}': {error}")
        runs = generalisation_files()
        done = sum(Path(path).exists() for path in runs)
        return f"{stamp()}\n{len(runs)} runs beyond the study, {done} of them done"
    histories = run_files("history")
    done = [path for path in histories if Path(path).exists()]
    costs, source_of_costs = expected_costs()
    seconds = sum(
        PROTOCOL["iterations"] * costs[Path(path).parts[-3]] / 1e3
        for path in set(histories) - set(done)
    )
    minutes = math.ceil(seconds / 60 / CORES)
    return (
        f"{stamp()}\n{len(histories)} runs, {len(done)} of them done\n"
        f"about {minutes} minute{'s' if minutes != 1 else ''} of training on {CORES} cores "
        f"({source_of_costs}), and some seconds for the start of each job"
    )


def expected_costs():
    """Milliseconds an iteration of each method, and where they come from."""
    calibrated = [Path(path) for path in calibration_files()]
    if all(path.exists() for path in calibrated):
        return calibration.read(calibrated), "as calibrated"
    protocol = study.make_protocol(PROTOCOL)
    models = {
        name: study.make_model(method, PROTOCOL["network"])
        for name, method in config["methods"].items()
    }
    costs = {name: rough_cost(model, protocol) for name, model in models.items()}
    return costs, "guessed from matrix products on the CPU"


def only_generalisations():
    """Whether this call was asked for the problems beyond the study, and for nothing else."""
    return set(workflow.dag_settings.targets) == {"generalisations"}


def summary():
    """Who won, and where everything is."""
    if only_generalisations():
        table = generalisation.in_words(
            pd.read_csv(rules.summarise_generalisations.output[0])
        )
        return f"\n{stamp()}\n{table}\n\nTable and figure: {GENERALISATIONS}/"
    path = Path(RESULTS, "accuracy.csv")
    if not path.exists():
        return f"Results are in {RESULTS}/"
    table = winners(pd.read_csv(path))
    lines = [
        f"\n{stamp()}",
        "Best method and its error, by setting:",
        table.to_string(),
        "",
    ]
    verdicts = Path(rules.judge_claims.output.csv)
    if verdicts.exists():
        lines += [
            f"Claims:  {claims.in_words(pd.read_csv(verdicts))}: {RESULTS}/claims.md"
        ]
    lines += [
        f"Errors:  {path}",
        f"Figures: {RESULTS}/figures/",
        f"Tables:  {RESULTS}/tables/",
    ]
    return "\n".join(lines)
