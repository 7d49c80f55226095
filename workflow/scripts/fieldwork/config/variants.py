"""Tasks that are derived from another task: its questions put otherwise (`of` and `put`).

Owns which task each is derived from, the steps from there, and what an entry takes over. Read while
Snakemake parses the workflow, so it imports no scientific package.
"""

import copy

from fieldwork.config.layers import Config

TABLES = {
    "misspellings": "resources/variants/misspellings.csv",
    "casual": "resources/variants/chat_words.csv",
    "fragment": "resources/variants/politeness.csv",
    "dialect": "resources/variants/dialects.csv",
    "names": "resources/variants/names.csv",
}
"""The table of each kind of change that has one, where `put.table` names no other."""

SETTINGS = frozenset({"seed", "table"})
"""Keys of `put` that are no kind of change."""

OF_THE_ORIGIN = ("runs", "max_tokens")
"""Settings that a derived task takes over where it has none of its own."""


def _is_variant(task: Config) -> bool:
    """Whether an entry of `tasks` is derived from another one."""
    return "of" in task


def kinds_of_put(put: Config) -> list[str]:
    """What a `put` does; it is to name one kind."""
    return [key for key in put if key not in SETTINGS]


def lineage_of(config: Config, task: str) -> list[str]:
    """The tasks from the one with sources to this one."""
    names = [task]
    while _is_variant(config["tasks"][names[0]]):
        names.insert(0, config["tasks"][names[0]]["of"])
    return names


def steps_of(config: Config, task: str) -> list[Config]:
    """What is done to the questions of the task with sources, in order.

    Keys are those of `Step` in `tasks/variants/kinds`, but for the files of a translation.
    """
    steps = []
    for name in lineage_of(config, task)[1:]:
        put = config["tasks"][name]["put"]
        (kind,) = kinds_of_put(put)
        steps.append(
            {
                "setting": f"tasks.{name}.put.{kind}",
                "kind": kind,
                "value": put[kind],
                "table": put["table"] or TABLES.get(kind),
                "seed": put["seed"],
            }
        )
    return steps


def origins_of(config: Config) -> dict[str, str]:
    """The selected derived tasks, each with the task at its root, selected or not."""
    origins = {name: lineage_of(config, name)[0] for name in config["study"]["tasks"]}
    return {name: origin for name, origin in origins.items() if name != origin}


def groups_of(config: Config) -> dict[str, str]:
    """The selected tasks that name people, each with their group."""
    return {
        name: step["value"]
        for name in config["study"]["tasks"]
        for step in steps_of(config, name)
        if step["kind"] == "names"
    }


def names_of_steps(config: Config) -> dict[str, tuple[str, ...]]:
    """What is done to the questions of each selected derived task, in order.

    Equal changes of different tasks have equal names.
    """
    return {
        task: tuple(
            step["kind"] if step["value"] is True else f"{step['kind']} {step['value']}"
            for step in steps_of(config, task)
        )
        for task in origins_of(config)
    }


def source_settings(config: Config, task: str) -> dict[str, Config]:
    """The sources of a task's questions, those of its translation included, by their settings."""
    sources = config["tasks"][task]["sources"]
    translations = [step for step in steps_of(config, task) if step["kind"] == "translated"]
    return {f"tasks.{task}.sources.{number}": source for number, source in enumerate(sources)} | {
        step["setting"]: step["value"] for step in translations
    }


def complete_variants(config: Config) -> str | None:
    """Give derived tasks the sources and settings of the tasks they are derived from, in place.

    Returns:
        The sentence on one that has sources of its own; None where none has.
    """
    for name, task in config["tasks"].items():
        if _is_variant(task):
            lineage = [config["tasks"][one] for one in lineage_of(config, name)]
            for key in OF_THE_ORIGIN:
                task[key] = next(entry[key] for entry in reversed(lineage) if entry.get(key))
            sources = copy.deepcopy(lineage[0]["sources"])
            for step in steps_of(config, name):
                _set_shots(sources, step)
            if task.get("sources", sources) != sources:
                return (
                    f"tasks.{name}: it has sources and is derived from {task['of']!r}; remove one of "
                    f"`sources` and `of`"
                )
            task["sources"] = sources
    return None


def _set_shots(sources: list[Config], step: Config) -> None:
    # worked examples come out of the benchmark's files, so the source is read with them
    if step["kind"] == "scaffold" and isinstance(step["value"], dict):
        for source in sources:
            source["shots"] = step["value"]["shots"]
