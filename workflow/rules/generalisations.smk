# Beyond the study: problems on other intervals and boxes, with fluxes, reactions and unknown
# coefficients. Needs nothing but the protocol; makes a run for each problem and method that applies,
# and one table and one figure of all of them.

GENERALISATIONS = f"{RESULTS}/generalisations"


rule train_generalisation:
    """Train one method on one problem beyond the study, from its last checkpoint if any."""
    input:
        code=code("train_generalisation"),
    output:
        history=f"{GENERALISATIONS}/runs/{{problem}}/{{method}}/{{seed}}/history.csv",
        model=f"{GENERALISATIONS}/runs/{{problem}}/{{method}}/{{seed}}/model.pt",
        run=f"{GENERALISATIONS}/runs/{{problem}}/{{method}}/{{seed}}/run.json",
    log:
        f"{GENERALISATIONS}/logs/train/{{problem}}/{{method}}/{{seed}}.log",
    benchmark:
        f"{GENERALISATIONS}/benchmarks/train/{{problem}}/{{method}}/{{seed}}.tsv"
    wildcard_constraints:
        method="|".join(METHODS_BEYOND),
    conda:
        "../../envs/neumann-pinn.yaml"
    threads: 1
    resources:
        gpu=1 if CUDA else 0,
        mem_mb=lambda wildcards, attempt: attempt * 2000,
        runtime=lambda wildcards, attempt: attempt * 240,
    params:
        training=study.training(),
        device=config["device"],
        checkpoint_seconds=study.protocol["checkpoint_seconds"],
        checkpoints=lambda wildcards: (
            f"{GENERALISATIONS}/checkpoints/{wildcards.problem}/{wildcards.method}/{wildcards.seed}"
        ),
    script:
        "../scripts/train_generalisation.py"


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
        problems=problem_labels(),
        stamp=f"{stamp(study)}; points per axis",
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
        problems=problem_labels(),
        stamp=f"{stamp(study)}; points per axis",
    script:
        "../scripts/write_generalisations_table.py"
