# Beyond the study: problems on other intervals and boxes, with fluxes, reactions and unknown
# coefficients. Needs nothing but the protocol; makes a run for each problem and method that applies,
# and one table and one figure of all of them.

GENERALISATIONS = f"{RESULTS}/generalisations"


rule train_generalisation:
    """Train one method on one problem beyond the study, from its last checkpoint if any."""
    input:
        code=source(*generalisation.MODULES, "study", "history", "runs"),
    output:
        history=f"{GENERALISATIONS}/runs/{{problem}}/{{method}}/{{seed}}/history.csv",
        model=f"{GENERALISATIONS}/runs/{{problem}}/{{method}}/{{seed}}/model.pt",
        run=f"{GENERALISATIONS}/runs/{{problem}}/{{method}}/{{seed}}/run.json",
    log:
        f"{GENERALISATIONS}/logs/train/{{problem}}/{{method}}/{{seed}}.log",
    benchmark:
        f"{GENERALISATIONS}/benchmarks/train/{{problem}}/{{method}}/{{seed}}.tsv"
    wildcard_constraints:
        method="|".join(generalisation.METHODS),
    conda:
        "../../envs/neumann-pinn.yaml"
    threads: 1
    resources:
        gpu=1 if CUDA else 0,
        mem_mb=lambda wildcards, attempt: attempt * 2000,
        runtime=lambda wildcards, attempt: attempt * 240,
    params:
        training=TRAINING,
        device=config["device"],
        checkpoint_seconds=PROTOCOL["checkpoint_seconds"],
        checkpoints=lambda wildcards: (
            f"{GENERALISATIONS}/checkpoints/{wildcards.problem}/{wildcards.method}/{wildcards.seed}"
        ),
    script:
        "../scripts/train_generalisation.py"


rule summarise_generalisations:
    """Error, wall violation and seconds of all these runs in one table."""
    input:
        runs=generalisation_files(),
        code=source("generalisation"),
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
    """The same as a picture."""
    input:
        table=rules.summarise_generalisations.output[0],
        code=source("figures/look", "figures/generalisations"),
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
        problems=problem_labels(),
        stamp=f"{stamp()}; points for each axis",
    script:
        "../scripts/draw_generalisations.py"


rule write_generalisations_table:
    """The same in LaTeX."""
    input:
        table=rules.summarise_generalisations.output[0],
        code=source("tables", "latex"),
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
        problems=problem_labels(),
        stamp=f"{stamp()}; points for each axis",
    script:
        "../scripts/write_generalisations_table.py"
