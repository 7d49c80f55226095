# What a reader opens. In: every table. Out: <results>/study.duckdb, <results>/findings.md and
# <results>/provenance; `snakemake --report <results>/report.zip` packs figures, tables and these.


rule build_database:
    input:
        conversations=expand(
            "<results>/corpus/{corpus}/conversations.parquet", corpus=study_corpora(config)
        ),
        profiles=study_profiles(),
        task=expand("<results>/tasks/{task}.parquet", task=config["study"]["tasks"]),
        contexts=study_contexts(),
        requests=expand(
            "<results>/requests/{task}/{condition}.parquet",
            task=config["study"]["tasks"],
            condition=config["study"]["conditions"],
        ),
        responses=study_tables("responses"),
        answers="<results>/answers/answers.parquet",
        field_answers=["<results>/field/answers.parquet"] if config["field"] else [],
        field_participants=["<results>/field/participants.parquet"] if config["field"] else [],
        metrics=expand(
            "<results>/metrics/{table}.parquet",
            table=[
                "heterogeneity",
                "item_shares",
                "distributions",
                "novelty",
                "accuracy_runs",
                "accuracy",
                "score_comparisons",
                "ranks",
                "order_changes",
                "comparisons",
                "variance",
                "subjects",
                "categories",
                "shifts",
                "rarefaction",
                "prompt_means",
                *(["arms", "arm_tests"] if config["arms"] else []),
                *if_field(["groups", "group_differences", "rank_agreement", "item_agreement"]),
                *calibration_tables(),
            ],
        ),
    output:
        database="<results>/study.duckdb",
    log:
        "<logs>/build_database.log",
    conda:
        "../envs/fieldwork.yaml"
    resources:
        mem_mb=4096,
        runtime=30,
    params:
        code=code("build_database"),
    script:
        "../scripts/build_database.py"


rule write_findings:
    input:
        answers="<results>/answers/answers.parquet",
        responses=study_tables("responses"),
        variance="<results>/metrics/variance.parquet",
        comparisons="<results>/metrics/comparisons.parquet",
        shifts="<results>/metrics/shifts.parquet",
        prompt_means="<results>/metrics/prompt_means.parquet",
        accuracy="<results>/metrics/accuracy.parquet",
        score_comparisons="<results>/metrics/score_comparisons.parquet",
        ranks="<results>/metrics/ranks.parquet",
        novelty="<results>/metrics/novelty.parquet",
        categories="<results>/metrics/categories.parquet",
        group_differences=if_field("<results>/metrics/group_differences.parquet"),
        rank_agreement=if_field("<results>/metrics/rank_agreement.parquet"),
        item_agreement=if_field("<results>/metrics/item_agreement.parquet"),
        calibration=expand("<results>/metrics/{table}.parquet", table=calibration_tables()[:1]),
    output:
        findings=report(
            "<results>/findings.md",
            caption="../report/findings.rst",
            category="Findings",
            labels={"text": "what the study found"},
        ),
    log:
        "<logs>/write_findings.log",
    conda:
        "../envs/fieldwork.yaml"
    resources:
        mem_mb=2048,
        runtime=10,
    params:
        code=code("write_findings"),
        figures=[*drawn_figures(), *field_figures(), *study_arms("{arms}")],
        study=told_study(),
    script:
        "../scripts/write_findings.py"


# after the findings, so that it never says more of a study than its results show
rule record_provenance:
    input:
        requirements=shipped("requirements.txt"),
        findings=ancient("<results>/findings.md"),
        database=ancient("<results>/study.duckdb"),
    output:
        config=report(
            "<results>/provenance/config.yaml",
            caption="../report/config.rst",
            category="Provenance",
            labels={"record": "merged config"},
        ),
        versions=report(
            "<results>/provenance/versions.csv",
            caption="../report/versions.rst",
            category="Provenance",
            labels={"record": "versions"},
        ),
    log:
        "<logs>/record_provenance.log",
    conda:
        "../envs/fieldwork.yaml"
    resources:
        mem_mb=2048,
        runtime=10,
    params:
        code=code("record_provenance"),
        # the config itself would fill the terminal with every change
        config=digest(config),
    script:
        "../scripts/record_provenance.py"
