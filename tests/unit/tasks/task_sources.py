"""Sources of items for the tests of tasks."""

from typing import Any

from fieldwork.tasks.own_items import TaskSource


def changed(source: TaskSource, **settings: Any) -> TaskSource:
    """A source with other settings."""
    return TaskSource(**source.model_dump() | settings)
