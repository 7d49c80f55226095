"""How many simulated users the conditions of a study need, and what they are made from.

Read while Snakemake parses the workflow, so it imports no scientific package.
"""

from collections.abc import Iterator, Sequence

from fieldwork.conditions import kind_of, materials_of
from fieldwork.config.layers import Config
from fieldwork.config.memory import memory_corpus
from fieldwork.config.needs import Need
from fieldwork.config.settings import filters_of


def needs_of(config: Config) -> list[Need]:
    runs = {task: config["tasks"][task]["runs"] for task in config["study"]["tasks"]}
    task = max(runs, key=lambda name: runs[name])
    return [
        need
        for condition in config["study"]["conditions"]
        for need in _needs_of(config, condition, task, runs[task])
    ]


def _needs_of(config: Config, condition: str, task: str, runs: int) -> Iterator[Need]:
    entry = config["conditions"][condition]
    if "profiles" in materials_of(entry):
        source = config["profiles"]["personas"]["dataset"]
        yield Need(condition, source, "personas", 1, runs, task, "")
    if kind_of(entry).has_memory:
        corpus, at_least = memory_corpus(config), config["memory"]["at_least"]
        filters = _filter_text(filters_of(config, corpus))
        yield Need(condition, corpus, "users", at_least, runs, task, filters)
    if not kind_of(entry).has_conversations:
        return
    corpus, n_conversations = entry["corpus"], entry["out_of"] or entry["conversations"]
    filters = _filter_text(filters_of(config, corpus))
    if entry["pool"] == "user":
        yield Need(condition, corpus, "users", n_conversations, runs, task, filters)
    else:
        # with out_of each puppet draws from all conversations; else no two puppets share one
        n_needed = n_conversations if entry["out_of"] else n_conversations * runs
        yield Need(condition, corpus, "conversations", 1, n_needed, task, filters)


def needed_filters(needs: Sequence[Need]) -> dict[str, str]:
    """The filters of each corpus that is needed."""
    return {need.source: need.filters for need in needs if need.unit != "personas"}


def _filter_text(filters: Config) -> str:
    settings = [
        f"{name}: {', '.join(value) if isinstance(value, list) else str(value).lower()}"
        for name, value in filters.items()
        if value not in (None, False, [])
    ]
    return ", ".join(settings)
