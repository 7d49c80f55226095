# Real users' answers. In: resources/field and the task tables. Out: results/field, results/field_kit.


rule field_kit:
    input:
        "results/field_kit/survey.html",
        "results/field_kit/README.md",


rule make_field_kit:
    input:
        tasks=expand("results/tasks/{task}.parquet", task=kit_tasks()),
        power="results/power/power.parquet",
        advice="results/power/advice.csv",
        page=shipped("resources/field_kit/page.html"),
        style=shipped("resources/field_kit/page.css"),
        script=shipped("resources/field_kit/page.js"),
        shipped_texts=str(HOME / "resources/field_kit/texts_en.yaml"),
        texts=shipped(config["field_kit"]["texts"]),
        consent=shipped(config["field_kit"]["consent"]),
        information=shipped("resources/field_kit/information.md"),
        readme=shipped("resources/field_kit/kit_readme.md"),
    output:
        survey="results/field_kit/survey.html",
        qualtrics="results/field_kit/survey_qualtrics.txt",
        page_map="results/field_kit/field_page.yaml",
        qualtrics_map="results/field_kit/field_qualtrics.yaml",
        information="results/field_kit/information.md",
        size="results/field_kit/sample_size.md",
        size_csv="results/field_kit/sample_size.csv",
        readme="results/field_kit/README.md",
    log:
        "logs/make_field_kit.log",
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
