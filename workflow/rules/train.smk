# Training. Needs the references; makes each method's cost and, for every run, its history,
# parameters and provenance. Checkpoints live beside, in a folder that no rule declares.


rule calibrate:
    """What an iteration of a method costs beside plain vanilla's, with the machine to itself."""
    input:
        code=source(*CORE, "calibration"),
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
        setting=unlabelled("settings", next(iter(config["settings"]))),
        method=lambda wildcards: unlabelled("methods", wildcards.method),
        vanilla=study.plain_vanilla(config),
        vanilla_method=unlabelled("methods", study.plain_vanilla(config)),
        training=CALIBRATION,
        device=config["device"],
    script:
        "../scripts/calibrate.py"


rule train:
    """Train one method on one setting with one seed, from its last checkpoint if there is one."""
    input:
        reference=rules.make_reference.output,
        table=initial_table,
        calibration=rules.calibrate.output[0],
        code=source(*CORE, "budget", "calibration", "history", "runs"),
    output:
        history=f"{RESULTS}/runs/{{setting}}/{{method}}/{{seed}}/history.csv",
        model=f"{RESULTS}/runs/{{setting}}/{{method}}/{{seed}}/model.pt",
        run=f"{RESULTS}/runs/{{setting}}/{{method}}/{{seed}}/run.json",
    log:
        f"{RESULTS}/logs/train/{{setting}}/{{method}}/{{seed}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/train/{{setting}}/{{method}}/{{seed}}.tsv"
    conda:
        "../../envs/neumann-pinn.yaml"
    threads: 1
    resources:
        gpu=1 if CUDA else 0,
        mem_mb=training_memory,
        runtime=training_minutes,
    params:
        setting=lambda wildcards: unlabelled("settings", wildcards.setting),
        method=lambda wildcards: unlabelled("methods", wildcards.method),
        training=TRAINING,
        budget=budget_parameters(),
        device=config["device"],
        checkpoint_seconds=PROTOCOL["checkpoint_seconds"],
        checkpoints=lambda wildcards: (
            f"{RESULTS}/checkpoints/{wildcards.setting}/{wildcards.method}/{wildcards.seed}"
        ),
    script:
        "../scripts/train.py"
