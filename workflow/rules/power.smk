# How large a study must be, and what it will claim. In: what the plan is counted from. Out: <results>/power
# (`snakemake power`, never part of `all`), and records in resources/preregistration (`snakemake preregister`).


rule power:
    input:
        "<results>/power/power.parquet",
        "<results>/power/power.csv",
        "<results>/power/advice.csv",
        "<results>/power/power.md",
        expand("<results>/figures/power.{suffix}", suffix=["pdf", "svg", "png"]),
        ["<results>/review_kit/precision.md"] if judging["units"] else [],


rule plan_power:
    input:
        plan_inputs.plan_tables(study),
    output:
        power="<results>/power/power.parquet",
        power_csv="<results>/power/power.csv",
        advice="<results>/power/advice.csv",
        page="<results>/power/power.md",
    log:
        "<logs>/plan_power.log",
    conda:
        "../envs/fieldwork.yaml"
    params:
        *code("power/plan_power", *MEASURES, *PROVIDERS),
        study=dict(plan_inputs.plan_settings(study), conditions=study.conditions_and_baseline()),
        design=plan_inputs.power_settings(study),
        # tokens that a pilot's answers took, as for the plan, and how alike a user's answers are
        answer_times=lambda wildcards: plan_inputs.answer_time_stamps(study),
        parsed_times=lambda wildcards: plan_inputs.parsed_time_stamps(study),
    script:
        "../scripts/power/plan_power.py"


rule plot_power:
    input:
        power="<results>/power/power.parquet",
        style_sheet=study.resolve("resources/figures.mplstyle"),
    output:
        pdf="<results>/figures/power.pdf",
        svg="<results>/figures/power.svg",
        png="<results>/figures/power.png",
    log:
        "<logs>/plot_power.log",
    conda:
        "../envs/fieldwork.yaml"
    params:
        *code("power/plot_power", *MEASURES),
        drawing=dict(
            study.drawing(), note=None, tasks=study.tasks, target=config["power"]["target"]
        ),
    script:
        "../scripts/power/plot_power.py"


# has no output of Snakemake's: a record that was written is never removed or made again
rule preregister:
    input:
        questions=study.task_tables(),
        hashes="<results>/provenance/hashes.json",
        # where every answer is there already, there is no other size to plan
        power="<results>/power/power.parquet" if study.asked_models() else [],
    log:
        "<logs>/preregister.log",
    conda:
        "../envs/fieldwork.yaml"
    params:
        *code("power/preregister"),
        folder=study.preregistration,
        responses=f"{study.results}/responses/*/*/*.parquet",
        ledgers=[f"resources/ledger/{model}.sqlite" for model in study.asked_models()],
    script:
        "../scripts/power/preregister.py"
