"""`study.primary`: the comparisons that a study is about, checked against what it selects and asks."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from fieldwork.errors import StudyError

Config = dict[str, Any]


def broken_primary(config: Config) -> Iterator[str]:
    """Primary comparisons of items that are not asked, as far as the config lists them."""
    items = {task: _listed_items(config["tasks"][task]) for task in config["study"]["tasks"]}
    yield from _absent_items(primary_items(config), items)


def primary_items(config: Config) -> dict[str, dict[str, list[str]]]:
    """The entries that name items: setting → `tasks` that may have them, and `items`."""
    study = config["study"]
    return {
        f"study.primary.{number}.items": {
            "tasks": entry["tasks"] or study["tasks"],
            "items": entry["items"],
        }
        for number, entry in enumerate(study["primary"])
        if entry["items"]
    }


def primary_questions(config: Config) -> list[str]:
    """The tables of the items that `primary_items` is held to, before anything is asked."""
    tasks = [task for entry in primary_items(config).values() for task in entry["tasks"]]
    return [f"<results>/tasks/{task}.parquet" for task in dict.fromkeys(tasks)]


def require_items(
    primary: Mapping[str, Mapping[str, Sequence[str]]], items: Mapping[str, Sequence[str]]
) -> None:
    """Refuse a study that is about items that it does not ask, before anything is asked.

    Args:
        primary: setting → `tasks` and `items`, as `primary_items` of the config has them.
        items: the items of each of these tasks.

    Raises:
        StudyError: naming the setting, the item and those that there are.
    """
    for problem in _absent_items(primary, items):
        raise StudyError(problem)


def _absent_items(
    primary: Mapping[str, Mapping[str, Sequence[str]]], items: Mapping[str, Sequence[str] | None]
) -> Iterator[str]:
    """Items that none of their tasks has, a sentence each; nothing where a task's items are not known."""
    for setting, entry in primary.items():
        lists = [items[task] for task in entry["tasks"]]
        known_items = [item for of_task in lists for item in of_task or ()]
        rest = f" and {len(known_items) - 20} more" if len(known_items) > 20 else ""
        for name in entry["items"]:
            if None not in lists and name not in known_items:
                yield (
                    f"{setting}: there is no item {name!r} (there are "
                    f"{', '.join(known_items[:20])}{rest}); correct the name"
                )


def _listed_items(task: Mapping[str, Any]) -> list[str] | None:
    """The items of a task where each of its sources lists them."""
    if not all(source["item_ids"] for source in task["sources"]):
        return None
    return [item for source in task["sources"] for item in source["item_ids"]]
