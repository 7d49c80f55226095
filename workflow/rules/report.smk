# What a reader opens. In: every table. Out: results/study.duckdb, results/summary.txt and
# results/provenance; `snakemake --report results/report.zip` packs figures, tables and these.


rule build_database:
    input:
        conversations=expand(
            "results/corpus/{corpus}/conversations.parquet", corpus=study_corpora(config)
        ),
        profiles=study_profiles(),
        task=expand("results/tasks/{task}.parquet", task=config["study"]["tasks"]),
        contexts=study_contexts(),
        requests=expand(
            "results/requests/{task}/{condition}.parquet",
            task=config["study"]["tasks"],
            condition=config["study"]["conditions"],
        ),
        responses=study_tables("responses"),
        answers="results/answers/answers.parquet",
        metrics=expand(
            "results/metrics/{table}.parquet",
            table=[
                "heterogeneity",
                "item_shares",
                "distributions",
                "novelty",
                "accuracy_runs",
                "accuracy",
                "comparisons",
                "variance",
                *(["arms", "arm_tests"] if config["arms"] else []),
            ],
        ),
    output:
        database="results/study.duckdb",
    log:
        "logs/build_database.log",
    conda:
        "../envs/fieldwork.yaml"
    resources:
        mem_mb=4096,
        runtime=30,
    params:
        code=code("build_database"),
    script:
        "../scripts/build_database.py"


rule summarise_study:
    input:
        heterogeneity="results/metrics/heterogeneity.parquet",
        item_shares="results/metrics/item_shares.parquet",
        accuracy="results/metrics/accuracy.parquet",
        novelty="results/metrics/novelty.parquet",
    output:
        summary="results/summary.txt",
    log:
        "logs/summarise_study.log",
    conda:
        "../envs/fieldwork.yaml"
    resources:
        mem_mb=2048,
        runtime=10,
    params:
        code=code("summarise_study"),
        baseline=config["metrics"]["baseline"],
        figures={figure: config["figures"][figure] for figure in drawn_figures()},
        drawing=drawing(),
    script:
        "../scripts/summarise_study.py"


rule record_provenance:
    input:
        requirements=shipped("requirements.txt"),
    output:
        config=report(
            "results/provenance/config.yaml",
            caption="../report/config.rst",
            category="Provenance",
            labels={"record": "merged config"},
        ),
        versions=report(
            "results/provenance/versions.csv",
            caption="../report/versions.rst",
            category="Provenance",
            labels={"record": "versions"},
        ),
    log:
        "logs/record_provenance.log",
    conda:
        "../envs/fieldwork.yaml"
    resources:
        mem_mb=2048,
        runtime=10,
    params:
        code=code("record_provenance"),
        config=config,
    script:
        "../scripts/record_provenance.py"
