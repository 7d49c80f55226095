# Judgements of people and models. In: what the study made (attributes, answers), and the files of
# `judging.sources`. Out: <results>/judging, the questions to model judges in <results>/tasks, and the tables that
# set raters beside each other. For people: <results>/review_kit, what they judge with.


rule review_kit:
    input:
        "<results>/review_kit/review.html",
        "<results>/review_kit/precision.md",


rule draw_units:
    input:
        attributes=lambda wildcards: unit_inputs(config, wildcards.units)["attributes"],
        conversations=lambda wildcards: unit_inputs(config, wildcards.units)["conversations"],
        questions=lambda wildcards: unit_inputs(config, wildcards.units)["questions"],
        responses=lambda wildcards: unit_inputs(config, wildcards.units)["responses"],
        groups=study.optional_file(judging["groups"]),
    output:
        texts="<results>/judging/texts/{units}.parquet",
    log:
        "<logs>/draw_units/{units}.log",
    wildcard_constraints:
        units=any_of(judging["units"]),
    conda:
        "../envs/fieldwork.yaml"
    params:
        *code("judging/draw_units"),
        key_file=key_file_of(config, config["corpora"][memory_corpus(config)]),
        kind=lambda wildcards: judging["units"][wildcards.units]["of"],
        settings=lambda wildcards: unit_settings(config, wildcards.units),
    script:
        "../scripts/judging/draw_units.py"


rule prepare_judging:
    input:
        texts="<results>/judging/texts/{units}.parquet",
        template=lambda wildcards: study.resolve(judge_prompt(config, wildcards.units)),
    output:
        questions=f"<results>/tasks/{judge_task('{units}')}.parquet",
    log:
        "<logs>/prepare_judging/{units}.log",
    wildcard_constraints:
        units=any_of([*judged_by_models(config), *refined_units(config)]),
    conda:
        "../envs/fieldwork.yaml"
    params:
        *code("judging/prepare_judging"),
        scale=lambda wildcards: unit_scale(config, wildcards.units),
    script:
        "../scripts/judging/prepare_judging.py"


rule collect_judgements:
    input:
        texts="<results>/judging/texts/{units}.parquet",
        parsed_answers=lambda wildcards: judges_answers(config, wildcards.units),
    output:
        judgements="<results>/judging/models/{units}.parquet",
    log:
        "<logs>/collect_judgements/{units}.log",
    wildcard_constraints:
        units=any_of([*judged_by_models(config), *refined_units(config)]),
    conda:
        "../envs/fieldwork.yaml"
    params:
        *code("judging/collect_judgements"),
        scale=lambda wildcards: unit_scale(config, wildcards.units),
    script:
        "../scripts/judging/collect_judgements.py"


rule make_review_kit:
    input:
        unit_texts=unit_tables(config),
        page=study.resolve("resources/pages/answer_page.html"),
        page_style=study.resolve("resources/pages/answer_page.css"),
        page_script=study.resolve("resources/pages/answer_page.js"),
        content=study.resolve("resources/review_kit/content.html"),
        content_style=study.resolve("resources/review_kit/content.css"),
        content_script=study.resolve("resources/review_kit/content.js"),
        shipped_texts=str(HOME / "resources/review_kit/texts_en.yaml"),
        texts=study.resolve(judging["kit"]["texts"]),
        consent=study.resolve(judging["kit"]["consent"]),
        readme_template=study.resolve("resources/review_kit/kit_readme.md"),
    output:
        page="<results>/review_kit/review.html",
        page_map="<results>/review_kit/review_page.yaml",
        sheet_map="<results>/review_kit/review_spreadsheets.yaml",
        label_studio_map="<results>/review_kit/review_label_studio.yaml",
        readme="<results>/review_kit/README.md",
        allocation="<results>/review_kit/allocation.csv",
        spreadsheets=directory("<results>/review_kit/spreadsheets"),
        label_studio=directory("<results>/review_kit/label_studio"),
    log:
        "<logs>/make_review_kit.log",
    conda:
        "../envs/fieldwork.yaml"
    params:
        *code("judging/make_review_kit"),
        study_name=study.name,
        entries=judging["units"],
        scales=named_scales(config),
        sharing=UnitSharing.part_of(judging["kit"]),
        seed=config["study"]["seed"],
    script:
        "../scripts/judging/make_review_kit.py"


rule plan_raters:
    output:
        precision="<results>/review_kit/precision.csv",
        page="<results>/review_kit/precision.md",
    log:
        "<logs>/plan_raters.log",
    conda:
        "../envs/fieldwork.yaml"
    params:
        *code("judging/plan_raters"),
        assumptions=config["power"]["raters"],
        sharing=UnitSharing.part_of(judging["kit"]),
    script:
        "../scripts/judging/plan_raters.py"


rule import_judgements:
    input:
        # a function, as Snakemake's report prints the names of inputs that are written out
        files=lambda wildcards: judgement_files(config, study.resolve),
        texts=unit_tables(config),
        model_judgements=[
            f"<results>/judging/models/{units}.parquet" for units in judged_by_models(config)
        ],
    output:
        judgements="<results>/judging/judgements.parquet",
        units="<results>/judging/units.parquet",
    log:
        "<logs>/import_judgements.log",
    priority: 100
    conda:
        "../envs/fieldwork.yaml"
    params:
        *code("judging/import_judgements"),
        sources=judgement_sources(config, study.resolve),
        scales=named_scales(config),
        key_file=judging["key_file"],
    script:
        "../scripts/judging/import_judgements.py"


# the judgements of one kind of units alone: attributes are selected by them before there are any answers
rule import_part:
    input:
        files=lambda wildcards: judgement_files(config, study.resolve, is_given=True),
        texts="<results>/judging/texts/{units}.parquet",
        model_judgements=lambda wildcards: [
            f"<results>/judging/models/{name}.parquet"
            for name in judged_by_models(config)
            if name == wildcards.units
        ],
    output:
        judgements="<results>/judging/parts/{units}.parquet",
    log:
        "<logs>/import_part/{units}.log",
    wildcard_constraints:
        units=any_of(judging["units"]),
    priority: 100
    conda:
        "../envs/fieldwork.yaml"
    params:
        *code("judging/import_part"),
        sources=judgement_sources(config, study.resolve, is_given=True),
        scales=named_scales(config),
        key_file=judging["key_file"],
    script:
        "../scripts/judging/import_part.py"


rule learn_scores:
    input:
        texts="<results>/judging/texts/{units}.parquet",
        judgements="<results>/judging/parts/{units}.parquet",
        encoder_choice=encoder_choice(study),
    output:
        scores="<results>/judging/learnt/{units}.parquet",
    log:
        "<logs>/learn_scores/{units}.log",
    wildcard_constraints:
        units=any_of(judging["learn"]),
    conda:
        "../envs/fieldwork.yaml"
    threads: config["embedding"]["threads"]
    params:
        *code("judging/learn_scores"),
        scale=lambda wildcards: unit_scale(config, wildcards.units),
        embedding=config["embedding"],
    script:
        "../scripts/judging/learn_scores.py"


rule measure_interventions:
    input:
        scores=[f"<results>/judging/learnt/{units}.parquet" for units in judging["learn"]],
        verifications=verification_tables(config),
        rechecks=[f"<results>/judging/models/{units}.parquet" for units in refined_units(config)],
    output:
        **metric_tables("interventions"),
    log:
        "<logs>/measure_interventions.log",
    conda:
        "../envs/fieldwork.yaml"
    params:
        *code("judging/measure_interventions"),
        kinds=dict((name, judging["units"][name]["of"]) for name in judging["learn"]),
        verifying_units=(config["memory"]["verify"] or {}).get("units"),
        scale=verifying_scale(config),
        rarest_users=config["metrics"]["rarest_users"],
    script:
        "../scripts/judging/measure_interventions.py"


rule measure_judgements:
    input:
        judgement_table="<results>/judging/judgements.parquet",
        unit_table="<results>/judging/units.parquet",
    output:
        **metric_tables("judgements", "alternative_annotators"),
    log:
        "<logs>/measure_judgements.log",
    conda:
        "../envs/fieldwork.yaml"
    params:
        *code("judging/measure_judgements"),
        scales=named_scales(config),
        rarest_users=config["metrics"]["rarest_users"],
    script:
        "../scripts/judging/measure_judgements.py"


rule plot_raters:
    input:
        judgements="<results>/metrics/judgements.parquet",
        style_sheet=study.resolve("resources/figures.mplstyle"),
    output:
        **figure_files("raters", "What people and models say of the answers"),
    log:
        "<logs>/plot_raters.log",
    conda:
        "../envs/fieldwork.yaml"
    params:
        *code("judging/plot_raters"),
        drawing=arms.rater_drawing(study),
        scales=named_scales(config),
    script:
        "../scripts/judging/plot_raters.py"
