# Simulated users. In: the corpora that conditions name, and the persona sources. Out: <results>/corpus,
# <results>/embeddings, <results>/encoder.csv, <results>/personas, <results>/puppets.csv, <results>/contexts; downloads go to
# resources/downloads.


# on the machine that Snakemake runs on: nodes of a cluster seldom reach the internet
rule download_dataset:
    output:
        manifest="resources/downloads/{dataset}/manifest.json",
    log:
        "<logs>/download_dataset/{dataset}.log",
    localrule: True
    conda:
        "../envs/fieldwork.yaml"
    params:
        *code("puppets/download_dataset"),
        location=lambda wildcards: study.location(wildcards.dataset),
    script:
        "../scripts/puppets/download_dataset.py"


rule prepare_corpus:
    input:
        files=lambda wildcards: study.source(wildcards.corpus),
    output:
        conversations="<results>/corpus/{corpus}/conversations.parquet",
        funnel="<results>/corpus/{corpus}/funnel.csv",
    log:
        "<logs>/prepare_corpus/{corpus}.log",
    conda:
        "../envs/fieldwork.yaml"
    threads: 2
    resources:
        mem_mb=8192,
        runtime=240,
    params:
        *code("puppets/prepare_corpus"),
        reading=lambda wildcards: study.reading(wildcards.corpus),
        key_file=lambda wildcards: key_file_of(config, config["corpora"][wildcards.corpus]),
        filters=lambda wildcards: filters_of(config, wildcards.corpus),
    script:
        "../scripts/puppets/prepare_corpus.py"


# by conversation id, so that data added to the corpus changes no shard's other conversations
scattergather:
    embedding=config["embedding"]["shards"],


# Nothing is embedded and nothing is asked before it is known that there are enough puppets. What is needed is a
# resource and no param: another need is checked when the config is read, and counts nothing anew.
rule count_puppets:
    input:
        corpora=[f"<results>/corpus/{corpus}/conversations.parquet" for corpus in study.corpora()],
        personas=study.personas(),
    output:
        counts="<results>/puppets.csv",
    log:
        "<logs>/count_puppets.log",
    localrule: True
    conda:
        "../envs/fieldwork.yaml"
    resources:
        needs=json.dumps(study.needs()),
    params:
        *code("puppets/count_puppets"),
        persona_source=config["profiles"]["personas"],
        filters=needed_filters(study.needs()),
    script:
        "../scripts/puppets/count_puppets.py"


rule split_corpus:
    input:
        conversations="<results>/corpus/{corpus}/conversations.parquet",
        puppets=study.puppet_counts(),
    output:
        temp(scatter.embedding("<results>/embeddings/{{corpus}}/texts/{scatteritem}.parquet")),
    log:
        "<logs>/split_corpus/{corpus}.log",
    conda:
        "../envs/fieldwork.yaml"
    params:
        *code("puppets/split_corpus"),
        text=config["embedding"]["text"],
    script:
        "../scripts/puppets/split_corpus.py"


# Once in a study, for all its shards, nodes and later runs: what is measured is kept in
# resources/precision/{study}.json, which no run deletes. It runs where texts are encoded, as Snakemake's own machine
# may be another one. Only a study whose precision is `auto` has this job.
rule choose_precision:
    input:
        conversations=study.resolve("resources/sample/conversations.parquet"),
    output:
        encoder=report(
            "<results>/encoder.csv",
            caption="../report/encoder.rst",
            category="Provenance",
            labels={"record": "precision of the encoder"},
        ),
    log:
        "<logs>/choose_precision.log",
    conda:
        "../envs/fieldwork.yaml"
    threads: config["embedding"]["threads"]
    resources:
        gpu=study.gpus(),
    params:
        *code("puppets/choose_precision"),
        study=study.name,
        embedding=config["embedding"],
    script:
        "../scripts/puppets/choose_precision.py"


rule embed_corpus:
    input:
        texts="<results>/embeddings/{corpus}/texts/{scatteritem}.parquet",
        encoder_choice=encoder_choice(study),
    output:
        shard="<results>/embeddings/{corpus}/shards/{scatteritem}.parquet",
    log:
        "<logs>/embed_corpus/{corpus}/{scatteritem}.log",
    conda:
        "../envs/fieldwork.yaml"
    threads: config["embedding"]["threads"]
    resources:
        runtime=1440,
        gpu=study.gpus(),
    params:
        *code("puppets/embed_corpus"),
        embedding=config["embedding"],
    script:
        "../scripts/puppets/embed_corpus.py"


rule build_profiles:
    input:
        personas=lambda wildcards: study.source(config["profiles"]["personas"]["dataset"]),
        sentences=lambda wildcards: study.source(config["profiles"]["sentences"]["dataset"]),
        template=study.resolve(config["profiles"]["template"]),
    output:
        profiles=PROFILES,
    log:
        "<logs>/build_profiles.log",
    conda:
        "../envs/fieldwork.yaml"
    params:
        *code("puppets/build_profiles"),
        settings=config["profiles"],
        n_profiles=max(config["tasks"][task]["runs"] for task in study.tasks),
        seed=config["study"]["seed"],
    script:
        "../scripts/puppets/build_profiles.py"


rule build_contexts:
    input:
        unpack(lambda wildcards: study.context_inputs(wildcards.condition, gather.embedding)),
        puppets=study.puppet_counts(),
        encoder_choice=lambda wildcards: encoder_choice(study, wildcards.condition),
    output:
        contexts="<results>/contexts/{task}/{condition}.parquet",
    log:
        "<logs>/build_contexts/{task}/{condition}.log",
    conda:
        "../envs/fieldwork.yaml"
    threads: config["embedding"]["threads"]
    resources:
        runtime=120,
        gpu=lambda wildcards: study.gpus(wildcards.condition),
    params:
        *code("puppets/build_contexts"),
        settings=lambda wildcards: study.context_settings(wildcards.condition),
        number=lambda wildcards: context_number(config, wildcards.condition),
        n_puppets=lambda wildcards: study.task(wildcards.task)["runs"],
        embedding=config["embedding"],
        seed=config["study"]["seed"],
    script:
        "../scripts/puppets/build_contexts.py"
