# Beyond the study: other intervals and boxes, with fluxes, reactions and unknown coefficients. Needs
# their runs, of every setting and method that applies; makes one table and one figure of all of them,
# and a figure of one problem with the histories that others published.

GENERALISATIONS = f"{RESULTS}/generalisations"


rule summarise_generalisations:
    """Error, wall violation and seconds of all these runs in one table."""
    input:
        runs=generalisation_files(),
        code=code("summarise_generalisations"),
    output:
        f"{GENERALISATIONS}/generalisations.csv",
    log:
        f"{GENERALISATIONS}/logs/summarise.log",
    benchmark:
        f"{GENERALISATIONS}/benchmarks/summarise.tsv"
    conda:
        "../../envs/neumann-pinn.yaml"
    script:
        "../scripts/summarise_generalisations.py"


rule draw_generalisations:
    """The same as a figure."""
    input:
        table=rules.summarise_generalisations.output[0],
        code=code("draw_generalisations"),
    output:
        pdf=f"{GENERALISATIONS}/generalisations.pdf",
        png=report(
            f"{GENERALISATIONS}/generalisations.png",
            category="Figures",
            caption="../report/generalisations.rst",
            labels={"figure": "Beyond the study", "of": "other problems"},
        ),
    log:
        f"{GENERALISATIONS}/logs/draw.log",
    benchmark:
        f"{GENERALISATIONS}/benchmarks/draw.tsv"
    conda:
        "../../envs/neumann-pinn.yaml"
    params:
        problems=study.groups[1].labels(),
        stamp=f"{stamp_beyond(study)}; points per axis",
    script:
        "../scripts/draw_generalisations.py"


rule write_generalisations_table:
    """The same in LaTeX."""
    input:
        table=rules.summarise_generalisations.output[0],
        code=code("write_generalisations_table"),
    output:
        report(
            f"{GENERALISATIONS}/generalisations.tex",
            category="Tables",
            caption="../report/generalisations.rst",
            labels={"table": "Beyond the study", "format": "LaTeX"},
        ),
    log:
        f"{GENERALISATIONS}/logs/write_table.log",
    benchmark:
        f"{GENERALISATIONS}/benchmarks/write_table.tsv"
    conda:
        "../../envs/neumann-pinn.yaml"
    params:
        problems=study.groups[1].labels(),
        stamp=f"{stamp_beyond(study)}; points per axis",
    script:
        "../scripts/write_generalisations_table.py"


rule draw_peers:
    """Our runs next to the histories that others published of the same problem."""
    input:
        histories=peer_files(rules.train.output.history),
        runs=peer_files(rules.train.output.run),
        reference=peer_files(rules.make_reference.output),
        published=from_here(published.PEERS),
        code=code("draw_peers"),
    output:
        pdf=f"{GENERALISATIONS}/peers.pdf",
        png=report(
            f"{GENERALISATIONS}/peers.png",
            category="Figures",
            caption="../report/peers.rst",
            labels={"figure": "Others' optimizers", "of": "time"},
        ),
    log:
        f"{GENERALISATIONS}/logs/draw_peers.log",
    benchmark:
        f"{GENERALISATIONS}/benchmarks/draw_peers.tsv"
    conda:
        "../../envs/neumann-pinn.yaml"
    params:
        optimizer=optimizer(study, study.name),
        stamp=stamp_beyond(study),
    script:
        "../scripts/draw_peers.py"
