"""The same questions in another language, from a file of their own, by the same item ids."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from fieldwork.errors import StudyError
from fieldwork.records.tasks import Item


def read_translations(
    items: Sequence[Item], translations: Sequence[Item], setting: str
) -> Mapping[str, Item]:
    """The translation of each question, by its id; translations of other questions are left out.

    Raises:
        StudyError: a question has no translation, or one of another kind, with other options or another
            right one.
    """
    by_id = {item.item_id: item for item in translations}
    missing = [item.item_id for item in items if item.item_id not in by_id]
    if missing:
        raise StudyError(
            f"{setting}: {len(missing)} of {len(items)} questions have no translation, the first is "
            f"{missing[0]!r}; add them to the file, or name the others in item_ids of the task in `of`"
        )
    for item in items:
        _require_same(item, by_id[item.item_id], setting)
    return by_id


def _require_same(item: Item, translation: Item, setting: str) -> None:
    place = f"{setting}: the translation of {item.item_id!r}"
    if translation.kind != item.kind:
        raise StudyError(f"{place} is of kind {translation.kind}, not {item.kind}; correct `kind`")
    if item.kind != "choice":
        return
    if len(translation.choices) != len(item.choices):
        raise StudyError(
            f"{place} has {len(translation.choices)} options, not {len(item.choices)}; complete them, in "
            f"the same order"
        )
    if translation.gold not in (None, item.gold):
        raise StudyError(
            f"{place} has the right option {translation.gold}, not {item.gold}; correct it, or the order "
            f"of the options"
        )


def translate(item: Item, translation: Item) -> Item:
    """The question in the words of its translation."""
    return replace(
        item,
        question=translation.question,
        prompt=translation.prompt,
        choices=translation.choices or item.choices,
    )
