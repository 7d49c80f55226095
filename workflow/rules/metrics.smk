# Estimates. In: <results>/answers and the items. Out: <results>/metrics, each table as Parquet and CSV.


# measures that are declared in fieldwork/measures, a file a question
rule measure:
    input:
        unpack(lambda wildcards: measured_tables(study, wildcards.question, ANSWERS)),
    output:
        estimates=ESTIMATES_OF,
        estimates_csv=report(
            ESTIMATES_OF.replace(".parquet", ".csv"),
            caption="../report/estimates.rst",
            category="Metrics",
            labels={"table": "Estimates: {question}"},
        ),
    log:
        "<logs>/measure/{question}.log",
    conda:
        "../envs/fieldwork.yaml"
    wildcard_constraints:
        question=any_of(question_names()),
    params:
        code=lambda wildcards: code("metrics/measure", f"fieldwork/measures/{wildcards.question}"),
        sentence=lambda wildcards: questions()[wildcards.question].sentence,
        settings=estimate_settings(study),
    script:
        "../scripts/metrics/measure.py"


# the tables of earlier versions that are views of estimates now
rule write_views:
    input:
        estimates=estimate_files(),
    output:
        **view_files(study_views(study)),
    log:
        "<logs>/write_views.log",
    conda:
        "../envs/fieldwork.yaml"
    params:
        code=code("metrics/write_views"),
    script:
        "../scripts/metrics/write_views.py"


rule measure_item_shares:
    input:
        answers=ANSWERS,
    output:
        **metric_tables("item_shares", "list_lengths"),
    log:
        "<logs>/measure_item_shares.log",
    conda:
        "../envs/fieldwork.yaml"
    params:
        code=code("metrics/measure_item_shares"),
    script:
        "../scripts/metrics/measure_item_shares.py"


rule measure_distributions:
    input:
        answers=ANSWERS,
        questions=study.task_tables(),
    output:
        **metric_tables("distributions", "novelty"),
    log:
        "<logs>/measure_distributions.log",
    conda:
        "../envs/fieldwork.yaml"
    params:
        code=code("metrics/measure_distributions"),
        rarest_users=config["metrics"]["rarest_users"],
        baseline=study.baseline,
        control=study.control(),
        permutations=config["metrics"]["permutations"],
        seed=config["study"]["seed"],
    script:
        "../scripts/metrics/measure_distributions.py"


rule measure_accuracy:
    input:
        answers=ANSWERS,
        questions=study.task_tables(),
    output:
        **metric_tables("accuracy_runs", "accuracy"),
    log:
        "<logs>/measure_accuracy.log",
    conda:
        "../envs/fieldwork.yaml"
    params:
        code=code("metrics/measure_accuracy"),
        rarest_users=config["metrics"]["rarest_users"],
    script:
        "../scripts/metrics/measure_accuracy.py"


rule measure_comparisons:
    input:
        answers=ANSWERS,
    output:
        **metric_tables("comparisons"),
    log:
        "<logs>/measure_comparisons.log",
    conda:
        "../envs/fieldwork.yaml"
    params:
        code=code("metrics/measure_comparisons"),
        baseline=study.baseline,
        permutations=config["metrics"]["permutations"],
        seed=config["study"]["seed"],
    script:
        "../scripts/metrics/measure_comparisons.py"


rule measure_categories:
    input:
        answers=ANSWERS,
        questions=study.task_tables(),
        subject_categories=study.resolve(config["metrics"]["categories"]),
    output:
        **metric_tables("subjects", "categories"),
    log:
        "<logs>/measure_categories.log",
    conda:
        "../envs/fieldwork.yaml"
    params:
        code=code("metrics/measure_categories"),
        permutations=config["metrics"]["permutations"],
        seed=config["study"]["seed"],
    script:
        "../scripts/metrics/measure_categories.py"


rule measure_variance:
    input:
        answers=ANSWERS,
    output:
        **metric_tables("variance"),
    log:
        "<logs>/measure_variance.log",
    conda:
        "../envs/fieldwork.yaml"
    params:
        code=code("metrics/measure_variance"),
        rarest_users=config["metrics"]["rarest_users"],
        baseline=study.baseline,
        permutations=config["metrics"]["permutations"],
        seed=config["study"]["seed"],
    script:
        "../scripts/metrics/measure_variance.py"


# estimates from probabilities of letters, where models state them, beside those of the tables above
rule measure_exactly:
    input:
        answers=ANSWERS,
        questions=study.task_tables(),
        variance="<results>/metrics/variance.parquet",
        accuracy="<results>/metrics/accuracy.parquet",
        novelty="<results>/metrics/novelty.parquet",
    output:
        **metric_tables("exact_estimates"),
    log:
        "<logs>/measure_exactly.log",
    conda:
        "../envs/fieldwork.yaml"
    params:
        code=code("metrics/measure_exactly"),
        rarest_users=config["metrics"]["rarest_users"],
        baseline=study.baseline,
    script:
        "../scripts/metrics/measure_exactly.py"


rule measure_arms:
    input:
        answers=ANSWERS,
        accuracy_runs="<results>/metrics/accuracy_runs.parquet",
        accuracy="<results>/metrics/accuracy.parquet",
        comparisons="<results>/metrics/comparisons.parquet",
        estimates=ESTIMATES_OF.format(question="lists"),
        variance="<results>/metrics/variance.parquet",
        contexts=study.arm_contexts(),
    output:
        **metric_tables("arms", "arm_tests"),
    log:
        "<logs>/measure_arms.log",
    conda:
        "../envs/fieldwork.yaml"
    params:
        code=code("metrics/measure_arms"),
        rarest_users=config["metrics"]["rarest_users"],
        conversations=study.arms(),
        x=(config["arms"] or {}).get("x"),
        baseline=study.baseline,
    script:
        "../scripts/metrics/measure_arms.py"


rule measure_nests:
    input:
        answers=ANSWERS,
    output:
        **metric_tables("users_and_contexts"),
    log:
        "<logs>/measure_nests.log",
    conda:
        "../envs/fieldwork.yaml"
    params:
        code=code("metrics/measure_nests"),
        nests=study.nests(),
        rarest_users=config["metrics"]["rarest_users"],
        permutations=config["metrics"]["permutations"],
        seed=config["study"]["seed"],
    script:
        "../scripts/metrics/measure_nests.py"


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
        code=code("metrics/measure_robustness"),
        variants=study.variants(),
        groups=variants.groups_of(config),
        rarest_users=config["metrics"]["rarest_users"],
        rarest_prompts=config["metrics"]["rarest_prompts"],
        permutations=config["metrics"]["permutations"],
        seed=config["study"]["seed"],
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
        code=code("metrics/measure_drift"),
        waves=study.waves(),
        series=waves.series_of(config),
        looks=config["metrics"]["looks"],
        seed=config["study"]["seed"],
    script:
        "../scripts/metrics/measure_drift.py"


rule measure_score_comparisons:
    input:
        accuracy_runs="<results>/metrics/accuracy_runs.parquet",
    output:
        **metric_tables("score_comparisons"),
    log:
        "<logs>/measure_score_comparisons.log",
    conda:
        "../envs/fieldwork.yaml"
    params:
        code=code("metrics/measure_score_comparisons"),
        rarest_users=config["metrics"]["rarest_users"],
        baseline=study.baseline,
        permutations=config["metrics"]["permutations"],
        seed=config["study"]["seed"],
    script:
        "../scripts/metrics/measure_score_comparisons.py"


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
        code=code("metrics/measure_ranks"),
        tasks=[*study.leaderboards()],
        baseline=study.baseline,
        names=study.leaderboard_names(),
    script:
        "../scripts/metrics/measure_ranks.py"


rule measure_service:
    input:
        responses=study.tables("responses"),
        first_token_tables=first_tokens.first_token_tables(study),
        questions=study.task_tables(),
        accuracy="<results>/metrics/accuracy.parquet",
    output:
        **metric_tables("service", "trade_offs"),
    log:
        "<logs>/measure_service.log",
    conda:
        "../envs/fieldwork.yaml"
    resources:
        mem_mb=8192,
    params:
        code=code("metrics/measure_service"),
        rarest_users=config["metrics"]["rarest_users"],
        baseline=study.baseline,
    script:
        "../scripts/metrics/measure_service.py"


rule measure_values:
    input:
        answers=ANSWERS,
        questions=study.task_tables(),
    output:
        **metric_tables("values", "value_comparisons"),
    log:
        "<logs>/measure_values.log",
    conda:
        "../envs/fieldwork.yaml"
    params:
        code=code("metrics/measure_values"),
        rarest_users=config["metrics"]["rarest_users"],
        baseline=study.baseline,
        permutations=config["metrics"]["permutations"],
        seed=config["study"]["seed"],
    script:
        "../scripts/metrics/measure_values.py"


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
        code=code("metrics/measure_practice"),
        variants=study.variants(),
        steps=variants.names_of_steps(config),
        controls=study.users_and_controls()["controls"],
        rarest_users=config["metrics"]["rarest_users"],
        baseline=study.baseline,
        permutations=config["metrics"]["permutations"],
        seed=config["study"]["seed"],
    script:
        "../scripts/metrics/measure_practice.py"


rule measure_shifts:
    input:
        answers=ANSWERS,
    output:
        **metric_tables("shifts"),
    log:
        "<logs>/measure_shifts.log",
    conda:
        "../envs/fieldwork.yaml"
    params:
        code=code("metrics/measure_shifts"),
        baseline=study.baseline,
    script:
        "../scripts/metrics/measure_shifts.py"


rule measure_rarefaction:
    input:
        answers=ANSWERS,
    output:
        **metric_tables("rarefaction"),
    log:
        "<logs>/measure_rarefaction.log",
    conda:
        "../envs/fieldwork.yaml"
    params:
        code=code("metrics/measure_rarefaction"),
    script:
        "../scripts/metrics/measure_rarefaction.py"


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
        code=code("metrics/measure_control_tests"),
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
        code=code("metrics/measure_claims"),
        rules=study.claim_rules(),
    script:
        "../scripts/metrics/measure_claims.py"
