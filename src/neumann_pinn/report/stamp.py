"""A protocol in one line, as it appears on every figure and table."""

from neumann_pinn.study.definition import Study

OPTIMIZERS = {"adam": "Adam", "gauss_newton": "Gauss-Newton"}


def stamp(study: Study, name: str = "") -> str:
    """A protocol in one line, for every figure and table; by default the study's own."""
    methods = study.config["methods"].values()
    if not any(method["embedding"].get("published") for method in methods):
        return stamp_beyond(study, name)
    which = "the first with" if study.config["replicates"] > 1 else "with"
    return f"{stamp_beyond(study, name)}, {which} the published frequencies"


def stamp_beyond(study: Study, name: str = "") -> str:
    """The same for problems beyond the study, whose frequencies are not published."""
    name = name or study.name
    protocol, replicates = study.protocol_named(name), study.config["replicates"]
    points = protocol["points"]
    times = f" at times graded by t^{points['grading']:g}" if points["grading"] > 1 else ""
    growth = f" (40 % of them at first, all after {points['growth']} steps)"
    rate = f" with learning rate {protocol['learning_rate']:g}"
    return (
        f"Protocol {name}: {protocol['iterations']:,} iterations, {points['domain']:,}/"
        f"{points['initial']:,}/{points['boundary']:,} domain/initial/boundary points{times}"
        f"{growth if points['growth'] else ''}, "
        f"{optimizer(study, name)}{rate if protocol['optimizer'] == 'adam' else ''}, "
        f"{replicates} replicate{'s' if replicates > 1 else ''}"
    )


def optimizer(study: Study, name: str) -> str:
    """What a protocol's optimizer is called."""
    return OPTIMIZERS[study.protocol_named(name)["optimizer"]]
