# Real users. In: the files of `field`, or an OSF project. Out: <results>/field and
# <results>/answers/field.parquet; from there on the field is a condition like any other. A download goes to resources/downloads/osf. Before there are any
# answers: <results>/field_kit, what a field study is made with.


rule field_kit:
    input:
        "<results>/field_kit/survey.html",
        "<results>/field_kit/README.md",


rule make_field_kit:
    input:
        tasks=expand("<results>/tasks/{task}.parquet", task=kit_tasks()),
        power="<results>/power/power.parquet",
        advice="<results>/power/advice.csv",
        page=shipped("resources/field_kit/page.html"),
        style=shipped("resources/field_kit/page.css"),
        script=shipped("resources/field_kit/page.js"),
        shipped_texts=str(HOME / "resources/field_kit/texts_en.yaml"),
        texts=shipped(config["field_kit"]["texts"]),
        consent=shipped(config["field_kit"]["consent"]),
        information=shipped("resources/field_kit/information.md"),
        readme=shipped("resources/field_kit/kit_readme.md"),
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
    resources:
        mem_mb=2048,
        runtime=10,
    params:
        code=code("make_field_kit"),
        tasks=kit_tasks(),
        settings=config["field_kit"],
        labels=drawing()["models"],
        name=config["study"]["name"],
    script:
        "../scripts/make_field_kit.py"


# first of all, so that a project that cannot be read is told before models are paid
rule download_field:
    output:
        manifest="resources/downloads/osf/{node}/manifest.json",
    log:
        "<logs>/download_field/{node}.log",
    priority: 100
    localrule: True
    conda:
        "../envs/fieldwork.yaml"
    resources:
        mem_mb=2048,
        runtime=720,
    params:
        code=code("download_field"),
        location=lambda wildcards: config["field"]["osf"],
    script:
        "../scripts/download_field.py"


rule import_field:
    input:
        files=field_files(config),
        tasks=expand("<results>/tasks/{task}.parquet", task=config["study"]["tasks"]),
        deletions=ancient(deletions()),
    output:
        answers="<results>/field/answers.parquet",
        participants="<results>/field/participants.parquet",
        quality=report(
            "<results>/field/quality.csv",
            caption="../report/field_quality.rst",
            category="Field",
            labels={"table": "what the checks found"},
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
    resources:
        mem_mb=4096,
        runtime=60,
    params:
        code=code("import_field"),
        tasks=config["study"]["tasks"],
        field=lambda wildcards: config["field"],
        labels=drawing()["models"],
        seed=config["study"]["seed"],
    script:
        "../scripts/import_field.py"


# a participant asks for it; by hand, never part of a study: it deletes, also what the rules above made
rule forget:
    log:
        "<logs>/forget.log",
    localrule: True
    conda:
        "../envs/fieldwork.yaml"
    resources:
        mem_mb=4096,
        runtime=720,
    params:
        code=code("forget"),
        field=lambda wildcards: config["field"],
        # before this run is recorded as the one in this folder
        lock=lambda wildcards: lock_state(Path()),
    script:
        "../scripts/forget.py"


rule parse_field:
    input:
        answers="<results>/field/answers.parquet",
        tasks=expand("<results>/tasks/{task}.parquet", task=config["study"]["tasks"]),
    output:
        answers="<results>/answers/field.parquet",
    log:
        "<logs>/parse_field.log",
    conda:
        "../envs/fieldwork.yaml"
    resources:
        mem_mb=2048,
        runtime=30,
    params:
        code=code("parse_field"),
        tasks=config["study"]["tasks"],
    script:
        "../scripts/parse_field.py"


rule measure_groups:
    input:
        answers="<results>/answers/answers.parquet",
        participants="<results>/field/participants.parquet",
        task=expand("<results>/tasks/{task}.parquet", task=config["study"]["tasks"]),
    output:
        groups="<results>/metrics/groups.parquet",
        groups_csv=report(
            "<results>/metrics/groups.csv",
            caption="../report/groups.rst",
            category="Field",
            labels={"table": "metrics by group of participants"},
        ),
        differences="<results>/metrics/group_differences.parquet",
        differences_csv=report(
            "<results>/metrics/group_differences.csv",
            caption="../report/group_differences.rst",
            category="Field",
            labels={"table": "differences between groups"},
        ),
    log:
        "<logs>/measure_groups.log",
    conda:
        "../envs/fieldwork.yaml"
    resources:
        mem_mb=4096,
        runtime=60,
    params:
        code=code("measure_groups"),
        tasks=config["study"]["tasks"],
        permutations=config["metrics"]["permutations"],
        seed=config["study"]["seed"],
    script:
        "../scripts/measure_groups.py"


rule measure_agreement:
    input:
        answers="<results>/answers/answers.parquet",
        task=expand("<results>/tasks/{task}.parquet", task=config["study"]["tasks"]),
    output:
        ranks="<results>/metrics/rank_agreement.parquet",
        ranks_csv=report(
            "<results>/metrics/rank_agreement.csv",
            caption="../report/rank_agreement.rst",
            category="Field",
            labels={"table": "are prompts ranked as in the field"},
        ),
        near="<results>/metrics/item_agreement.parquet",
        near_csv=report(
            "<results>/metrics/item_agreement.csv",
            caption="../report/item_agreement.rst",
            category="Field",
            labels={"table": "how near answers are to the field's"},
        ),
    log:
        "<logs>/measure_agreement.log",
    conda:
        "../envs/fieldwork.yaml"
    resources:
        mem_mb=4096,
        runtime=60,
    params:
        code=code("measure_agreement"),
        tasks=config["study"]["tasks"],
        permutations=config["metrics"]["permutations"],
        seed=config["study"]["seed"],
    script:
        "../scripts/measure_agreement.py"


rule plot_field_ranks:
    input:
        near="<results>/metrics/item_agreement.parquet",
        ranks="<results>/metrics/rank_agreement.parquet",
        task=expand("<results>/tasks/{task}.parquet", task=config["study"]["tasks"]),
        style=shipped("resources/figures.mplstyle"),
    output:
        pdf="<results>/figures/field_ranks.pdf",
        svg=report(
            "<results>/figures/field_ranks.svg",
            caption="../report/field_ranks.rst",
            category="Figures",
            labels={"figure": "prompts ranked by the field and by each condition"},
        ),
        png="<results>/figures/field_ranks.png",
    log:
        "<logs>/plot_field_ranks.log",
    conda:
        "../envs/fieldwork.yaml"
    resources:
        mem_mb=2048,
        runtime=10,
    params:
        code=code("plot_field_ranks"),
        tasks=config["study"]["tasks"],
        drawing=drawing(),
    script:
        "../scripts/plot_field_ranks.py"


rule measure_calibration:
    input:
        answers="<results>/answers/answers.parquet",
        weights=[path for path in [config["calibration"]["weights"]] if path],
    output:
        calibration="<results>/metrics/calibration.parquet",
        calibration_csv=report(
            "<results>/metrics/calibration.csv",
            caption="../report/calibration.rst",
            category="Field",
            labels={"table": "calibration on held-out prompts"},
        ),
        calibration_items="<results>/metrics/calibration_items.parquet",
        calibration_items_csv="<results>/metrics/calibration_items.csv",
        calibration_weights="<results>/metrics/calibration_weights.parquet",
        calibration_weights_csv=report(
            "<results>/metrics/calibration_weights.csv",
            caption="../report/calibration_weights.rst",
            category="Field",
            labels={"table": "weights of conditions and puppets"},
        ),
        calibrated_shares="<results>/metrics/calibrated_shares.parquet",
        calibrated_shares_csv=report(
            "<results>/metrics/calibrated_shares.csv",
            caption="../report/calibrated_shares.rst",
            category="Field",
            labels={"table": "shares of answers, as calibrated"},
        ),
    log:
        "<logs>/measure_calibration.log",
    conda:
        "../envs/fieldwork.yaml"
    resources:
        mem_mb=4096,
        runtime=60,
    params:
        code=code("measure_calibration"),
        settings=calibrating(),
        baseline=config["metrics"]["baseline"],
    script:
        "../scripts/measure_calibration.py"


rule plot_calibration:
    input:
        calibration="<results>/metrics/calibration.parquet",
        style=shipped("resources/figures.mplstyle"),
    output:
        pdf="<results>/figures/calibration.pdf",
        svg=report(
            "<results>/figures/calibration.svg",
            caption="../report/calibration_figure.rst",
            category="Figures",
            labels={"figure": "calibration to the field"},
        ),
        png="<results>/figures/calibration.png",
    log:
        "<logs>/plot_calibration.log",
    conda:
        "../envs/fieldwork.yaml"
    resources:
        mem_mb=2048,
        runtime=10,
    params:
        code=code("plot_calibration"),
        drawing=drawing(),
    script:
        "../scripts/plot_calibration.py"


rule plot_field_groups:
    input:
        groups="<results>/metrics/groups.parquet",
        differences="<results>/metrics/group_differences.parquet",
        task=expand("<results>/tasks/{task}.parquet", task=config["study"]["tasks"]),
        style=shipped("resources/figures.mplstyle"),
    output:
        pdf="<results>/figures/field_groups.pdf",
        svg=report(
            "<results>/figures/field_groups.svg",
            caption="../report/field_groups.rst",
            category="Figures",
            labels={"figure": "how varied the answers of groups of participants are"},
        ),
        png="<results>/figures/field_groups.png",
    log:
        "<logs>/plot_field_groups.log",
    conda:
        "../envs/fieldwork.yaml"
    resources:
        mem_mb=2048,
        runtime=10,
    params:
        code=code("plot_field_groups"),
        tasks=config["study"]["tasks"],
        drawing=drawing(),
    script:
        "../scripts/plot_field_groups.py"
