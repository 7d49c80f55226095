# How large a study must be. In: what the plan is counted from. Out: <results>/power (`snakemake power`,
# never part of `all`).


rule power:
    input:
        "<results>/power/power.parquet",
        "<results>/power/power.csv",
        "<results>/power/advice.csv",
        "<results>/power/power.md",
        expand("<results>/figures/power.{suffix}", suffix=["pdf", "svg", "png"]),


rule plan_power:
    input:
        plan_tables(),
    output:
        power="<results>/power/power.parquet",
        power_csv="<results>/power/power.csv",
        advice="<results>/power/advice.csv",
        page="<results>/power/power.md",
    log:
        "<logs>/plan_power.log",
    conda:
        "../envs/fieldwork.yaml"
    resources:
        mem_mb=4096,
        runtime=60,
    params:
        code=code("plan_power"),
        power=config["power"],
        tasks=selected("tasks"),
        conditions=with_baseline(),
        models=selected("models"),
        prices=config["prices"],
        plan=config["plan"],
        # what a pilot showed of tokens, as for the plan
        answered=lambda wildcards: time_stamps(study_tables("responses")),
        baseline=config["metrics"]["baseline"],
        permutations=config["metrics"]["permutations"],
        score_task=task_of(config, "fig3"),
        drawing=drawing(),
        name=config["study"]["name"],
        seed=config["study"]["seed"],
    script:
        "../scripts/plan_power.py"


rule plot_power:
    input:
        power="<results>/power/power.parquet",
        style=shipped("resources/figures.mplstyle"),
    output:
        pdf="<results>/figures/power.pdf",
        svg="<results>/figures/power.svg",
        png="<results>/figures/power.png",
    log:
        "<logs>/plot_power.log",
    conda:
        "../envs/fieldwork.yaml"
    resources:
        mem_mb=2048,
        runtime=10,
    params:
        code=code("plot_power"),
        target=config["power"]["target"],
        tasks=config["study"]["tasks"],
        drawing=drawing(),
    script:
        "../scripts/plot_power.py"
