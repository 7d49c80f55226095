# Real users. In: the files of `field`, or an OSF project. Out: <results>/field and
# <results>/answers/field.parquet; from there on the field is a condition like any other. A download goes to
# resources/downloads/osf. Before there are any answers: <results>/field_kit, what a field study is made with.


rule field_kit:
    input:
        "<results>/field_kit/survey.html",
        "<results>/field_kit/README.md",


rule make_field_kit:
    input:
        questions=[f"<results>/tasks/{task}.parquet" for task in survey_tasks(config)],
        power="<results>/power/power.parquet",
        advice="<results>/power/advice.csv",
        page=study.resolve("resources/pages/answer_page.html"),
        page_style=study.resolve("resources/pages/answer_page.css"),
        page_script=study.resolve("resources/pages/answer_page.js"),
        content=study.resolve("resources/field_kit/content.html"),
        content_script=study.resolve("resources/field_kit/content.js"),
        shipped_texts=str(HOME / "resources/field_kit/texts_en.yaml"),
        texts=study.resolve(config["field_kit"]["texts"]),
        consent=study.resolve(config["field_kit"]["consent"]),
        information_template=study.resolve("resources/field_kit/information.md"),
        readme_template=study.resolve("resources/field_kit/kit_readme.md"),
    output:
        survey="<results>/field_kit/survey.html",
        qualtrics="<results>/field_kit/survey_qualtrics.txt",
        page_map="<results>/field_kit/field_page.yaml",
        qualtrics_map="<results>/field_kit/field_qualtrics.yaml",
        information="<results>/field_kit/information.md",
        size="<results>/field_kit/sample_size.md",
        size_csv="<results>/field_kit/sample_size.csv",
        readme="<results>/field_kit/README.md",
    log:
        "<logs>/make_field_kit.log",
    conda:
        "../envs/fieldwork.yaml"
    params:
        *code("field/make_field_kit", *MEASURES),
        settings=config["field_kit"],
        labels=study.model_labels(),
        name=study.name,
    script:
        "../scripts/field/make_field_kit.py"


# first of all, so that a project that cannot be read stops the study before models are paid
rule download_field:
    output:
        manifest="resources/downloads/osf/{node}/manifest.json",
    log:
        "<logs>/download_field/{node}.log",
    priority: 100
    localrule: True
    conda:
        "../envs/fieldwork.yaml"
    params:
        *code("field/download_field"),
        location=lambda wildcards: config["field"]["osf"],
    script:
        "../scripts/field/download_field.py"


rule import_field:
    input:
        # a function, as Snakemake's report prints the names of inputs that are written out
        files=lambda wildcards: field_files(config),
        questions=study.task_tables(),
        deletions=ancient(study.deletions()),
    output:
        answers="<results>/field/answers.parquet",
        participants="<results>/field/participants.parquet",
        quality=report(
            "<results>/field/quality.csv",
            caption="../report/field_quality.rst",
            category="Field",
            labels={"table": "what the checks flagged"},
        ),
        attrition=report(
            "<results>/field/attrition.csv",
            caption="../report/field_attrition.rst",
            category="Field",
            labels={"table": "participants lost"},
        ),
    log:
        "<logs>/import_field.log",
    priority: 100
    conda:
        "../envs/fieldwork.yaml"
    params:
        *code("field/import_field"),
        field=lambda wildcards: config["field"],
        labels=study.model_labels(),
        seed=config["study"]["seed"],
    script:
        "../scripts/field/import_field.py"


# a participant asks for it; by hand, never part of a study: it deletes, also what the rules above made
rule forget:
    log:
        "<logs>/forget.log",
    localrule: True
    conda:
        "../envs/fieldwork.yaml"
    params:
        *code("field/forget"),
        field=lambda wildcards: config["field"],
        # before this run is recorded as the one in this folder
        lock=lambda wildcards: lock_state(Path()),
    script:
        "../scripts/field/forget.py"


rule parse_field:
    input:
        field_answers="<results>/field/answers.parquet",
        questions=study.task_tables(),
        overrides=config["parsing"]["overrides"] or [],
    output:
        answers="<results>/answers/field.parquet",
    log:
        "<logs>/parse_field.log",
    conda:
        "../envs/fieldwork.yaml"
    params:
        *code("field/parse_field"),
        value_rules=ValueRules.part_of(config["parsing"]),
    script:
        "../scripts/field/parse_field.py"


rule read_field_forms:
    input:
        field_answers="<results>/field/answers.parquet",
        questions=study.task_tables(),
    output:
        forms="<results>/answers/forms/field.parquet",
    log:
        "<logs>/read_field_forms.log",
    conda:
        "../envs/fieldwork.yaml"
    params:
        *code("field/read_field_forms"),
    script:
        "../scripts/field/read_field_forms.py"


rule measure_groups:
    input:
        answers=ANSWERS,
        participants="<results>/field/participants.parquet",
        questions=study.task_tables(),
    output:
        **metric_tables("groups", "group_differences"),
    log:
        "<logs>/measure_groups.log",
    conda:
        "../envs/fieldwork.yaml"
    params:
        *code("field/measure_groups"),
        rarest_users=config["metrics"]["rarest_users"],
        smallest_cell=config["metrics"]["smallest_cell"],
        permutations=config["metrics"]["permutations"],
        seed=config["study"]["seed"],
    script:
        "../scripts/field/measure_groups.py"


rule measure_agreement:
    input:
        answers=ANSWERS,
        questions=study.task_tables(),
    output:
        **metric_tables("rank_agreement", "item_agreement"),
    log:
        "<logs>/measure_agreement.log",
    conda:
        "../envs/fieldwork.yaml"
    params:
        *code("field/measure_agreement"),
        rarest_users=config["metrics"]["rarest_users"],
        permutations=config["metrics"]["permutations"],
        seed=config["study"]["seed"],
    script:
        "../scripts/field/measure_agreement.py"


rule measure_calibration:
    input:
        answers=ANSWERS,
        weights=study.optional_file(config["calibration"]["weights"]),
    output:
        **metric_tables("calibration", "calibration_weights", "calibrated_shares"),
    log:
        "<logs>/measure_calibration.log",
    conda:
        "../envs/fieldwork.yaml"
    params:
        *code("field/measure_calibration"),
        settings=study.calibration(),
        baseline=study.baseline,
    script:
        "../scripts/field/measure_calibration.py"
