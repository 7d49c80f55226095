# Real users. In: the files of `field`, or an OSF project. Out: results/field and results/answers/field.parquet; from
# there on the field is a condition like any other. A download goes to resources/downloads/osf.


# first of all, so that a project that cannot be read is told before models are paid
rule download_field:
    output:
        manifest="resources/downloads/osf/{node}/manifest.json",
    log:
        "logs/download_field/{node}.log",
    priority: 100
    localrule: True
    conda:
        "../envs/fieldwork.yaml"
    resources:
        mem_mb=2048,
        runtime=720,
    params:
        code=code("download_field"),
        location=lambda wildcards: config["field"]["osf"],
    script:
        "../scripts/download_field.py"


rule import_field:
    input:
        files=field_files(config),
        tasks=expand("results/tasks/{task}.parquet", task=config["study"]["tasks"]),
    output:
        answers="results/field/answers.parquet",
        participants="results/field/participants.parquet",
        quality=report(
            "results/field/quality.csv",
            caption="../report/field_quality.rst",
            category="Field",
            labels={"table": "what the checks found"},
        ),
        attrition=report(
            "results/field/attrition.csv",
            caption="../report/field_attrition.rst",
            category="Field",
            labels={"table": "participants lost"},
        ),
    log:
        "logs/import_field.log",
    priority: 100
    conda:
        "../envs/fieldwork.yaml"
    resources:
        mem_mb=4096,
        runtime=60,
    params:
        code=code("import_field"),
        tasks=config["study"]["tasks"],
        field=lambda wildcards: config["field"],
        labels=drawing()["models"],
        seed=config["study"]["seed"],
    script:
        "../scripts/import_field.py"


rule parse_field:
    input:
        answers="results/field/answers.parquet",
        tasks=expand("results/tasks/{task}.parquet", task=config["study"]["tasks"]),
    output:
        answers="results/answers/field.parquet",
    log:
        "logs/parse_field.log",
    conda:
        "../envs/fieldwork.yaml"
    resources:
        mem_mb=2048,
        runtime=30,
    params:
        code=code("parse_field"),
        tasks=config["study"]["tasks"],
    script:
        "../scripts/parse_field.py"
