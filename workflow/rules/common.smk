# Shared by the files beside this one: the checked config as a `study` (fieldwork/config/study.py has its
# look-ups), and the few that need a wildcard or Snakemake itself. Nothing scientific is imported here.

import json
import os
import re
import sys
import time
from pathlib import Path

from snakemake.exceptions import WorkflowError
from snakemake.utils import min_version

min_version("9.0")

PARSED_AT = time.time()
HOME = Path(workflow.basedir)
SCRIPTS = HOME / "workflow" / "scripts"
sys.path.insert(0, str(SCRIPTS))

from fieldwork.config import (
    archive,
    arms,
    explorer,
    outline,
    plan_inputs,
    variants,
    waves,
)
from fieldwork.config.archived import generation_settings
from fieldwork.config.deciding_files import (
    DECIDING_PARTS,
    deciding_files,
    downloads_at_commits,
)
from fieldwork.config.drawn import (
    FIGURES,
    figure_code,
    figure_drawing,
    figure_inputs,
    figure_module,
)
from fieldwork.config.encoding import encoder_choice
from fieldwork.config.estimates import (
    ESTIMATES_OF,
    estimate_files,
    estimate_settings,
    measured_tables,
    question_jobs,
    study_views,
    view_inputs,
)
from fieldwork.config.exports import data_settings
from fieldwork.config.field import field_files
from fieldwork.config.figures import survey_tasks
from fieldwork.config.filling import judging_of
from fieldwork.config.judging import (
    judge_prompt,
    judge_task,
    judged_by_models,
    judgement_files,
    judgement_sources,
    judges_answers,
    named_scales,
    refined_units,
    unit_inputs,
    unit_scale,
    unit_settings,
    unit_tables,
    verification_tables,
    verifying_scale,
)
from fieldwork.config.memory import (
    READ,
    REFINE,
    REFINED_UNITS,
    SELECT,
    VERIFIED_ATTRIBUTES,
    memory_corpus,
    n_remembered,
    reading_form,
    reading_model,
    reading_prompt,
    reading_rules,
    refining_prompt,
    refining_responses,
    selected_table,
    selection_tables,
    selection_rules,
    usable_attributes,
    verifying_tables,
)
from fieldwork.config.metric_steps import (
    METRIC_STEPS,
    job_files,
    job_modules,
    job_steps,
    job_tables,
    metric_jobs,
    step_settings,
)
from fieldwork.config.models import answer_threads, provider_modules, require_keys
from fieldwork.config.nests import context_number
from fieldwork.config.names import refuse_misspelt_targets, words_after
from fieldwork.config.pages import field_warning, new_pages
from fieldwork.config.primary import primary_items, primary_questions
from fieldwork.config.pseudonyms import key_file_of
from fieldwork.config.reading import read_study
from fieldwork.config.report import ReportEntry, report_entry
from fieldwork.config.settings import arms_of, filters_of
from fieldwork.config.settings_text import print_and_end, settings_text
from fieldwork.config.study import ANSWERS, CLAIMS, PROFILES, Study
from fieldwork.config.study_needs import needed_filters
from fieldwork.errors import StudyError
from fieldwork.library_path import export_library
from fieldwork.measures import question_names, questions
from fieldwork.provenance import digest, module_versions, part_versions
from fieldwork.run_record import lock_state, record_run
from fieldwork.scheduling import end_rechecks
from fieldwork.script_forks import fork_scripts
from fieldwork.sections.asking import NameRules, ValueRules
from fieldwork.sections.conditions import MemoryLimits
from fieldwork.sections.judging import UnitSharing
from fieldwork.sections.memory import MergeRules

export_library()

# a study folder made with --directory may have a config of its own; without one the shipped one holds
LOWEST = "config.yaml" if Path("config.yaml").exists() else str(HOME / "config.yaml")

try:
    study = read_study(
        HOME,
        [] if workflow.config_settings.replace_workflow_config else [LOWEST],
        workflow.overwrite_configfiles,
        command_line=workflow.config_settings.config,
        overlay=workflow.config_settings.overwrite_config,
    )
except StudyError as error:
    # one sentence, and no place in this file
    sys.exit(f"ERROR: {error}")

# printed at once, so that they also answer beside a run that has the folder: `snakemake describe answers`
if workflow.is_main_process and "settings" in sys.argv:
    print_and_end(settings_text(study))
if workflow.is_main_process and "describe" in sys.argv:
    from fieldwork.reference import describe

    try:
        words = words_after("describe", sys.argv)
        print_and_end(describe(words, study.name, study.results, study.parts()))
    except StudyError as error:
        sys.exit(f"ERROR: {error}")


configfile: LOWEST


# Snakemake merges entries that share a name, of whatever kinds they are
config.clear()
config.update(study.config)

# empty where the study has none
judging = judging_of(study.config)

# Snakemake's report prints the files of settings as they were written, with the names of files that people
# filled in; the settings stand in it without them, as provenance/config.yaml
if any(argument.startswith("--report") for argument in sys.argv):
    workflow.configfiles.clear()


report: "../report/study.rst"


# where the study's results are: `<results>` in the rules, so that studies in one folder stay apart
pathvars:
    results=study.results,
    logs=f"logs/{study.name}",


def code(*scripts):
    """Versions of the modules that scripts run, and of those that they import by name: paths without ending."""
    return module_versions(*(SCRIPTS / f"{script}.py" for script in scripts))


# what reads all declarations runs again when one of them changes
MEASURES = [f"fieldwork/measures/{name}" for name in question_names()]

# of the models that the study asks: a new provider, or another one, makes nothing run again
PROVIDERS = provider_modules(entry["provider"] for entry in arms.askable_models(study).values())

# imported by name, by scripts of these parts
NAMED_MODULES = {
    "generation": PROVIDERS,
    "metrics": [*MEASURES, *job_modules(METRIC_STEPS)],
}


def study_label(study):
    """What an export says of the study itself; keys are those of `StudyLabel` in `exports/croissant`."""
    citation = (HOME / "CITATION.cff").read_text("utf-8")
    version = re.search(r"^version: *(\S+)", citation, re.MULTILINE)[1]
    license_name = study.config["archive"]["license"]
    return {"name": study.name, "version": version, "url": None, "license": license_name}


def any_of(names):
    """A pattern that some names fit, and nothing where there are none."""
    return "|".join(map(re.escape, names)) or "-"


def drawing(figure):
    """What a figure draws, as a function for a rule, which says so where a study has not its task."""

    def settings(wildcards):
        try:
            return figure_drawing(study, figure)
        except StudyError as error:
            raise WorkflowError(str(error))

    return settings


def drawn_files(figure):
    """What a figure is drawn from, as an input function; of one task, with its questions."""

    def files(wildcards):
        inputs = figure_inputs(study, figure)
        if FIGURES[figure].questions == "task":
            inputs["questions"] = [f"<results>/tasks/{drawing(figure)(wildcards)['task']}.parquet"]
        return inputs

    return files


def archived_files(wildcards):
    """What an archive is made of, as an input function, which says so where the study is not finished."""
    try:
        # jobs run while this very run has the folder
        lock = lock_state(Path(), study.name) if workflow.is_main_process else "none"
        return archive.require_finished(study, lock)
    except StudyError as error:
        raise WorkflowError(str(error))


def csv_in_report(path, caption, entry):
    """A CSV file of metrics, in the report under its title."""
    return report(
        path,
        caption=f"../report/{caption}.rst",
        category=entry.category,
        labels={"table": entry.title},
    )


def metric_tables(*names):
    """Outputs of a rule that measures, each table as Parquet with a CSV twin in the report."""
    outputs = {}
    for name in names:
        outputs[name] = f"<results>/metrics/{name}.parquet"
        outputs[f"{name}_csv"] = csv_in_report(
            f"<results>/metrics/{name}.csv", name, report_entry(name)
        )
    return outputs


def estimate_tables(names):
    """Outputs of a rule that measures questions, likewise."""
    outputs = {}
    for name in names:
        path = ESTIMATES_OF.format(question=name)
        entry = ReportEntry(questions()[name].title, "Metrics")
        outputs[name] = path
        outputs[f"{name}_csv"] = csv_in_report(path.replace(".parquet", ".csv"), "estimates", entry)
    return outputs


def view_files(names):
    """Outputs of the rule that writes views of estimates, each a CSV file in the report."""
    return {
        name: csv_in_report(f"<results>/metrics/{name}.csv", name, report_entry(name))
        for name in names
    }


# by the name of the file, as far as the files beside this one have been read
figure_titles = {}


def figure_files(name, title, caption=None):
    """Outputs of a rule that draws, the figure in three formats with the SVG in the report, and its marks."""
    figure_titles[name] = title
    svg = report(
        f"<results>/figures/{name}.svg",
        caption=f"../report/{caption or name}.rst",
        category="Figures",
        labels={"figure": title},
    )
    return {
        "drawings": [f"<results>/figures/{name}.pdf", svg, f"<results>/figures/{name}.png"],
        "marks": f"<results>/figures/{name}.marks.parquet",
    }


# jobs read the config as well, and what they would count was counted before they began
if workflow.is_main_process:
    try:
        plan_inputs.require_sources(study)
    except StudyError as error:
        sys.exit(f"ERROR: {error}")


onstart:
    for sentence in field_warning(config, study.results):
        print(sentence, file=sys.stderr)
    # a run beside another one takes no lock, and leaves the record of the one that has it
    if workflow.execution_settings.lock:
        try:
            record_run(Path(), study.name)
        except StudyError as error:
            raise WorkflowError(str(error))
    end_rechecks(workflow.scheduler)
    if workflow.local_exec:
        jobs = [
            job for job in workflow.dag.needrun_jobs() if job.rule.name == "generate_responses"
        ]
        try:
            require_keys(config, {job.wildcards.model for job in jobs}, os.environ)
        except StudyError as error:
            raise WorkflowError(str(error))
        fork_scripts()


onsuccess:
    pages = new_pages(study.results, PARSED_AT)
    print("", *pages, *field_warning(config, study.results), sep="\n", file=sys.stderr)


NAME = "[A-Za-z0-9][A-Za-z0-9_.-]*"


wildcard_constraints:
    model=NAME,
    task=NAME,
    condition=NAME,
    corpus=NAME,
    dataset=NAME,
    # the one name that the config gives; without one a name that no file has
    arms_figure=re.escape((config["arms"] or {"figure": "-"})["figure"]),
    figure="[A-Za-z0-9][A-Za-z0-9_-]*",
    suffix="pdf|svg|png",
