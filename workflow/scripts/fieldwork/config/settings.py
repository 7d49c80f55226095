"""The config, checked: each section's word on its settings, and references between the registries.

Read while Snakemake parses the workflow, so it imports no scientific package.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from fieldwork.conditions import counts_conversations, has_user, kind_of
from fieldwork.config.field import broken_field
from fieldwork.config.figures import (
    broken_arms,
    broken_baseline,
    broken_figures,
    broken_labels,
    broken_styles,
    figure_tasks,
)
from fieldwork.config.filling import fill
from fieldwork.config.judging import broken_judging
from fieldwork.config.layers import Places, settings_in, with_place
from fieldwork.config.memory import broken_memory, memory_conditions, memory_corpus
from fieldwork.config.models import broken_models
from fieldwork.config.names import broken_names
from fieldwork.config.nests import broken_nests
from fieldwork.config.primary import broken_primary
from fieldwork.config.pseudonyms import broken_key_files
from fieldwork.config.recordings import broken_recordings
from fieldwork.config.references import OF_ORIGINS, broken_references
from fieldwork.config.unsafe_texts import markup_in, secrets_in
from fieldwork.config.variants import complete_variants
from fieldwork.config.waves import add_waves
from fieldwork.errors import StudyError
from fieldwork.measures import claimed_measures
from fieldwork.readable_texts import look_of
from fieldwork.records.generation import MOST_REQUESTS

Config = dict[str, Any]


def check_config(config: Config, source: str | Places) -> None:
    """Hold `config` to its sections, fill their defaults in place, and resolve its references.

    Args:
        source: where the settings stand, or a file's name, for messages.

    Raises:
        StudyError: naming the file and the setting.
    """
    problem = next(secrets_in(config), None) or fill(config, claimed_measures())
    problem = problem or next(broken_references(config, OF_ORIGINS), None)
    problem = problem or complete_variants(config) or add_waves(config)
    problem = problem or next(_problems(config), None)
    if problem is not None:
        raise StudyError(with_place(problem, source))
    for condition in config["conditions"].values():
        if "corpus" in condition:
            condition["corpus"] = condition["corpus"] or config["study"]["corpus"]
    config["figures"] = figure_tasks(config)


def _problems(config: Config) -> Iterator[str]:
    """What is wrong with a config that fits its sections, a sentence each."""
    return chain(
        markup_in(config),
        _not_finite(config),
        broken_names(config),
        broken_references(config),
        broken_primary(config),
        _broken_controls(config),
        _too_many_requests(config),
        broken_baseline(config),
        broken_labels("models", config),
        broken_labels("conditions", config),
        broken_figures(config),
        broken_styles(config),
        _short_lists(config),
        _broken_draws(config),
        broken_nests(config),
        _broken_corpora(config),
        _broken_kit(config),
        broken_arms(config),
        broken_models(config),
        broken_recordings(config),
        broken_key_files(config),
        broken_field(config),
        broken_judging(config),
        broken_memory(config),
        _broken_calibration(config),
    )


def check_own_name(overlay: Mapping[str, Any], files: Sequence[Path]) -> None:
    """Refuse study files that name no study of their own.

    Results lie in a folder of the study's name, so theirs would replace those of another study. `overlay`
    is what the files and `--config` say, merged.

    Raises:
        StudyError: naming the files.
    """
    study = overlay.get("study") or {}
    if not files or "name" in study:
        return
    names = " + ".join(file.name for file in files)
    raise StudyError(
        f"{names}: study.name is missing, so the results would replace those of another study; add "
        f"study: {{name: {files[0].stem}}}"
    )


def _not_finite(config: Config) -> Iterator[str]:
    # .nan and .inf are numbers to YAML, and a schema's minimum lets them pass
    for setting, _, value in settings_in(config):
        if isinstance(value, float) and not math.isfinite(value):
            yield f"{setting}: {value} is no finite number"


def _too_many_requests(config: Config) -> Iterator[str]:
    """A study that asks more than any can pay or hold, as far as its items are listed."""
    study, total = config["study"], 0
    for task in study["tasks"]:
        entry = config["tasks"][task]
        n_items = sum(len(source["item_ids"]) or 1 for source in entry["sources"])
        for condition in study["conditions"]:
            replicates = config["conditions"][condition].get("replicates", 1)
            total += len(study["models"]) * n_items * entry["runs"] * replicates
    if total > MOST_REQUESTS:
        yield (
            f"tasks: the study asks {total:,} requests or more, and no study may ask more than "
            f"{MOST_REQUESTS:,}; lower tasks.*.runs or conditions.*.replicates, or select fewer models, "
            f"conditions or tasks"
        )


def _broken_controls(config: Config) -> Iterator[str]:
    """A control repeats its twin: the same blank calls, numbered on."""
    for name, condition in config["conditions"].items():
        if twin := condition.get("after"):
            original, setting = config["conditions"][twin], f"conditions.{name}.after"
            if has_user(original) or original.get("after"):
                yield (
                    f"{setting}: name a condition with context: none that follows no other, not {twin!r}"
                )
            elif original["temperature"] != condition["temperature"]:
                yield f"{setting}: give both the same temperature, as {twin!r} is to be asked again"


def _broken_draws(config: Config) -> Iterator[str]:
    for name, condition in config["conditions"].items():
        out_of = condition.get("out_of")
        if out_of is None:
            continue
        if out_of < condition["conversations"]:
            yield (
                f"conditions.{name}.out_of: {out_of} are drawn, but a puppet is to bring "
                f"{condition['conversations']}; raise it, or lower conversations"
            )
        if kind_of(condition).is_retrieved and condition["pool"] == "corpus":
            yield (
                f"conditions.{name}.out_of: what is retrieved from the pool corpus is not drawn; "
                f"remove it, or say pool: user"
            )


def _broken_corpora(config: Config) -> Iterator[str]:
    for name, entry in config["corpora"].items():
        form = entry["format"]
        if form in (None, "messages"):
            continue
        for setting in ("columns", "roles"):
            if entry[setting]:
                yield (
                    f"corpora.{name}.{setting}: files of format {form} have columns of their own; remove "
                    f"it, or say format: messages"
                )


def _broken_kit(config: Config) -> Iterator[str]:
    for name, group in config["field_kit"]["groups"].items():
        options = [look_of(option).casefold() for option in group["options"]]
        if len(set(options)) < len(options):
            yield (
                f"field_kit.groups.{name}.options: two of them have the same text, so nobody could tell "
                f"them apart; change one, or remove it"
            )


def controls_of(config: Config) -> list[str]:
    """The selected conditions that ask the baseline again: where they differ from it, chance did it."""
    baseline = config["metrics"]["baseline"]
    return [
        name
        for name in config["study"]["conditions"]
        if config["conditions"][name].get("after") == baseline
    ]


def arms_of(config: Config) -> list[str]:
    """The conditions that the study's figure of arms shows, in their order; none without a figure."""
    arms = config["arms"]
    if arms is None:
        return []
    names: list[str] = arms["conditions"] or config["study"]["conditions"]
    if arms["x"] == "condition":
        return names
    return [name for name in names if counts_conversations(config["conditions"][name])]


def _broken_calibration(config: Config) -> Iterator[str]:
    weights = config["calibration"]["weights"]
    if weights and not Path(weights).is_file():
        yield (
            f"calibration.weights: no file {weights}; give the calibration_weights.parquet of another "
            f"study, or null"
        )


def study_corpora(config: Config) -> list[str]:
    """The corpora that the selected conditions need, in alphabetical order."""
    conditions = [config["conditions"][name] for name in config["study"]["conditions"]]
    memory_corpora = [memory_corpus(config)] if memory_conditions(config) else []
    return sorted(
        {entry["corpus"] for entry in conditions if entry.get("corpus")} | {*memory_corpora}
    )


def filters_of(config: Config, corpus: str) -> Config:
    """The filters of a corpus: those of the study, and over them its own."""
    return {**config["filters"], **config["corpora"][corpus].get("filters", {})}


def _short_lists(config: Config) -> Iterator[str]:
    list_length, options = (config["power"]["lists"][key] for key in ("named", "options"))
    if list_length >= options:
        yield (
            f"power.lists.named: a list of {list_length} leaves none of {options} options out; make "
            f"power.lists.options larger"
        )
