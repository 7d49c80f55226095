# Real users beside the simulated ones. In: results/field, results/answers and the items. Out:
# results/metrics and results/figures; asked for where the config sets `field`.


rule measure_groups:
    input:
        answers="results/answers/answers.parquet",
        participants="results/field/participants.parquet",
        task=expand("results/tasks/{task}.parquet", task=config["study"]["tasks"]),
    output:
        groups="results/metrics/groups.parquet",
        groups_csv=report(
            "results/metrics/groups.csv",
            caption="../report/groups.rst",
            category="Field",
            labels={"table": "metrics by group of participants"},
        ),
        differences="results/metrics/group_differences.parquet",
        differences_csv=report(
            "results/metrics/group_differences.csv",
            caption="../report/group_differences.rst",
            category="Field",
            labels={"table": "differences between groups"},
        ),
    log:
        "logs/measure_groups.log",
    conda:
        "../envs/fieldwork.yaml"
    resources:
        mem_mb=4096,
        runtime=60,
    params:
        code=code("measure_groups"),
        tasks=config["study"]["tasks"],
        permutations=config["metrics"]["permutations"],
        seed=config["study"]["seed"],
    script:
        "../scripts/measure_groups.py"


rule measure_agreement:
    input:
        answers="results/answers/answers.parquet",
        task=expand("results/tasks/{task}.parquet", task=config["study"]["tasks"]),
    output:
        ranks="results/metrics/rank_agreement.parquet",
        ranks_csv=report(
            "results/metrics/rank_agreement.csv",
            caption="../report/rank_agreement.rst",
            category="Field",
            labels={"table": "are prompts ranked as in the field"},
        ),
        near="results/metrics/item_agreement.parquet",
        near_csv=report(
            "results/metrics/item_agreement.csv",
            caption="../report/item_agreement.rst",
            category="Field",
            labels={"table": "how near answers are to the field's"},
        ),
    log:
        "logs/measure_agreement.log",
    conda:
        "../envs/fieldwork.yaml"
    resources:
        mem_mb=4096,
        runtime=60,
    params:
        code=code("measure_agreement"),
        tasks=config["study"]["tasks"],
        permutations=config["metrics"]["permutations"],
        seed=config["study"]["seed"],
    script:
        "../scripts/measure_agreement.py"


rule plot_field_ranks:
    input:
        near="results/metrics/item_agreement.parquet",
        ranks="results/metrics/rank_agreement.parquet",
        style=shipped("resources/figures.mplstyle"),
    output:
        pdf="results/figures/field_ranks.pdf",
        svg=report(
            "results/figures/field_ranks.svg",
            caption="../report/field_ranks.rst",
            category="Figures",
            labels={"figure": "prompts ranked by the field and by each condition"},
        ),
        png="results/figures/field_ranks.png",
    log:
        "logs/plot_field_ranks.log",
    conda:
        "../envs/fieldwork.yaml"
    resources:
        mem_mb=2048,
        runtime=10,
    params:
        code=code("plot_field_ranks"),
        drawing=drawing(),
    script:
        "../scripts/plot_field_ranks.py"


rule plot_field_groups:
    input:
        groups="results/metrics/groups.parquet",
        differences="results/metrics/group_differences.parquet",
        style=shipped("resources/figures.mplstyle"),
    output:
        pdf="results/figures/field_groups.pdf",
        svg=report(
            "results/figures/field_groups.svg",
            caption="../report/field_groups.rst",
            category="Figures",
            labels={"figure": "how varied the answers of groups of participants are"},
        ),
        png="results/figures/field_groups.png",
    log:
        "logs/plot_field_groups.log",
    conda:
        "../envs/fieldwork.yaml"
    resources:
        mem_mb=2048,
        runtime=10,
    params:
        code=code("plot_field_groups"),
        drawing=drawing(),
    script:
        "../scripts/plot_field_groups.py"
