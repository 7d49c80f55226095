"""What figures show, checked: labels that readers can distinguish, a baseline, and the figure of arms.

Read while Snakemake parses the workflow, so it imports no scientific package.
"""

from collections.abc import Iterator
from typing import Any

from fieldwork.conditions import counts_conversations
from fieldwork.config.names import FIGURES

Config = dict[str, Any]


def broken_labels(config: Config) -> Iterator[str]:
    """Labels of models and conditions that no reader could tell apart, a sentence each."""
    yield from _alike("models", config)
    yield from _alike("conditions", config)


def _alike(registry: str, config: Config) -> Iterator[str]:
    """Selected entries that a reader could not tell apart."""
    owners = (
        {"field": "real users' answers"} if registry == "conditions" and config["field"] else {}
    )
    for name in config["study"][registry]:
        label = config[registry][name]["label"]
        key = " ".join(label.split()).casefold()
        if key in owners:
            yield (
                f"{registry}.{name}.label: {label!r} is the label of {owners[key]} as well; give each "
                f"its own, or no figure can tell them apart"
            )
        owners[key] = f"{registry}.{name}"


def broken_baseline(config: Config) -> Iterator[str]:
    """A baseline that is not asked: every comparison with it would be empty."""
    baseline, conditions = config["metrics"]["baseline"], config["study"]["conditions"]
    if baseline not in conditions and len(conditions) > 1:
        yield (
            f"metrics.baseline: {baseline!r} is not in study.conditions ({', '.join(conditions)}), so "
            f"nothing can be compared with it; select it there, or name one of these"
        )


def broken_arms(config: Config) -> Iterator[str]:
    """What is wrong with the figure of arms, a sentence each."""
    arms = config["arms"]
    if arms is None:
        return
    name = arms["figure"].lower()
    if name in FIGURES or (name.startswith("fig") and name[3:].isdecimal()):
        yield f"arms.figure: {arms['figure']} is the name of another figure; choose one of its own"
    for name in arms["conditions"] or ():
        if name not in config["study"]["conditions"]:
            conditions = ", ".join(config["study"]["conditions"])
            yield f"arms.conditions: {name!r} is not among study.conditions ({conditions})"
        elif arms["x"] == "conversations" and not counts_conversations(config["conditions"][name]):
            yield f"arms.conditions: {name!r} has no number of conversations; leave it out"
