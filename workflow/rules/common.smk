# Shared by the files beside this one. The checked config, look-ups in it by wildcard, and the versions of the code, so
# that jobs are done again when its meaning changes. Nothing scientific is imported here.

import json
import re
import subprocess
import sys
import time
from pathlib import Path

from snakemake.exceptions import WorkflowError
from snakemake.utils import min_version

min_version("9.0")

PARSED_AT = time.time()
HOME = Path(workflow.basedir)
sys.path.insert(0, str(HOME / "workflow" / "scripts"))

from fieldwork.config.layers import lay_over
from fieldwork.errors import StudyError
from fieldwork.config.field import DELETIONS_FILE, field_files
from fieldwork.config.figures import ranked_tasks, survey_tasks, task_of
from fieldwork.config.needs import are_small, needs_of
from fieldwork.provenance import code_version, digest
from fieldwork.run_record import lock_state, record_run
from fieldwork.config.settings import (
    arms_of,
    calibrated_of,
    check_config,
    check_own_name,
    controls_of,
    corpus_of,
    filters_of,
    reading_of,
    study_corpora,
)
from fieldwork.config.study_files import check_files, location_of, source_files

# a study folder made with --directory may have a config of its own; without one the shipped one holds
LOWEST = "config.yaml" if Path("config.yaml").exists() else str(HOME / "config.yaml")

try:
    layers = lay_over(
        [
            *([] if workflow.config_settings.replace_workflow_config else [LOWEST]),
            *workflow.overwrite_configfiles,
        ],
        workflow.config_settings.config,
    )
except StudyError as error:
    raise WorkflowError(str(error))


configfile: LOWEST


# Snakemake merges entries that share a name, of whatever kinds they are
config.clear()
config.update(layers.settings)


report: "../report/study.rst"


def shipped(path):
    """A file that comes with the workflow, unless the study folder has its own under the same name."""
    return path if Path(path).is_absolute() or Path(path).exists() else str(HOME / path)


def code(script):
    """Version of the code that `script` runs."""
    return code_version(HOME / "workflow" / "scripts" / f"{script}.py")


try:
    check_config(config, HOME / "workflow" / "schemas" / "config.schema.yaml", layers.places)
    check_own_name(workflow.config_settings.overwrite_config, workflow.overwrite_configfiles)
    check_files(config, shipped, layers.places)
except StudyError as error:
    raise WorkflowError(str(error))


# where the study's results are: `<results>` in the rules, so that studies in one folder stay apart
RESULTS = f"results/{config['study']['name']}"


pathvars:
    results=RESULTS,
    logs=f"logs/{config['study']['name']}",


def source(name):
    """Input files of an entry of `corpora` or `datasets`: those at its path, or its download."""
    try:
        return source_files(config, name, shipped)
    except StudyError as error:
        raise WorkflowError(str(error))


def item_sources(task):
    """The sources of a task's items, with the files each is read from."""
    return [
        {
            **part,
            "files": source(part["dataset"]),
            "candidates": shipped(part["candidates"]) if part["candidates"] else None,
        }
        for part in config["tasks"][task]["sources"]
    ]


def by_wildcard(registry, wildcards):
    """The config entry that a rule's wildcard names; `registry` is the wildcard's plural."""
    return config[registry][wildcards[registry.removesuffix("s")]]


def context_inputs(wildcards):
    """What the contexts of a condition are made from."""
    condition = by_wildcard("conditions", wildcards)
    profiles = {"profiles": "<results>/personas/profiles.parquet"}
    if condition["context"] == "profile":
        return profiles
    corpus = condition["corpus"]
    found = {"conversations": f"<results>/corpus/{corpus}/conversations.parquet"}
    if condition["context"] == "rag":
        shards = f"<results>/embeddings/{corpus}/shards/{{scatteritem}}.parquet"
        found |= {"vectors": gather.embedding(shards), "task": "<results>/tasks/{task}.parquet"}
    return found | (profiles if condition["profile"] else {})


def first_replicate(wildcards):
    """Number of a condition's first rerun: after those of the condition it follows, if any."""
    follows = by_wildcard("conditions", wildcards).get("after")
    return by_wildcard("tasks", wildcards)["runs"] if follows else 0


def contexts_of(wildcards):
    """The contexts a condition needs: none when the model sees nothing of a user."""
    if by_wildcard("conditions", wildcards)["context"] == "none":
        return []
    return "<results>/contexts/{task}/{condition}.parquet"


def retrieves(wildcards):
    """1 where the contexts of a condition are found by encoding the questions, else 0."""
    return int(by_wildcard("conditions", wildcards)["context"] == "rag")


def gpus():
    """How many GPUs a cluster is asked for by a job that encodes the corpus or looks through it."""
    return int(str(config["embedding"]["device"]).startswith("cuda"))


def study_contexts():
    """Every contexts table of the study."""
    return expand(
        "<results>/contexts/{task}/{condition}.parquet",
        task=config["study"]["tasks"],
        condition=[
            c for c in config["study"]["conditions"] if config["conditions"][c]["context"] != "none"
        ],
    )


def needs_profiles(condition):
    """Whether the puppets of a condition bring profiles."""
    entry = config["conditions"][condition]
    return entry["context"] == "profile" or bool(entry.get("profile"))


def study_profiles():
    """The table of profiles, where a selected condition needs it."""
    needed = any(needs_profiles(c) for c in config["study"]["conditions"])
    return ["<results>/personas/profiles.parquet"] if needed else []


def study_personas():
    """The files of the persona source, where a selected condition needs it."""
    return source(config["profiles"]["personas"]["dataset"]) if study_profiles() else []


def counted_puppets():
    """The count of the study's puppets, where it has any; what it says changes no result."""
    return ancient("<results>/puppets.csv") if needs_of(config) else []


def check_puppets():
    """Refuse a study that needs more puppets than there are, where its files are counted in a second."""
    needs = needs_of(config)
    small = {}
    for name in dict.fromkeys(need.source for need in needs):
        files = source(name)
        if location_of(config, name)["path"] is not None and are_small(files):
            small[name] = {"files": files}
    corpora = {
        name: {**files, "reading": reading_of(config, name), "filters": filters_of(config, name)}
        for name, files in small.items()
        if name in config["corpora"]
    }
    column = config["profiles"]["personas"]["column"]
    personas = {name: {**small[name], "column": column} for name in small if name not in corpora}
    if not small:
        return
    counted = subprocess.run(
        [sys.executable, HOME / "workflow" / "early_count.py"],
        input=json.dumps({"needs": needs, "corpora": corpora, "personas": personas}),
        capture_output=True,
        text=True,
    )
    if counted.returncode == 1:
        raise WorkflowError(counted.stderr.strip())


def on_hand(name):
    """Whether an entry of `corpora` or `datasets` is on this machine."""
    path = location_of(config, name)["path"]
    return path is not None or Path(f"resources/downloads/{name}/manifest.json").exists()


def can_count(task, condition=None):
    """Whether the plan counts a task, or its contexts under a condition, from tables."""
    mode = config["plan"]["tables"]
    if mode != "auto":
        return mode == "build"
    if condition is None:
        return all(on_hand(part["dataset"]) for part in config["tasks"][task]["sources"])
    if needs_profiles(condition):
        parts = [config["profiles"][part]["dataset"] for part in ("personas", "sentences")]
        if not all(on_hand(part) for part in parts):
            return False
    corpus = corpus_of(config, condition)
    if corpus is None or location_of(config, corpus)["path"] is not None:
        return True
    # a downloaded corpus takes hours to filter and embed: its contexts count once they are made
    return on_hand(corpus) and Path(f"{RESULTS}/contexts/{task}/{condition}.parquet").exists()


def plan_tables():
    """The tables a plan is counted from: those on this machine, or made from what is."""
    tasks = [task for task in config["study"]["tasks"] if can_count(task)]
    arms = [(t, c) for t in tasks for c in config["study"]["conditions"] if can_count(t, c)]
    return [
        *(f"<results>/tasks/{task}.parquet" for task in tasks),
        *(f"<results>/requests/{task}/{condition}.parquet" for task, condition in arms),
        *(
            f"<results>/contexts/{task}/{condition}.parquet"
            for task, condition in arms
            if config["conditions"][condition]["context"] != "none"
        ),
    ]


def time_stamps(paths):
    """The files among `paths` that are there, and when they were written.

    A param, not an input: planning must never have questions asked.
    """
    places = [path.replace("<results>", RESULTS) for path in paths]
    return {path: Path(path).stat().st_mtime_ns for path in places if Path(path).exists()}


def selected(registry):
    """The entries of a registry that the study selects."""
    return {name: config[registry][name] for name in config["study"][registry]}


def with_baseline():
    """The conditions that the study selects, and the one they are compared with."""
    baseline = config["metrics"]["baseline"]
    return {baseline: config["conditions"][baseline]} | selected("conditions")


def price_of_model(wildcards):
    """The price table's line for a model, if any."""
    model_id = by_wildcard("models", wildcards).get("model")
    return {name: price for name, price in config["prices"].items() if name == model_id}


def study_costs():
    """The bill, where a selected model is asked over a network."""
    paid = any(model["provider"] != "embedded" for model in selected("models").values())
    return ["<results>/cost.csv"] if paid else []


def drawing():
    """What every figure needs to know: names, order and the notes of the models shown."""
    models = {name: config["models"][name] for name in config["study"]["models"]}
    conditions = [
        *config["study"]["conditions"],
        *(["field"] if config["field"] else []),
    ]
    return {
        "models": {name: model["label"] for name, model in models.items()},
        "conditions": {
            c: config["conditions"].get(c, {}).get("label", "Field") for c in conditions
        },
        "note": ". ".join(dict.fromkeys(m["note"] for m in models.values() if m["note"])) or None,
    }


def told_apart():
    """Conditions that bring a user, real ones included, and those that ask the baseline again."""
    users = [
        c for c in config["study"]["conditions"] if config["conditions"][c]["context"] != "none"
    ]
    return {
        "users": [*users, *(["field"] if config["field"] else [])],
        "controls": controls_of(config),
    }


def told_study():
    """What the findings need to know of the study beside its tables."""
    notes = [task["leaderboard_note"] for task in selected("tasks").values() if task["leaderboard"]]
    shown = drawing()
    return {
        "name": config["study"]["name"],
        "models": shown["models"],
        "tasks": config["study"]["tasks"],
        "conditions": shown["conditions"],
        "baseline": config["metrics"]["baseline"],
        **told_apart(),
        "notes": [note for note in [shown["note"], *notes] if note],
    }


def leaderboard_names():
    """What the selected models are called on leaderboards."""
    return {name: model.get("leaderboard_name") for name, model in selected("models").items()}


def of_fig3(setting):
    """A setting of the task that figure 3 draws; None where there is no such task."""
    return config["tasks"].get(config["figures"]["fig3"], {}).get(setting)


def drawn_task(figure):
    """The task that a figure draws, as a function for a rule, which says so where there is none."""

    def task(wildcards):
        if config["figures"][figure] is None:
            raise WorkflowError(
                f"figures.{figure} is null, or no task of study.tasks has questions that it draws; "
                f"select one that has"
            )
        return config["figures"][figure]

    return task


def drawn_items(figure):
    """The table with the questions that a figure draws, as an input function."""
    return lambda wildcards: f"<results>/tasks/{drawn_task(figure)(wildcards)}.parquet"


def study_tables(stage):
    """The files of a stage for every model, task and condition of the study."""
    return expand(
        f"<results>/{stage}/{{model}}/{{task}}/{{condition}}.parquet",
        model=config["study"]["models"],
        task=config["study"]["tasks"],
        condition=config["study"]["conditions"],
    )


def drawn_figures():
    """The figures that a task of the study suits."""
    return [figure for figure, task in sorted(config["figures"].items()) if task]


def kit_tasks():
    """The tasks that the survey of the field kit asks."""
    return config["field_kit"]["tasks"] or survey_tasks(config)


def study_arms(*paths):
    """`paths` with the name of the study's figure of arms; nothing where it has none."""
    return expand(paths, arms=config["arms"]["figure"]) if config["arms"] else []


def if_field(paths):
    """`paths`, one or a list, where the study has answers of real users; else nothing."""
    return paths if config["field"] else []


def deletions():
    """The record of participants who were forgotten, where there are any."""
    return [DELETIONS_FILE] if Path(DELETIONS_FILE).exists() else []


def arms_asked():
    """The conditions of the figure of arms, each with the conversations it asks for."""
    entries = {name: config["conditions"][name] for name in arms_of(config)}
    return [
        (name, 0 if entry["context"] == "none" else entry.get("conversations"))
        for name, entry in entries.items()
    ]


def arm_contexts():
    """The contexts tables of the arms that the figure of arms shows."""
    return expand(
        "<results>/contexts/{task}/{condition}.parquet",
        task=config["study"]["tasks"],
        condition=[c for c in arms_of(config) if config["conditions"][c]["context"] != "none"],
    )


def is_calibrated():
    """Whether weights are fitted, or taken over from another study."""
    return bool(config["field"] or config["calibration"]["weights"])


def calibrating():
    """What calibration needs to know of the study."""
    chosen = {k: v for k, v in config["calibration"].items() if k != "weights"}
    return chosen | {
        "models": config["study"]["models"],
        "tasks": config["calibration"]["tasks"] or config["study"]["tasks"],
        "conditions": calibrated_of(config),
        "n_permutations": config["metrics"]["permutations"],
        "seed": config["study"]["seed"],
    }


def calibration_tables():
    """The names of calibration's tables, where there is one."""
    names = ["calibration", "calibration_items", "calibration_weights", "calibrated_shares"]
    return names if is_calibrated() else []


def field_figures():
    """The figures that set the study beside real users, where it has their answers."""
    has_groups = bool(if_field(config["field"]) and config["field"]["columns"]["groups"])
    return if_field(["calibration", "field_ranks", *(["field_groups"] if has_groups else [])])


def study_results():
    """What a complete study leaves behind."""
    return [
        "<results>/study.duckdb",
        "<results>/findings.md",
        "<results>/provenance/config.yaml",
        "<results>/provenance/versions.csv",
        *study_costs(),
        *expand(
            "<results>/figures/{figure}.{suffix}",
            figure=[*drawn_figures(), *field_figures()],
            suffix=["pdf", "svg", "png"],
        ),
        *study_arms(
            *(f"<results>/figures/{{arms}}.{suffix}" for suffix in ("pdf", "svg", "png")),
        ),
        *expand("<results>/metrics/{table}.csv", table=calibration_tables()),
    ]


def new_pages():
    """What this run made for a reader to open, a line each."""
    pages = {
        "Findings": "findings.md",
        "Figures": "figures",
        "Plan": "plan.html",
        "Power": "power/power.md",
        "Field kit": "field_kit/README.md",
    }
    return [
        f"{title}: {RESULTS}/{page}"
        for title, page in pages.items()
        if Path(RESULTS, page).exists() and Path(RESULTS, page).stat().st_mtime >= PARSED_AT
    ]


onstart:
    record_run(Path())


onsuccess:
    print("", *new_pages(), sep="\n", file=sys.stderr)


# jobs read the config as well, and what they would count was counted before they began
if workflow.is_main_process:
    check_puppets()


wildcard_constraints:
    model="[A-Za-z0-9][A-Za-z0-9_.-]*",
    task="[A-Za-z0-9][A-Za-z0-9_.-]*",
    condition="[A-Za-z0-9][A-Za-z0-9_.-]*",
    corpus="[A-Za-z0-9][A-Za-z0-9_.-]*",
    # the one name that the config gives; without one a name that no file has
    arms=re.escape((config["arms"] or {"figure": "-"})["figure"]),
    dataset="[A-Za-z0-9][A-Za-z0-9_.-]*",
    figure="[A-Za-z0-9][A-Za-z0-9_-]*",
    suffix="pdf|svg|png",
