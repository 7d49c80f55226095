# What a reader opens. In: every table. Out: <results>/study.duckdb, <results>/findings.md, the study's page
# <results>/explorer and <results>/provenance; `snakemake --report <results>/report.zip` packs figures, tables and these.


rule build_database:
    input:
        conversations=[
            f"<results>/corpus/{corpus}/conversations.parquet" for corpus in study.corpora()
        ],
        profiles=study.profiles(),
        questions=study.task_tables(),
        contexts=study.context_tables(),
        requests=study.request_tables(),
        responses=study.tables("responses"),
        answers=ANSWERS,
        answer_forms=study.form_tables(),
        field_answers=study.has("field", "<results>/field/answers.parquet"),
        field_participants=study.has("field", "<results>/field/participants.parquet"),
        single_judgements=study.has("judging", "<results>/judging/judgements.parquet"),
        judged_units=study.has("judging", "<results>/judging/units.parquet"),
        attributes=study.has("memory", "<results>/memory/attributes.parquet"),
        statements=study.has("memory", "<results>/memory/statements.parquet"),
        verifications=verification_tables(config),
        metrics=[*study.metric_tables(), CLAIMS],
    output:
        database="<results>/study.duckdb",
    log:
        "<logs>/build_database.log",
    conda:
        "../envs/fieldwork.yaml"
    params:
        *code("report/build_database"),
    script:
        "../scripts/report/build_database.py"


rule write_findings:
    input:
        answers=ANSWERS,
        responses=study.tables("responses"),
        metrics=[*study.metric_tables(), CLAIMS],
        questions=study.task_tables(),
        quality=study.has("field", "<results>/field/quality.csv"),
        preregistrations=study.preregistrations(),
        hashes="<results>/provenance/hashes.json" if study.preregistrations() else [],
    output:
        findings=report(
            "<results>/findings.md",
            caption="../report/findings.rst",
            category="Findings",
            labels={"text": "what the study found"},
        ),
    log:
        "<logs>/write_findings.log",
    conda:
        "../envs/fieldwork.yaml"
    params:
        *code("report/write_findings", *MEASURES),
        figures=study.figures(),
        study=outline.outline_settings(study),
        # the note on a preregistration names settings that have changed
        digest=digest(config) if study.preregistrations() else None,
    script:
        "../scripts/report/write_findings.py"


# the study's page alone, with what it needs: `snakemake explorer`
rule explorer:
    input:
        explorer.PAGE,
    localrule: True


rule write_explorer:
    input:
        answers=ANSWERS,
        merges="<results>/answers/items.csv",
        questions=study.task_tables(),
        responses=study.tables("responses"),
        contexts=study.context_tables(),
        corpora=explorer.page_corpora(study),
        accuracy_runs="<results>/metrics/accuracy_runs.parquet",
        field_answers=explorer.page_field_answers(study),
        findings="<results>/findings.md",
        figures=explorer.page_figures(study, "svg"),
        marks=explorer.page_figures(study, "marks.parquet"),
        page=explorer.template_file(study, "page.html"),
        style=explorer.template_file(study, "page.css"),
        scripts=explorer.template_scripts(study),
    output:
        folder=directory(explorer.PAGE),
    log:
        "<logs>/write_explorer.log",
    conda:
        "../envs/fieldwork.yaml"
    params:
        *code("report/write_explorer"),
        settings=explorer.page_settings(study, figure_titles),
    script:
        "../scripts/report/write_explorer.py"


# of a study that still runs; by hand, never part of it. It takes what is there, so it has no inputs, and is made
# anew whenever it is asked for, so it has no outputs: `snakemake --nolock explorer_so_far`
rule explorer_so_far:
    log:
        "<logs>/explorer_so_far.log",
    localrule: True
    conda:
        "../envs/fieldwork.yaml"
    params:
        *code("report/explorer_so_far"),
        folder=f"{study.results}/explorer_so_far",
        plan=explorer.unfinished_tables(study),
        settings=explorer.page_settings(study, figure_titles),
        reading=explorer.reading_settings(study),
        template=explorer.template_files(study),
    script:
        "../scripts/report/explorer_so_far.py"


# never part of `all`: `snakemake export`
rule export:
    input:
        "<results>/croissant.json",
        "<results>/export/data",
        "<results>/export/tables",


rule export_study:
    input:
        questions=study.task_tables(),
        responses=study.tables("responses"),
        answers=ANSWERS,
        accuracy=ESTIMATES_OF.format(question="accuracy"),
        # these tables are described too, and the database is made from all the others
        database="<results>/study.duckdb",
        marks=explorer.page_figures(study, "marks.parquet"),
    output:
        description="<results>/croissant.json",
        evaluations=directory("<results>/export/data"),
    log:
        "<logs>/export_study.log",
    conda:
        "../envs/fieldwork.yaml"
    params:
        *code("report/export_study"),
        label=study_label(study),
        models=study.entries("models"),
        temperatures=dict(
            (name, entry.get("temperature")) for name, entry in study.entries("conditions").items()
        ),
        max_tokens=dict((name, task["max_tokens"]) for name, task in study.entries("tasks").items()),
    script:
        "../scripts/report/export_study.py"


rule write_data_files:
    input:
        database="<results>/study.duckdb",
    output:
        folder=directory("<results>/export/tables"),
    log:
        "<logs>/write_data_files.log",
    conda:
        "../envs/fieldwork.yaml"
    params:
        *code("report/write_data_files"),
        settings=data_settings(study, study_label(study)["version"]),
    script:
        "../scripts/report/write_data_files.py"


# never part of `all`: `snakemake archive`
rule archive:
    input:
        archive.FOLDER,


# on the machine that Snakemake runs on: its environment has the keys that are looked for
rule archive_study:
    input:
        archived_files,
    output:
        archive=directory(archive.FOLDER),
    log:
        "<logs>/archive_study.log",
    localrule: True
    conda:
        "../envs/fieldwork.yaml"
    params:
        *code("report/archive_study"),
        label=study_label(study),
        home=str(HOME),
        digest=digest(config),
    script:
        "../scripts/report/archive_study.py"


# by hand, never part of a study; it has no outputs, as OSF knows what is there
rule upload_archive:
    input:
        archive=archive.FOLDER,
    log:
        "<logs>/upload_archive.log",
    localrule: True
    conda:
        "../envs/fieldwork.yaml"
    params:
        *code("report/upload_archive"),
        study_name=study.name,
        osf=config["archive"]["osf"],
    script:
        "../scripts/report/upload_archive.py"


# for preregistrations alone: what they are held to when findings are written
rule hash_study:
    input:
        questions=study.task_tables(),
        files=lambda wildcards: sum(deciding_files(study).values(), []),
    output:
        hashes="<results>/provenance/hashes.json",
    log:
        "<logs>/hash_study.log",
    conda:
        "../envs/fieldwork.yaml"
    params:
        *code("report/hash_study"),
        files_by_setting=lambda wildcards: deciding_files(study),
        downloads=lambda wildcards: downloads_at_commits(study),
        code_versions=lambda wildcards: part_versions(SCRIPTS, DECIDING_PARTS, NAMED_MODULES),
    script:
        "../scripts/report/hash_study.py"


# after the findings, so that it never says more of a study than its results show
rule record_provenance:
    input:
        requirements=study.resolve("requirements.txt"),
        findings="<results>/findings.md",
        database="<results>/study.duckdb",
    output:
        settings=report(
            "<results>/provenance/config.yaml",
            caption="../report/config.rst",
            category="Provenance",
            labels={"record": "merged config"},
        ),
        versions=report(
            "<results>/provenance/versions.csv",
            caption="../report/versions.rst",
            category="Provenance",
            labels={"record": "versions"},
        ),
    log:
        "<logs>/record_provenance.log",
    conda:
        "../envs/fieldwork.yaml"
    params:
        *code("report/record_provenance"),
        # the config itself would fill the terminal with every change
        digest=digest(config),
    script:
        "../scripts/report/record_provenance.py"
