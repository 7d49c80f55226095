# Estimates. In: <results>/answers and the items. Out: <results>/metrics, each table as Parquet and CSV.


# measures that are declared in fieldwork/measures; what takes one source shares a job (`metrics.one_job`)
for job, names in question_jobs(study).items():

    rule:
        name:
            f"measure_{job}"
        input:
            **measured_tables(study, names, ANSWERS),
        output:
            **estimate_tables(names),
        log:
            f"<logs>/measure_{job}.log",
        conda:
            "../envs/fieldwork.yaml"
        params:
            *code("metrics/measure", *(f"fieldwork/measures/{name}" for name in names)),
            questions=names,
            sentences={questions()[name].title: questions()[name].sentence for name in names},
            settings=estimate_settings(study, names),
        script:
            "../scripts/metrics/measure.py"


# tables by one function each, likewise
for job, steps in metric_jobs(study).items():

    rule:
        name:
            f"measure_{job}"
        input:
            **job_files(study, steps, ANSWERS),
        output:
            **metric_tables(*job_tables(steps)),
        log:
            f"<logs>/measure_{job}.log",
        conda:
            "../envs/fieldwork.yaml"
        params:
            *code("metrics/measure_tables", *job_modules(steps)),
            steps=job_steps(study, steps),
            settings=step_settings(study, steps),
        script:
            "../scripts/metrics/measure_tables.py"


# the tables of earlier versions that are views of estimates now
rule write_views:
    input:
        **view_inputs(),
    output:
        **view_files(study_views(study)),
    log:
        "<logs>/write_views.log",
    conda:
        "../envs/fieldwork.yaml"
    params:
        *code("metrics/write_views"),
    script:
        "../scripts/metrics/write_views.py"


# what probabilities of letters add to the tables above, where models state them
rule measure_exactly:
    input:
        answers=ANSWERS,
        variance="<results>/metrics/variance.parquet",
        accuracy=ESTIMATES_OF.format(question="accuracy"),
        letters=ESTIMATES_OF.format(question="letters"),
        novelty="<results>/metrics/novelty.parquet",
        comparisons="<results>/metrics/comparisons.parquet",
    output:
        **metric_tables("exact_estimates"),
    log:
        "<logs>/measure_exactly.log",
    conda:
        "../envs/fieldwork.yaml"
    params:
        *code("metrics/measure_exactly", "fieldwork/measures/letters"),
        rarest_users=config["metrics"]["rarest_users"],
        baseline=study.baseline,
        seed=config["study"]["seed"],
    script:
        "../scripts/metrics/measure_exactly.py"


rule measure_arms:
    input:
        answers=ANSWERS,
        accuracy_runs="<results>/metrics/accuracy_runs.parquet",
        comparisons="<results>/metrics/comparisons.parquet",
        estimates=expand(ESTIMATES_OF, question=["lists", "accuracy"], allow_missing=True),
        variance="<results>/metrics/variance.parquet",
        contexts=study.context_tables(arms_of(config)),
    output:
        **metric_tables("arms", "arm_tests"),
    log:
        "<logs>/measure_arms.log",
    conda:
        "../envs/fieldwork.yaml"
    params:
        *code("metrics/measure_arms"),
        rarest_users=config["metrics"]["rarest_users"],
        conversations=study.arms(),
        x=(config["arms"] or {}).get("x"),
        baseline=study.baseline,
    script:
        "../scripts/metrics/measure_arms.py"


# tasks that put another one otherwise, beside it
rule measure_robustness:
    input:
        answers=ANSWERS,
        questions=study.task_tables(),
    output:
        **metric_tables("robustness", "group_gaps"),
    log:
        "<logs>/measure_robustness.log",
    conda:
        "../envs/fieldwork.yaml"
    params:
        *code("metrics/measure_robustness"),
        variants=study.variants(),
        groups=variants.groups_of(config),
        chance=study.chance(),
    script:
        "../scripts/metrics/measure_robustness.py"


# the same questions after a time, beside the first answers to them
rule measure_drift:
    input:
        answers=ANSWERS,
        forms=waves.tables_of_waves(study.tables("answers/forms"), study.waves()),
        responses=waves.tables_of_waves(study.tables("responses"), study.waves()),
        questions=study.task_tables(),
    output:
        **metric_tables("drift"),
    log:
        "<logs>/measure_drift.log",
    conda:
        "../envs/fieldwork.yaml"
    resources:
        mem_mb=8192,
    params:
        *code("metrics/measure_drift"),
        waves=study.waves(),
        series=waves.series_of(config),
        looks=config["metrics"]["looks"],
        seed=config["study"]["seed"],
    script:
        "../scripts/metrics/measure_drift.py"


rule measure_ranks:
    input:
        accuracy_runs="<results>/metrics/accuracy_runs.parquet",
        leaderboards=[*study.leaderboards().values()],
    output:
        **metric_tables("ranks"),
    log:
        "<logs>/measure_ranks.log",
    conda:
        "../envs/fieldwork.yaml"
    params:
        *code("metrics/measure_ranks"),
        tasks=[*study.leaderboards()],
        baseline=study.baseline,
        names=study.leaderboard_names(),
    script:
        "../scripts/metrics/measure_ranks.py"


rule measure_service:
    input:
        responses=study.tables("responses"),
        first_token_tables=arms.first_token_tables(study),
        questions=study.task_tables(),
        accuracy=ESTIMATES_OF.format(question="accuracy"),
    output:
        **metric_tables("service", "trade_offs"),
    log:
        "<logs>/measure_service.log",
    conda:
        "../envs/fieldwork.yaml"
    resources:
        mem_mb=8192,
    params:
        *code("metrics/measure_service"),
        rarest_users=config["metrics"]["rarest_users"],
        baseline=study.baseline,
    script:
        "../scripts/metrics/measure_service.py"


rule measure_practice:
    input:
        accuracy_runs="<results>/metrics/accuracy_runs.parquet",
    output:
        **metric_tables("practice", "practice_turns", "practice_drops"),
    log:
        "<logs>/measure_practice.log",
    conda:
        "../envs/fieldwork.yaml"
    params:
        *code("metrics/measure_practice"),
        variants=study.variants(),
        steps=variants.names_of_steps(config),
        controls=study.users_and_controls()["controls"],
        rarest_users=config["metrics"]["rarest_users"],
        baseline=study.baseline,
        permutations=config["metrics"]["permutations"],
        seed=config["study"]["seed"],
    script:
        "../scripts/metrics/measure_practice.py"


# what must also differ from asking the baseline again before it is claimed
rule measure_control_tests:
    input:
        answers=ANSWERS,
        questions=study.task_tables(),
        accuracy_runs="<results>/metrics/accuracy_runs.parquet",
        estimates=estimate_files(),
    output:
        **metric_tables("control_tests"),
    log:
        "<logs>/measure_control_tests.log",
    conda:
        "../envs/fieldwork.yaml"
    params:
        *code("metrics/measure_control_tests", *MEASURES),
        rarest_users=config["metrics"]["rarest_users"],
        permutations=config["metrics"]["permutations"],
        seed=config["study"]["seed"],
        conditions=study.users_and_controls(),
    script:
        "../scripts/metrics/measure_control_tests.py"


# every test of the tables above, corrected over the study; the tables themselves stay as they are
rule measure_claims:
    input:
        metrics=study.metric_tables(),
        responses=study.tables("responses"),
    output:
        **metric_tables("claims"),
    log:
        "<logs>/measure_claims.log",
    conda:
        "../envs/fieldwork.yaml"
    params:
        *code("metrics/measure_claims", *MEASURES),
        rules=study.claim_rules(),
    script:
        "../scripts/metrics/measure_claims.py"
