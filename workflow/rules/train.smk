# Training. Needs the references; makes each method's cost and, for every run, its history,
# parameters and provenance. Checkpoints are kept in a folder that no rule declares.


FIRST_SETTING = next(iter(config["settings"]))


rule calibrate:
    """The cost of an iteration of a method and of plain vanilla, with nothing else running."""
    input:
        code=code("calibrate"),
    output:
        f"{RESULTS}/calibration/{{method}}.csv",
    log:
        f"{RESULTS}/logs/calibrate/{{method}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/calibrate/{{method}}.tsv"
    priority: 1
    conda:
        "../../envs/neumann-pinn.yaml"
    threads: CORES
    resources:
        gpu=1 if CUDA else 0,
    params:
        setting=study.setting(FIRST_SETTING),
        method=lambda wildcards: study.method(FIRST_SETTING, wildcards.method),
        vanilla=study.vanilla,
        vanilla_method=study.method(FIRST_SETTING, study.vanilla),
        training=study.timing(),
        device=config["device"],
    script:
        "../scripts/calibrate.py"


rule train:
    """Train one method on one setting, one replicate, from its last checkpoint if there is one."""
    input:
        reference=rules.make_reference.output,
        table=initial_table,
        calibration=calibration_of,
        code=code("train"),
    output:
        history=f"{RESULTS}/runs/{{setting}}/{{method}}/{{replicate}}/history.csv",
        model=f"{RESULTS}/runs/{{setting}}/{{method}}/{{replicate}}/model.pt",
        run=f"{RESULTS}/runs/{{setting}}/{{method}}/{{replicate}}/run.json",
    log:
        f"{RESULTS}/logs/train/{{setting}}/{{method}}/{{replicate}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/train/{{setting}}/{{method}}/{{replicate}}.tsv"
    conda:
        "../../envs/neumann-pinn.yaml"
    threads: 1
    resources:
        gpu=1 if CUDA else 0,
        mem_mb=training_memory,
        runtime=training_minutes,
    params:
        setting=lambda wildcards: study.setting(wildcards.setting),
        method=lambda wildcards: study.method(wildcards.setting, wildcards.method),
        training=study.training(),
        budget=lambda wildcards: study.budget_of(wildcards.setting),
        device=config["device"],
        checkpoint_seconds=study.protocol["checkpoint_seconds"],
        checkpoints=lambda wildcards: (
            f"{RESULTS}/checkpoints/{wildcards.setting}/{wildcards.method}/{wildcards.replicate}"
        ),
    script:
        "../scripts/train.py"
