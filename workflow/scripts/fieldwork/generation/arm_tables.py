"""What is asked in several arms, read from their tables."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from fieldwork import tables
from fieldwork.generation.responses import ArmRequests
from fieldwork.generation.rows import GenerationArm
from fieldwork.records.generation import Request
from fieldwork.records.puppets import Context
from fieldwork.records.tasks import Item


def read_arms(
    arms: Sequence[Mapping[str, Any]],
    requests: Sequence[str],
    questions: Sequence[str],
    contexts: Sequence[str],
) -> list[ArmRequests]:
    """The requests of arms, with their questions and contexts.

    Args:
        arms: keys are those of `GenerationArm`.
        requests: a table for each arm.
        questions: a table for each task, named after it.
        contexts: the tables of those arms that have contexts, `{task}/{condition}.parquet`.
    """
    items = {
        Path(path).stem: {item.item_id: item for item in tables.read_rows(path, Item)}
        for path in questions
    }
    context_paths = {(Path(path).parent.name, Path(path).stem): path for path in contexts}
    parts = []
    for settings, path in zip(arms, requests, strict=True):
        arm = GenerationArm(**settings)
        context_path = context_paths.get((arm.task, arm.condition))
        rows = [] if context_path is None else tables.read_rows(context_path, Context)
        own_contexts = {context.context_id: context for context in rows}
        own_requests = tables.read_rows(path, Request)
        parts.append(ArmRequests(arm, own_requests, items[arm.task], own_contexts))
    return parts
