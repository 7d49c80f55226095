# Asking models, or reading answers that were recorded elsewhere. In: items and contexts, or recordings. Out:
# <results>/requests and <results>/responses; every answer of a model that was asked is kept in
# resources/ledger/{model}.sqlite, outside what Snakemake deletes when a job fails. Before: <results>/plan.csv
# (`snakemake plan`, never part of `all`). After: <results>/cost.csv.


rule plan:
    input:
        "<results>/plan.csv",
        "<results>/plan.html",


rule plan_study:
    input:
        plan_inputs.plan_tables(study),
    output:
        csv="<results>/plan.csv",
        page="<results>/plan.html",
    log:
        "<logs>/plan_study.log",
    conda:
        "../envs/fieldwork.yaml"
    params:
        *code("generation/plan_study", *PROVIDERS),
        name=study.name,
        study=plan_inputs.plan_settings(study),
        budget_usd=config["generation"]["budget_usd"],
        made_times=lambda wildcards: plan_inputs.made_table_stamps(study),
        answer_times=lambda wildcards: plan_inputs.answer_time_stamps(study),
        ledger_times=lambda wildcards: plan_inputs.ledger_time_stamps(study),
    script:
        "../scripts/generation/plan_study.py"


rule plan_requests:
    input:
        questions="<results>/tasks/{task}.parquet",
        contexts=lambda wildcards: study.contexts(wildcards.condition),
        primary_questions=primary_questions(study.config),
    output:
        requests="<results>/requests/{task}/{condition}.parquet",
    log:
        "<logs>/plan_requests/{task}/{condition}.log",
    conda:
        "../envs/fieldwork.yaml"
    params:
        *code("generation/plan_requests"),
        arms=lambda wildcards: [study.request_settings(*wildcards)],
        primary=primary_items(study.config),
    script:
        "../scripts/generation/plan_requests.py"


# Where one job asks (below), one job plans. Where arms are asked by jobs of their own, as those of paid models, each
# is planned by itself, so that a change of one starts no other.
if arms.is_asked_here(study):

    rule plan_all_requests:
        input:
            questions=study.task_tables(),
            contexts=study.context_tables(),
            primary_questions=primary_questions(study.config),
        output:
            requests=study.request_tables(),
        log:
            "<logs>/plan_all_requests.log",
        conda:
            "../envs/fieldwork.yaml"
        params:
            *code("generation/plan_requests"),
            arms=arms.request_arms(study),
            primary=primary_items(study.config),
        script:
            "../scripts/generation/plan_requests.py"

    ruleorder: plan_all_requests > plan_requests


rule generate_responses:
    input:
        requests="<results>/requests/{task}/{condition}.parquet",
        questions="<results>/tasks/{task}.parquet",
        contexts=lambda wildcards: study.contexts(wildcards.condition),
        puppets=study.puppet_counts(),
    output:
        responses="<results>/responses/{model}/{task}/{condition}.parquet",
    log:
        "<logs>/generate_responses/{model}/{task}/{condition}.log",
    wildcard_constraints:
        model=any_of(arms.askable_models(study)),
    conda:
        "../envs/fieldwork.yaml"
    threads: lambda wildcards: answer_threads(config["models"][wildcards.model])
    resources:
        mem_mb=8192,
        runtime=2880,
        # one job of a provider at a time (profiles/default): they share its limits, or the processor
        embedded=lambda wildcards: study.uses(wildcards.model, "embedded"),
        local_chat=lambda wildcards: study.uses(wildcards.model, "local_chat"),
        openai=lambda wildcards: study.uses(wildcards.model, "openai"),
        gemini=lambda wildcards: study.uses(wildcards.model, "gemini"),
        anthropic=lambda wildcards: study.uses(wildcards.model, "anthropic"),
    params:
        *code("generation/generate_responses", *PROVIDERS),
        arm=lambda wildcards: study.generation_arm(*wildcards),
        settings=lambda wildcards: arms.call_settings(study, wildcards.model),
        generation=generation_settings(config),
        prices=lambda wildcards: study.price(wildcards.model),
    script:
        "../scripts/generation/generate_responses.py"


# A model on this machine is loaded once for all arms of the study. Auxiliary tasks, whose answers make contexts or
# judge answers, stay with the rule above.
rule ask_local_model:
    input:
        requests=study.request_tables(),
        questions=study.task_tables(),
        contexts=study.context_tables(),
        puppets=study.puppet_counts(),
    output:
        responses=study.tables("responses", ["{model}"]),
    log:
        "<logs>/ask_local_model/{model}.log",
    wildcard_constraints:
        model=any_of(arms.local_models(study)),
    conda:
        "../envs/fieldwork.yaml"
    threads: lambda wildcards: answer_threads(config["models"][wildcards.model])
    resources:
        mem_mb=8192,
        runtime=2880,
        embedded=lambda wildcards: study.uses(wildcards.model, "embedded"),
        local_chat=lambda wildcards: study.uses(wildcards.model, "local_chat"),
    params:
        *code("generation/ask_local_model", *PROVIDERS),
        arms=lambda wildcards: arms.generation_arms(study, wildcards.model),
        settings=lambda wildcards: arms.call_settings(study, wildcards.model),
        generation=generation_settings(config),
        prices=lambda wildcards: study.price(wildcards.model),
    script:
        "../scripts/generation/ask_local_model.py"


ruleorder: ask_local_model > generate_responses


# some calls once more as streams, where a model asks for that; after its usual ones, which they do not change
rule sample_first_tokens:
    input:
        requests="<results>/requests/{task}/{condition}.parquet",
        questions="<results>/tasks/{task}.parquet",
        contexts=lambda wildcards: study.contexts(wildcards.condition),
        responses="<results>/responses/{model}/{task}/{condition}.parquet",
    output:
        first_token_table="<results>/first_tokens/{model}/{task}/{condition}.parquet",
    log:
        "<logs>/sample_first_tokens/{model}/{task}/{condition}.log",
    wildcard_constraints:
        model=any_of(arms.streaming_models(study)),
    conda:
        "../envs/fieldwork.yaml"
    resources:
        mem_mb=8192,
        runtime=2880,
        openai=1,
    params:
        *code("generation/sample_first_tokens", *PROVIDERS),
        size=lambda wildcards: config["models"][wildcards.model]["first_token_sample"],
        arm=lambda wildcards: study.generation_arm(*wildcards),
        settings=lambda wildcards: arms.call_settings(study, wildcards.model),
        generation=generation_settings(config),
        prices=lambda wildcards: study.price(wildcards.model),
    script:
        "../scripts/generation/sample_first_tokens.py"


rule read_recorded:
    input:
        files=lambda wildcards: arms.recording_files(study, wildcards.model),
        questions="<results>/tasks/{task}.parquet",
    output:
        responses="<results>/responses/{model}/{task}/{condition}.parquet",
    log:
        "<logs>/read_recorded/{model}/{task}/{condition}.log",
    wildcard_constraints:
        model=any_of(arms.recorded_models(study)),
    conda:
        "../envs/fieldwork.yaml"
    params:
        *code("generation/read_recorded"),
        recording=lambda wildcards: arms.recording_of(study, wildcards.model),
        arm=lambda wildcards: arms.recorded_arm(study, *wildcards),
    script:
        "../scripts/generation/read_recorded.py"


# by hand, when a ledger is damaged; docs/stops.md
rule recover_ledgers:
    log:
        "<logs>/recover_ledgers.log",
    conda:
        "../envs/fieldwork.yaml"
    resources:
        runtime=120,
    params:
        *code("generation/recover_ledgers"),
        models=arms.registered_models(study),
    script:
        "../scripts/generation/recover_ledgers.py"


rule reconcile_costs:
    input:
        responses=[
            *study.tables("responses", study.asked_models()),
            *arms.auxiliary_tables(study, "responses"),
        ],
        first_token_tables=arms.first_token_tables(study),
        questions=study.task_tables(),
        requests=[*study.request_tables(), *arms.auxiliary_requests(study)],
        contexts=study.context_tables(),
    output:
        cost="<results>/cost.csv",
    log:
        "<logs>/reconcile_costs.log",
    conda:
        "../envs/fieldwork.yaml"
    resources:
        mem_mb=8192,
    params:
        *code("generation/reconcile_costs", *PROVIDERS),
        study=plan_inputs.plan_settings(study),
    script:
        "../scripts/generation/reconcile_costs.py"
