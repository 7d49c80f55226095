# Asking models. In: items and contexts. Out: <results>/requests and <results>/responses; every answer is
# kept in resources/ledger/{model}.sqlite, outside what Snakemake deletes when a job fails. Before:
# <results>/plan.csv (`snakemake plan`, never part of `all`). After: <results>/cost.csv.


rule plan:
    input:
        "<results>/plan.csv",
        "<results>/plan.html",


rule plan_study:
    input:
        plan_tables(),
    output:
        csv="<results>/plan.csv",
        page="<results>/plan.html",
    log:
        "<logs>/plan_study.log",
    conda:
        "../envs/fieldwork.yaml"
    resources:
        mem_mb=4096,
        runtime=30,
    params:
        code=code("plan_study"),
        name=config["study"]["name"],
        tasks=selected("tasks"),
        conditions=selected("conditions"),
        models=selected("models"),
        prices=config["prices"],
        plan=config["plan"],
        budget_usd=config["generation"]["budget_usd"],
        answered=lambda wildcards: time_stamps(study_tables("responses")),
        # a ledger's newest answers are beside it until its job ends well
        ledgers=lambda wildcards: time_stamps(
            expand(
                "resources/ledger/{model}.sqlite{part}",
                model=config["study"]["models"],
                part=["", "-wal"],
            )
        ),
        seed=config["study"]["seed"],
    script:
        "../scripts/plan_study.py"


rule plan_requests:
    input:
        task="<results>/tasks/{task}.parquet",
        contexts=contexts_of,
    output:
        requests="<results>/requests/{task}/{condition}.parquet",
    log:
        "<logs>/plan_requests/{task}/{condition}.log",
    conda:
        "../envs/fieldwork.yaml"
    resources:
        mem_mb=2048,
        runtime=10,
    params:
        code=code("plan_requests"),
        runs=lambda wildcards: by_wildcard("tasks", wildcards)["runs"],
        replicates=lambda wildcards: by_wildcard("conditions", wildcards).get("replicates", 1),
        first=first_replicate,
    script:
        "../scripts/plan_requests.py"


rule generate_responses:
    input:
        requests="<results>/requests/{task}/{condition}.parquet",
        task="<results>/tasks/{task}.parquet",
        contexts=contexts_of,
        puppets=counted_puppets(),
    output:
        responses="<results>/responses/{model}/{task}/{condition}.parquet",
    log:
        "<logs>/generate_responses/{model}/{task}/{condition}.log",
    conda:
        "../envs/fieldwork.yaml"
    resources:
        mem_mb=8192,
        runtime=2880,
        # one job of a provider at a time (profiles/default): they share its limits, or the processor
        embedded=lambda wildcards: int(by_wildcard("models", wildcards)["provider"] == "embedded"),
        openai=lambda wildcards: int(by_wildcard("models", wildcards)["provider"] == "openai"),
        gemini=lambda wildcards: int(by_wildcard("models", wildcards)["provider"] == "gemini"),
    params:
        code=code("generate_responses"),
        model=lambda wildcards: by_wildcard("models", wildcards),
        temperature=lambda wildcards: by_wildcard("conditions", wildcards)["temperature"],
        max_tokens=lambda wildcards: by_wildcard("tasks", wildcards)["max_tokens"],
        generation=config["generation"],
        prices=price_of_model,
        seed=config["study"]["seed"],
    script:
        "../scripts/generate_responses.py"


# by hand, when a ledger is damaged; docs/models.md
rule recover_ledgers:
    log:
        "<logs>/recover_ledgers.log",
    conda:
        "../envs/fieldwork.yaml"
    resources:
        mem_mb=4096,
        runtime=120,
    params:
        code=code("recover_ledgers"),
        models=config["models"],
    script:
        "../scripts/recover_ledgers.py"


rule reconcile_costs:
    input:
        responses=study_tables("responses"),
        tasks=expand("<results>/tasks/{task}.parquet", task=config["study"]["tasks"]),
        requests=expand(
            "<results>/requests/{task}/{condition}.parquet",
            task=config["study"]["tasks"],
            condition=config["study"]["conditions"],
        ),
        contexts=study_contexts(),
    output:
        cost="<results>/cost.csv",
    log:
        "<logs>/reconcile_costs.log",
    conda:
        "../envs/fieldwork.yaml"
    resources:
        mem_mb=8192,
        runtime=30,
    params:
        code=code("reconcile_costs"),
        tasks=selected("tasks"),
        conditions=selected("conditions"),
        models=selected("models"),
        prices=config["prices"],
        plan=config["plan"],
    script:
        "../scripts/reconcile_costs.py"
