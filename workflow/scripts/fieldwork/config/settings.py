"""The config, checked: each section's word on its settings, and references between the registries.

Read while Snakemake parses the workflow, so it imports no scientific package.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from fieldwork.conditions import counts_conversations
from fieldwork.config.checks import broken_settings
from fieldwork.config.field import missing_answers
from fieldwork.config.figures import figure_tasks
from fieldwork.config.filling import fill
from fieldwork.config.judging_checks import JUDGING_CHECKS
from fieldwork.config.layers import Config, Places, with_place
from fieldwork.config.memory import memory_conditions, memory_corpus
from fieldwork.config.names import NAME_CHECKS
from fieldwork.config.nests import NEST_CHECKS
from fieldwork.config.primary import broken_primary
from fieldwork.config.recordings import RECORDING_CHECKS
from fieldwork.config.references import REFERENCES_OF_ORIGINS, broken_references
from fieldwork.config.study_checks import LABEL_CHECKS, OF_ORIGINS, STUDY_CHECKS
from fieldwork.config.unsafe_texts import markup_in, secrets_in
from fieldwork.config.variants import complete_variants
from fieldwork.config.waves import add_waves
from fieldwork.errors import StudyError
from fieldwork.measures import claimed_measures


def check_config(config: Config, source: str | Places) -> None:
    """Hold `config` to its sections, fill their defaults in place, and resolve its references.

    Args:
        source: where the settings stand, or a file's name, for messages.

    Raises:
        StudyError: naming the file and the setting.
    """
    problem = next(secrets_in(config), None) or fill(config, claimed_measures())
    problem = problem or next(_problems_of_origins(config), None) or complete_variants(config)
    if problem is None:
        add_waves(config)
        problem = next(_problems(config), None)
    if problem is not None:
        raise StudyError(with_place(problem, source))
    for condition in config["conditions"].values():
        if "corpus" in condition:
            condition["corpus"] = condition["corpus"] or config["study"]["corpus"]
    config["figures"] = figure_tasks(config)


def _problems_of_origins(config: Config) -> Iterator[str]:
    """What is wrong with tasks that are derived, and with conditions that are asked anew."""
    yield from broken_references(config, REFERENCES_OF_ORIGINS)
    yield from broken_settings(config, OF_ORIGINS)


def _problems(config: Config) -> Iterator[str]:
    """What is wrong with a config that fits its sections, a sentence each."""
    return chain(
        markup_in(config),
        broken_settings(config, NAME_CHECKS),
        broken_references(config),
        broken_primary(config),
        broken_settings(config, (*STUDY_CHECKS, *RECORDING_CHECKS, *NEST_CHECKS, *JUDGING_CHECKS)),
        broken_settings(config, LABEL_CHECKS),
        missing_answers(config),
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
