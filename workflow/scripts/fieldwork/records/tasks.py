"""Rows of the tables of questions."""

from typing import Literal

from fieldwork.records.columns import column, table

ItemKind = Literal["list", "choice", "text"]


@table("tasks/{task}.parquet", "item_id")
class Item:
    """A question."""

    item_id: str = column("unique within the task")
    kind: ItemKind = column(
        "`list` (name some options), `choice` (pick a letter) or `text` (anything)"
    )
    question: str = column("the bare question: what retrieval searches with")
    prompt: str = column("the whole final user message, shots and instruction included")
    choices: list[str] = column(
        "choice: option texts in letter order; list: candidate answers; text: lines it may consist of"
    )
    gold: str | None = column("letter of the correct choice, NULL where there is none")
    subject: str | None = column("MMLU subject, ETHICS subset or recommendation domain")
    provenance: str = column("data set, file and row the item comes from")
    list_length: int | None = column(
        "list: options asked for, as the source says; NULL: the prompt's own number", default=None
    )
    applied: bool | None = column(
        "whether the change could be made; NULL where the task is no variant", default=None
    )
