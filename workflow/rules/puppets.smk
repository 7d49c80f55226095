# Simulated users. In: the corpora that conditions name, and the persona sources. Out: <results>/corpus,
# <results>/embeddings, <results>/personas, <results>/contexts; downloads go to resources/downloads.


# on the machine that Snakemake runs on: nodes of a cluster seldom reach the internet
rule download_dataset:
    output:
        manifest="resources/downloads/{dataset}/manifest.json",
    log:
        "<logs>/download_dataset/{dataset}.log",
    localrule: True
    conda:
        "../envs/fieldwork.yaml"
    resources:
        mem_mb=2048,
        runtime=720,
    params:
        code=code("download_dataset"),
        location=lambda wildcards: location_of(config, wildcards.dataset),
    script:
        "../scripts/download_dataset.py"


rule prepare_corpus:
    input:
        files=lambda wildcards: source(wildcards.corpus),
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
        code=code("prepare_corpus"),
        format=lambda wildcards: config["corpora"][wildcards.corpus]["format"],
        filters=lambda wildcards: filters_of(config, wildcards.corpus),
    script:
        "../scripts/prepare_corpus.py"


# by conversation id, so that data added to the corpus changes no shard's other conversations
scattergather:
    embedding=config["embedding"]["shards"],


rule split_corpus:
    input:
        conversations="<results>/corpus/{corpus}/conversations.parquet",
    output:
        temp(scatter.embedding("<results>/embeddings/{{corpus}}/texts/{scatteritem}.parquet")),
    log:
        "<logs>/split_corpus/{corpus}.log",
    conda:
        "../envs/fieldwork.yaml"
    resources:
        mem_mb=4096,
        runtime=60,
    params:
        code=code("split_corpus"),
        text=config["embedding"]["text"],
    script:
        "../scripts/split_corpus.py"


rule embed_corpus:
    input:
        texts="<results>/embeddings/{corpus}/texts/{scatteritem}.parquet",
    output:
        shard="<results>/embeddings/{corpus}/shards/{scatteritem}.parquet",
    log:
        "<logs>/embed_corpus/{corpus}/{scatteritem}.log",
    conda:
        "../envs/fieldwork.yaml"
    threads: config["embedding"]["threads"]
    resources:
        mem_mb=4096,
        runtime=1440,
        gpu=gpus(),
    params:
        code=code("embed_corpus"),
        embedding=config["embedding"],
    script:
        "../scripts/embed_corpus.py"


rule build_profiles:
    input:
        personas=source(config["profiles"]["personas"]["dataset"]),
        sentences=source(config["profiles"]["sentences"]["dataset"]),
        template=shipped(config["profiles"]["template"]),
    output:
        profiles="<results>/personas/profiles.parquet",
    log:
        "<logs>/build_profiles.log",
    conda:
        "../envs/fieldwork.yaml"
    resources:
        mem_mb=4096,
        runtime=30,
    params:
        code=code("build_profiles"),
        personas_column=config["profiles"]["personas"]["column"],
        sentences_column=config["profiles"]["sentences"]["column"],
        sentences_per_profile=config["profiles"]["sentences_per_profile"],
        n_profiles=max(config["tasks"][task]["runs"] for task in config["study"]["tasks"]),
        seed=config["study"]["seed"],
    script:
        "../scripts/build_profiles.py"


rule build_contexts:
    input:
        unpack(context_inputs),
    output:
        contexts="<results>/contexts/{task}/{condition}.parquet",
    log:
        "<logs>/build_contexts/{task}/{condition}.log",
    conda:
        "../envs/fieldwork.yaml"
    threads: config["embedding"]["threads"]
    resources:
        mem_mb=4096,
        runtime=120,
        gpu=lambda wildcards: gpus() * retrieves(wildcards),
    params:
        code=code("build_contexts"),
        condition=lambda wildcards: by_wildcard("conditions", wildcards),
        n_puppets=lambda wildcards: by_wildcard("tasks", wildcards)["runs"],
        embedding=config["embedding"],
        seed=config["study"]["seed"],
    script:
        "../scripts/build_contexts.py"
