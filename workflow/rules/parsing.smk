# Reading answers. In: responses, and the field's answers. Out: <results>/answers.


# all conditions of a model and task: reading them costs less than starting a process for each
rule parse_answers:
    input:
        responses=study.tables("responses", ["{model}"], ["{task}"]),
        questions="<results>/tasks/{task}.parquet",
        overrides=config["parsing"]["overrides"] or [],
    output:
        answers=study.tables("answers/parsed", ["{model}"], ["{task}"]),
        forms=study.tables("answers/forms", ["{model}"], ["{task}"]),
    log:
        "<logs>/parse_answers/{model}/{task}.log",
    wildcard_constraints:
        task=any_of(study.tasks),
    conda:
        "../envs/fieldwork.yaml"
    params:
        *code("parsing/parse_answers"),
        value_rules=ValueRules.part_of(config["parsing"]),
    script:
        "../scripts/parsing/parse_answers.py"


# of auxiliary tasks, each under a condition of its own, and of what a study does not select
rule parse_auxiliary:
    input:
        responses="<results>/responses/{model}/{task}/{condition}.parquet",
        questions="<results>/tasks/{task}.parquet",
        overrides=config["parsing"]["overrides"] or [],
    output:
        answers="<results>/answers/parsed/{model}/{task}/{condition}.parquet",
        forms="<results>/answers/forms/{model}/{task}/{condition}.parquet",
    log:
        "<logs>/parse_auxiliary/{model}/{task}/{condition}.log",
    conda:
        "../envs/fieldwork.yaml"
    params:
        *code("parsing/parse_answers"),
        value_rules=ValueRules.part_of(config["parsing"]),
    script:
        "../scripts/parsing/parse_answers.py"


ruleorder: parse_answers > parse_auxiliary


rule canonicalise_answers:
    input:
        parsed_answers=study.tables("answers/parsed"),
        field=study.has("field", "<results>/answers/field.parquet"),
        aliases=study.optional_file(config["parsing"]["aliases"]),
        overrides=config["parsing"]["overrides"] or [],
        questions=study.has("field", study.task_tables()),
    output:
        answers=ANSWERS,
        merges=report(
            "<results>/answers/items.csv",
            caption="../report/items.rst",
            category="Answers",
            labels={"table": "how written options were merged"},
        ),
    log:
        "<logs>/canonicalise_answers.log",
    conda:
        "../envs/fieldwork.yaml"
    resources:
        mem_mb=8192,
    params:
        *code("parsing/canonicalise_answers"),
        naming=NameRules.part_of(config["parsing"]),
        smallest_cell=config["metrics"]["smallest_cell"],
    script:
        "../scripts/parsing/canonicalise_answers.py"
