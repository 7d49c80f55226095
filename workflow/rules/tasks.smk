# Questions. In: benchmarks and prompt files. Out: <results>/tasks.


rule prepare_task:
    input:
        files=lambda wildcards: study.item_files(wildcards.task),
    output:
        questions="<results>/tasks/{task}.parquet",
    log:
        "<logs>/prepare_task/{task}.log",
    wildcard_constraints:
        task=any_of(config["tasks"]),
    conda:
        "../envs/fieldwork.yaml"
    params:
        *code("tasks/prepare_task"),
        sources=lambda wildcards: study.item_sources(wildcards.task),
        steps=lambda wildcards: study.item_steps(wildcards.task),
    script:
        "../scripts/tasks/prepare_task.py"
