# Questions. In: benchmarks and prompt files. Out: <results>/tasks.


rule prepare_task:
    input:
        files=lambda wildcards: [
            file for part in item_sources(wildcards.task) for file in part["files"]
        ],
        candidates=lambda wildcards: [
            part["candidates"] for part in item_sources(wildcards.task) if part["candidates"]
        ],
    output:
        task="<results>/tasks/{task}.parquet",
    log:
        "<logs>/prepare_task/{task}.log",
    conda:
        "../envs/fieldwork.yaml"
    resources:
        mem_mb=2048,
        runtime=30,
    params:
        code=code("prepare_task"),
        sources=lambda wildcards: item_sources(wildcards.task),
    script:
        "../scripts/prepare_task.py"
