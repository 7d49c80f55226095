# Reading answers. In: responses, and the field's answers. Out: <results>/answers.


rule parse_answers:
    input:
        responses="<results>/responses/{model}/{task}/{condition}.parquet",
        task="<results>/tasks/{task}.parquet",
    output:
        answers="<results>/answers/parsed/{model}/{task}/{condition}.parquet",
    log:
        "<logs>/parse_answers/{model}/{task}/{condition}.log",
    conda:
        "../envs/fieldwork.yaml"
    resources:
        mem_mb=2048,
        runtime=10,
    params:
        code=code("parse_answers"),
    script:
        "../scripts/parse_answers.py"


rule canonicalise_answers:
    input:
        parsed=study_tables("answers/parsed"),
        field="<results>/answers/field.parquet" if config["field"] else [],
        aliases=(shipped(config["parsing"]["aliases"]) if config["parsing"]["aliases"] else []),
        overrides=config["parsing"]["overrides"] or [],
    output:
        answers="<results>/answers/answers.parquet",
        merged=report(
            "<results>/answers/items.csv",
            caption="../report/items.rst",
            category="Answers",
            labels={"table": "how written options were merged"},
        ),
    log:
        "<logs>/canonicalise_answers.log",
    conda:
        "../envs/fieldwork.yaml"
    resources:
        mem_mb=8192,
        runtime=60,
    params:
        code=code("canonicalise_answers"),
        near_duplicates=config["parsing"]["near_duplicates"],
    script:
        "../scripts/canonicalise_answers.py"
