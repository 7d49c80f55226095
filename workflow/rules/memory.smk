# What is known of users. In: a corpus, and answers of the model that reads it. Out: <results>/memory, and the
# questions of the auxiliary tasks memory.read and memory.select in <results>/tasks; they are asked by the
# rules of generation.smk, and texts of memory become contexts by those of puppets.smk.


rule prepare_reading:
    input:
        conversations=f"<results>/corpus/{memory_corpus(config)}/conversations.parquet",
        template=study.resolve(reading_prompt(config)),
        puppets=study.puppet_counts(),
    output:
        users="<results>/memory/users.parquet",
        questions=f"<results>/tasks/{READ}.parquet",
    log:
        "<logs>/prepare_reading.log",
    conda:
        "../envs/fieldwork.yaml"
    params:
        *code("memory/prepare_reading"),
        rules=reading_rules(config),
        n_users=n_remembered(config),
        at_least=config["memory"]["at_least"],
        seed=config["study"]["seed"],
    script:
        "../scripts/memory/prepare_reading.py"


rule read_attributes:
    input:
        responses=f"<results>/responses/{reading_model(config)}/{READ}/{READ}.parquet",
        users="<results>/memory/users.parquet",
        conversations=f"<results>/corpus/{memory_corpus(config)}/conversations.parquet",
        encoder_choice=encoder_choice(study),
    output:
        statements="<results>/memory/statements.parquet",
        attributes="<results>/memory/attributes.parquet",
    log:
        "<logs>/read_attributes.log",
    conda:
        "../envs/fieldwork.yaml"
    threads: config["embedding"]["threads"]
    params:
        *code("memory/read_attributes"),
        form=reading_form(config),
        merging=MergeRules.part_of(config["memory"]),
        embedding=config["embedding"],
    script:
        "../scripts/memory/read_attributes.py"


# what raters would reject, stated once more by the reading model
rule prepare_refining:
    input:
        attributes="<results>/memory/attributes.parquet",
        conversations=f"<results>/corpus/{memory_corpus(config)}/conversations.parquet",
        scores=verifying_tables(config, "learnt"),
        template=study.resolve(refining_prompt(config)),
    output:
        questions=f"<results>/tasks/{REFINE}.parquet",
    log:
        "<logs>/prepare_refining.log",
    conda:
        "../envs/fieldwork.yaml"
    params:
        *code("memory/prepare_refining"),
        form=reading_form(config),
        keep_above=(config["memory"]["verify"] or {}).get("keep_above"),
    script:
        "../scripts/memory/prepare_refining.py"


rule verify_attributes:
    input:
        attributes="<results>/memory/attributes.parquet",
        conversations=f"<results>/corpus/{memory_corpus(config)}/conversations.parquet",
        scores=verifying_tables(config, "learnt"),
        texts=verifying_tables(config, "texts"),
        judgements=verifying_tables(config, "parts"),
        responses=refining_responses(config),
        encoder_choice=encoder_choice(study),
    output:
        verified_attributes="<results>/memory/verified_attributes.parquet",
        verifications="<results>/memory/verifications.parquet",
        refined_texts=f"<results>/judging/texts/{REFINED_UNITS}.parquet",
    log:
        "<logs>/verify_attributes.log",
    conda:
        "../envs/fieldwork.yaml"
    threads: config["embedding"]["threads"]
    params:
        *code("memory/verify_attributes"),
        form=reading_form(config),
        keep_above=(config["memory"]["verify"] or {}).get("keep_above"),
        scale=verifying_scale(config),
        embedding=config["embedding"],
    script:
        "../scripts/memory/verify_attributes.py"


rule prepare_selection:
    input:
        attributes=usable_attributes(config),
        tasks=study.task_tables(),
        template=study.resolve(config["memory"]["select_prompt"]),
    output:
        questions=f"<results>/tasks/{SELECT}.parquet",
    log:
        "<logs>/prepare_selection.log",
    conda:
        "../envs/fieldwork.yaml"
    params:
        *code("memory/prepare_selection"),
    script:
        "../scripts/memory/prepare_selection.py"


rule select_attributes:
    input:
        attributes=usable_attributes(config),
        questions="<results>/tasks/{task}.parquet",
        model_answers=lambda wildcards: selection_tables(config, wildcards.condition)[
            "model_answers"
        ],
        judgements=lambda wildcards: selection_tables(config, wildcards.condition)["judgements"],
        scores=lambda wildcards: selection_tables(config, wildcards.condition)["scores"],
        encoder_choice=encoder_choice(study),
    output:
        selection_table="<results>/memory/selected/{task}/{condition}.parquet",
    log:
        "<logs>/select_attributes/{task}/{condition}.log",
    wildcard_constraints:
        task=any_of(config["tasks"]),
    conda:
        "../envs/fieldwork.yaml"
    threads: config["embedding"]["threads"]
    params:
        *code("memory/select_attributes"),
        rules=lambda wildcards: selection_rules(study.condition(wildcards.condition)),
        scale=lambda wildcards: named_scales(config).get(
            study.condition(wildcards.condition)["select"]["scale"]
        ),
        embedding=config["embedding"],
    script:
        "../scripts/memory/select_attributes.py"


rule write_memories:
    input:
        users="<results>/memory/users.parquet",
        attributes=usable_attributes(config),
        conversations=f"<results>/corpus/{memory_corpus(config)}/conversations.parquet",
        selections=lambda wildcards: selected_table(config, wildcards.condition),
        questions="<results>/tasks/{task}.parquet",
        template=lambda wildcards: study.resolve(study.condition(wildcards.condition)["template"]),
    output:
        texts="<results>/memory/texts/{task}/{condition}.parquet",
    log:
        "<logs>/write_memories/{task}/{condition}.log",
    wildcard_constraints:
        task=any_of(config["tasks"]),
    conda:
        "../envs/fieldwork.yaml"
    params:
        *code("memory/write_memories"),
        n_puppets=lambda wildcards: study.task(wildcards.task)["runs"],
        limits=lambda wildcards: MemoryLimits.part_of(study.condition(wildcards.condition)),
    script:
        "../scripts/memory/write_memories.py"


rule measure_memory:
    input:
        attributes="<results>/memory/attributes.parquet",
        verified_attributes=[VERIFIED_ATTRIBUTES] if config["memory"]["verify"] else [],
        users="<results>/memory/users.parquet",
        reference=study.optional_file(config["memory"]["reference"]),
        encoder_choice=encoder_choice(study),
    output:
        **metric_tables("memory_matches"),
    log:
        "<logs>/measure_memory.log",
    conda:
        "../envs/fieldwork.yaml"
    threads: config["embedding"]["threads"]
    params:
        *code("memory/measure_memory"),
        key_file=key_file_of(config, config["corpora"][memory_corpus(config)]),
        match_above=config["memory"]["match_above"],
        rarest_users=config["metrics"]["rarest_users"],
        embedding=config["embedding"],
    script:
        "../scripts/memory/measure_memory.py"
