"""Rows of the tables of questions."""

from typing import Literal

from fieldwork.records.columns import Name, column, table

ItemKind = Literal["list", "choice", "scale", "number", "text"]

LETTER_KINDS: frozenset[ItemKind] = frozenset({"choice", "scale"})
OPTION_KINDS: frozenset[ItemKind] = LETTER_KINDS | {"list"}
"""Kinds whose answer is one option of the item, known by its letter."""

VALUE_KINDS: frozenset[ItemKind] = frozenset({"scale", "number"})
"""Kinds whose answer has a value, of which means can be taken."""


@table("tasks/{task}.parquet", "item_id")
class Item:
    """A question."""

    item_id: Name = column("unique within the task")
    kind: ItemKind = column(
        "`list` (name some options), `choice` (pick a letter), `scale` (pick one of ordered points), "
        "`number` (give a number) or `text` (anything)"
    )
    question: str = column(
        "the bare question: what retrieval searches with", holds="words of questions"
    )
    prompt: str = column(
        "the whole final user message, shots and instruction included", holds="words of questions"
    )
    choices: list[str] = column(
        "choice and scale: option texts in letter order; list: candidate answers; text: lines it may "
        "consist of",
        holds="words of questions",
    )
    gold: Name | None = column("letter of the correct choice, NULL where there is none")
    subject: Name | None = column("MMLU subject, ETHICS subset or recommendation domain")
    provenance: Name = column("data set, file and row the item comes from")
    list_length: int | None = column(
        "list: options asked for, as the source says; NULL: the prompt's own number", default=None
    )
    applied: bool | None = column(
        "whether the change could be made; NULL where the task is no variant", default=None
    )
    marks: list[str] | None = column(
        "scale: what stands before each option in the prompt, NULL for letters",
        default=None,
        holds="words of questions",
    )
    points: list[float] | None = column(
        "scale: value of each option, turned round for a reversed item; those behind the last value, "
        "such as 'Don't know', have none",
        default=None,
    )
    unit: str | None = column(
        "number: what is counted or measured, NULL for none",
        default=None,
        holds="words of questions",
    )
    lowest: float | None = column("number: the least that counts, NULL for no limit", default=None)
    highest: float | None = column("number: the most that counts, NULL for no limit", default=None)
