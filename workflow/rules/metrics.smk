# Estimates. In: results/answers and the items. Out: results/metrics, each table as Parquet and CSV.


rule measure_heterogeneity:
    input:
        answers="results/answers/answers.parquet",
    output:
        heterogeneity="results/metrics/heterogeneity.parquet",
        heterogeneity_csv=report(
            "results/metrics/heterogeneity.csv",
            caption="../report/heterogeneity.rst",
            category="Metrics",
            labels={"table": "heterogeneity of recommendations"},
        ),
        item_shares="results/metrics/item_shares.parquet",
        item_shares_csv=report(
            "results/metrics/item_shares.csv",
            caption="../report/item_shares.rst",
            category="Metrics",
            labels={"table": "share of responses that name an option"},
        ),
    log:
        "logs/measure_heterogeneity.log",
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
        answers="results/answers/answers.parquet",
        task=expand("results/tasks/{task}.parquet", task=config["study"]["tasks"]),
    output:
        distributions="results/metrics/distributions.parquet",
        distributions_csv=report(
            "results/metrics/distributions.csv",
            caption="../report/distributions.rst",
            category="Metrics",
            labels={"table": "distribution of letters"},
        ),
        novelty="results/metrics/novelty.parquet",
        novelty_csv=report(
            "results/metrics/novelty.csv",
            caption="../report/novelty.rst",
            category="Metrics",
            labels={"table": "answers never seen offline"},
        ),
    log:
        "logs/measure_distributions.log",
    conda:
        "../envs/fieldwork.yaml"
    resources:
        mem_mb=4096,
        runtime=60,
    params:
        code=code("measure_distributions"),
        tasks=config["study"]["tasks"],
        baseline=config["metrics"]["baseline"],
    script:
        "../scripts/measure_distributions.py"


rule measure_accuracy:
    input:
        answers="results/answers/answers.parquet",
        task=expand("results/tasks/{task}.parquet", task=config["study"]["tasks"]),
    output:
        runs="results/metrics/accuracy_runs.parquet",
        runs_csv=report(
            "results/metrics/accuracy_runs.csv",
            caption="../report/accuracy_runs.rst",
            category="Metrics",
            labels={"table": "score of each run"},
        ),
        accuracy="results/metrics/accuracy.parquet",
        accuracy_csv=report(
            "results/metrics/accuracy.csv",
            caption="../report/accuracy.rst",
            category="Metrics",
            labels={"table": "spread of scores over runs"},
        ),
    log:
        "logs/measure_accuracy.log",
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
        answers="results/answers/answers.parquet",
    output:
        comparisons="results/metrics/comparisons.parquet",
        comparisons_csv=report(
            "results/metrics/comparisons.csv",
            caption="../report/comparisons.rst",
            category="Metrics",
            labels={"table": "distance from the baseline"},
        ),
    log:
        "logs/measure_comparisons.log",
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


rule measure_variance:
    input:
        answers="results/answers/answers.parquet",
    output:
        variance="results/metrics/variance.parquet",
        variance_csv=report(
            "results/metrics/variance.csv",
            caption="../report/variance.rst",
            category="Metrics",
            labels={"table": "who asks: variance of answers"},
        ),
    log:
        "logs/measure_variance.log",
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
        answers="results/answers/answers.parquet",
        runs="results/metrics/accuracy_runs.parquet",
        accuracy="results/metrics/accuracy.parquet",
        comparisons="results/metrics/comparisons.parquet",
        heterogeneity="results/metrics/heterogeneity.parquet",
        variance="results/metrics/variance.parquet",
        contexts=arm_contexts(),
    output:
        arms="results/metrics/arms.parquet",
        arms_csv=report(
            "results/metrics/arms.csv",
            caption="../report/arms.rst",
            category="Metrics",
            labels={"table": "conditions side by side"},
        ),
        tests="results/metrics/arm_tests.parquet",
        tests_csv=report(
            "results/metrics/arm_tests.csv",
            caption="../report/arm_tests.rst",
            category="Metrics",
            labels={"table": "tests between conditions"},
        ),
    log:
        "logs/measure_arms.log",
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
