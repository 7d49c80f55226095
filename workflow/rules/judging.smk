# Judgements of people and models. In: the files of `judging.sources`. Out: <results>/judging and the tables
# that set raters beside each other.


rule import_judgements:
    input:
        **judgement_files(config, study.resolve),
    output:
        judgements="<results>/judging/judgements.parquet",
        units="<results>/judging/units.parquet",
    log:
        "<logs>/import_judgements.log",
    priority: 100
    conda:
        "../envs/fieldwork.yaml"
    params:
        code=code("judging/import_judgements"),
        sources=lambda wildcards: (config["judging"] or {}).get("sources"),
        scales=scale_settings(config),
        key_file=lambda wildcards: (config["judging"] or {}).get("key_file"),
    script:
        "../scripts/judging/import_judgements.py"


rule measure_judgements:
    input:
        judgement_table="<results>/judging/judgements.parquet",
        unit_table="<results>/judging/units.parquet",
    output:
        **metric_tables("judgements", "alternative_annotators"),
    log:
        "<logs>/measure_judgements.log",
    conda:
        "../envs/fieldwork.yaml"
    params:
        code=code("judging/measure_judgements"),
        scales=scale_settings(config),
        rarest_users=config["metrics"]["rarest_users"],
    script:
        "../scripts/judging/measure_judgements.py"
