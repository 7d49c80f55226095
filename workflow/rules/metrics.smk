# Estimates. In: <results>/answers and the items. Out: <results>/metrics, each table as Parquet and CSV.


rule measure_heterogeneity:
    input:
        answers="<results>/answers/answers.parquet",
    output:
        heterogeneity="<results>/metrics/heterogeneity.parquet",
        heterogeneity_csv=report(
            "<results>/metrics/heterogeneity.csv",
            caption="../report/heterogeneity.rst",
            category="Metrics",
            labels={"table": "heterogeneity of recommendations"},
        ),
        item_shares="<results>/metrics/item_shares.parquet",
        item_shares_csv=report(
            "<results>/metrics/item_shares.csv",
            caption="../report/item_shares.rst",
            category="Metrics",
            labels={"table": "share of responses that name an option"},
        ),
    log:
        "<logs>/measure_heterogeneity.log",
    conda:
        "../envs/fieldwork.yaml"
    resources:
        mem_mb=4096,
        runtime=60,
    params:
        code=code("measure_heterogeneity"),
        seed=config["study"]["seed"],
    script:
        "../scripts/measure_heterogeneity.py"


rule measure_distributions:
    input:
        answers="<results>/answers/answers.parquet",
        task=expand("<results>/tasks/{task}.parquet", task=config["study"]["tasks"]),
    output:
        distributions="<results>/metrics/distributions.parquet",
        distributions_csv=report(
            "<results>/metrics/distributions.csv",
            caption="../report/distributions.rst",
            category="Metrics",
            labels={"table": "distribution of letters"},
        ),
        novelty="<results>/metrics/novelty.parquet",
        novelty_csv=report(
            "<results>/metrics/novelty.csv",
            caption="../report/novelty.rst",
            category="Metrics",
            labels={"table": "answers never seen offline"},
        ),
    log:
        "<logs>/measure_distributions.log",
    conda:
        "../envs/fieldwork.yaml"
    resources:
        mem_mb=4096,
        runtime=60,
    params:
        code=code("measure_distributions"),
        tasks=config["study"]["tasks"],
        baseline=config["metrics"]["baseline"],
        control=next(iter(controls_of(config)), None),
        permutations=config["metrics"]["permutations"],
        seed=config["study"]["seed"],
    script:
        "../scripts/measure_distributions.py"


rule measure_accuracy:
    input:
        answers="<results>/answers/answers.parquet",
        task=expand("<results>/tasks/{task}.parquet", task=config["study"]["tasks"]),
    output:
        runs="<results>/metrics/accuracy_runs.parquet",
        runs_csv=report(
            "<results>/metrics/accuracy_runs.csv",
            caption="../report/accuracy_runs.rst",
            category="Metrics",
            labels={"table": "score of each run"},
        ),
        accuracy="<results>/metrics/accuracy.parquet",
        accuracy_csv=report(
            "<results>/metrics/accuracy.csv",
            caption="../report/accuracy.rst",
            category="Metrics",
            labels={"table": "spread of scores over runs"},
        ),
    log:
        "<logs>/measure_accuracy.log",
    conda:
        "../envs/fieldwork.yaml"
    resources:
        mem_mb=4096,
        runtime=60,
    params:
        code=code("measure_accuracy"),
        tasks=config["study"]["tasks"],
    script:
        "../scripts/measure_accuracy.py"


rule measure_comparisons:
    input:
        answers="<results>/answers/answers.parquet",
    output:
        comparisons="<results>/metrics/comparisons.parquet",
        comparisons_csv=report(
            "<results>/metrics/comparisons.csv",
            caption="../report/comparisons.rst",
            category="Metrics",
            labels={"table": "distance from the baseline"},
        ),
    log:
        "<logs>/measure_comparisons.log",
    conda:
        "../envs/fieldwork.yaml"
    resources:
        mem_mb=4096,
        runtime=60,
    params:
        code=code("measure_comparisons"),
        baseline=config["metrics"]["baseline"],
        permutations=config["metrics"]["permutations"],
        seed=config["study"]["seed"],
    script:
        "../scripts/measure_comparisons.py"


rule measure_categories:
    input:
        answers="<results>/answers/answers.parquet",
        task=expand("<results>/tasks/{task}.parquet", task=config["study"]["tasks"]),
        categories_of=shipped(config["metrics"]["categories"]),
    output:
        subjects="<results>/metrics/subjects.parquet",
        subjects_csv=report(
            "<results>/metrics/subjects.csv",
            caption="../report/subjects.rst",
            category="Metrics",
            labels={"table": "who asks: subject by subject"},
        ),
        categories="<results>/metrics/categories.parquet",
        categories_csv=report(
            "<results>/metrics/categories.csv",
            caption="../report/categories.rst",
            category="Metrics",
            labels={"table": "who asks: by category of subject"},
        ),
    log:
        "<logs>/measure_categories.log",
    conda:
        "../envs/fieldwork.yaml"
    resources:
        mem_mb=4096,
        runtime=60,
    params:
        code=code("measure_categories"),
        tasks=config["study"]["tasks"],
        permutations=config["metrics"]["permutations"],
        seed=config["study"]["seed"],
    script:
        "../scripts/measure_categories.py"


rule measure_variance:
    input:
        answers="<results>/answers/answers.parquet",
    output:
        variance="<results>/metrics/variance.parquet",
        variance_csv=report(
            "<results>/metrics/variance.csv",
            caption="../report/variance.rst",
            category="Metrics",
            labels={"table": "who asks: variance of answers"},
        ),
    log:
        "<logs>/measure_variance.log",
    conda:
        "../envs/fieldwork.yaml"
    resources:
        mem_mb=4096,
        runtime=60,
    params:
        code=code("measure_variance"),
        baseline=config["metrics"]["baseline"],
        permutations=config["metrics"]["permutations"],
        seed=config["study"]["seed"],
    script:
        "../scripts/measure_variance.py"


rule measure_arms:
    input:
        answers="<results>/answers/answers.parquet",
        runs="<results>/metrics/accuracy_runs.parquet",
        accuracy="<results>/metrics/accuracy.parquet",
        comparisons="<results>/metrics/comparisons.parquet",
        heterogeneity="<results>/metrics/heterogeneity.parquet",
        variance="<results>/metrics/variance.parquet",
        contexts=arm_contexts(),
    output:
        arms="<results>/metrics/arms.parquet",
        arms_csv=report(
            "<results>/metrics/arms.csv",
            caption="../report/arms.rst",
            category="Metrics",
            labels={"table": "conditions side by side"},
        ),
        tests="<results>/metrics/arm_tests.parquet",
        tests_csv=report(
            "<results>/metrics/arm_tests.csv",
            caption="../report/arm_tests.rst",
            category="Metrics",
            labels={"table": "tests between conditions"},
        ),
    log:
        "<logs>/measure_arms.log",
    conda:
        "../envs/fieldwork.yaml"
    resources:
        mem_mb=4096,
        runtime=60,
    params:
        code=code("measure_arms"),
        arms=arms_asked(),
        x=(config["arms"] or {}).get("x"),
        baseline=config["metrics"]["baseline"],
        permutations=config["metrics"]["permutations"],
        seed=config["study"]["seed"],
    script:
        "../scripts/measure_arms.py"


rule measure_score_comparisons:
    input:
        runs="<results>/metrics/accuracy_runs.parquet",
    output:
        comparisons="<results>/metrics/score_comparisons.parquet",
        comparisons_csv=report(
            "<results>/metrics/score_comparisons.csv",
            caption="../report/score_comparisons.rst",
            category="Metrics",
            labels={"table": "scores beside the baseline's"},
        ),
    log:
        "<logs>/measure_score_comparisons.log",
    conda:
        "../envs/fieldwork.yaml"
    resources:
        mem_mb=2048,
        runtime=30,
    params:
        code=code("measure_score_comparisons"),
        baseline=config["metrics"]["baseline"],
        permutations=config["metrics"]["permutations"],
        seed=config["study"]["seed"],
    script:
        "../scripts/measure_score_comparisons.py"


rule measure_ranks:
    input:
        runs="<results>/metrics/accuracy_runs.parquet",
        leaderboards=[shipped(path) for path in ranked_tasks(config).values()],
    output:
        ranks="<results>/metrics/ranks.parquet",
        ranks_csv=report(
            "<results>/metrics/ranks.csv",
            caption="../report/ranks.rst",
            category="Metrics",
            labels={"table": "places on the leaderboard"},
        ),
        orders="<results>/metrics/order_changes.parquet",
        orders_csv=report(
            "<results>/metrics/order_changes.csv",
            caption="../report/order_changes.rst",
            category="Metrics",
            labels={"table": "order of the study's models"},
        ),
    log:
        "<logs>/measure_ranks.log",
    conda:
        "../envs/fieldwork.yaml"
    resources:
        mem_mb=2048,
        runtime=30,
    params:
        code=code("measure_ranks"),
        tasks=list(ranked_tasks(config)),
        baseline=config["metrics"]["baseline"],
        own_names=leaderboard_names(),
    script:
        "../scripts/measure_ranks.py"


rule measure_shifts:
    input:
        answers="<results>/answers/answers.parquet",
    output:
        shifts="<results>/metrics/shifts.parquet",
        shifts_csv=report(
            "<results>/metrics/shifts.csv",
            caption="../report/shifts.rst",
            category="Metrics",
            labels={"table": "how far each option moves"},
        ),
    log:
        "<logs>/measure_shifts.log",
    conda:
        "../envs/fieldwork.yaml"
    resources:
        mem_mb=4096,
        runtime=60,
    params:
        code=code("measure_shifts"),
        baseline=config["metrics"]["baseline"],
    script:
        "../scripts/measure_shifts.py"


rule measure_rarefaction:
    input:
        answers="<results>/answers/answers.parquet",
    output:
        rarefaction="<results>/metrics/rarefaction.parquet",
        rarefaction_csv=report(
            "<results>/metrics/rarefaction.csv",
            caption="../report/rarefaction.rst",
            category="Metrics",
            labels={"table": "distinct options among so many answers"},
        ),
    log:
        "<logs>/measure_rarefaction.log",
    conda:
        "../envs/fieldwork.yaml"
    resources:
        mem_mb=4096,
        runtime=60,
    params:
        code=code("measure_rarefaction"),
    script:
        "../scripts/measure_rarefaction.py"


rule measure_prompt_means:
    input:
        answers="<results>/answers/answers.parquet",
    output:
        prompt_means="<results>/metrics/prompt_means.parquet",
        prompt_means_csv=report(
            "<results>/metrics/prompt_means.csv",
            caption="../report/prompt_means.rst",
            category="Metrics",
            labels={"table": "heterogeneity over all prompts"},
        ),
    log:
        "<logs>/measure_prompt_means.log",
    conda:
        "../envs/fieldwork.yaml"
    resources:
        mem_mb=4096,
        runtime=60,
    params:
        code=code("measure_prompt_means"),
        baseline=config["metrics"]["baseline"],
        seed=config["study"]["seed"],
    script:
        "../scripts/measure_prompt_means.py"
