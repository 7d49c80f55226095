"""Rows of tables for tests that care for a few of their columns: what is not said is missing."""

from typing import Any, TypeVar

from fieldwork.records.field import FieldAnswer
from fieldwork.records.generation import Response
from fieldwork.records.parsing import Answer

RowType = TypeVar("RowType")


def row_of(row_type: type[RowType], **columns: Any) -> RowType:
    """A row with these columns and no others."""
    names: dict[str, Any] = row_type.__dataclass_fields__  # type: ignore[attr-defined]
    return row_type(**dict.fromkeys(names) | columns)


def field_answer(participant_id: str = "p", **columns: Any) -> FieldAnswer:
    """An answer of the field that no check has seen."""
    keys = {"model": "m", "task": "t", "item_id": "i", "replicate": 0}
    place = {"n_masked": 0, "file": "f.csv", "row": 2, "flags": []}
    return row_of(FieldAnswer, participant_id=participant_id, **keys | place | columns)


def response_of(text: str | None = None, outcome: str = "ok", **columns: Any) -> Response:
    """A reply that a model gave live."""
    keys = {"model": "m", "task": "t", "condition": "c", "item_id": "i", "replicate": 0}
    call = {"dispatch": "live", "defects": []}
    return row_of(Response, text=text, outcome=outcome, **keys | call | columns)


def answer_of(**columns: Any) -> Answer:
    """An answer that arrived."""
    keys = {"model": "m", "task": "t", "condition": "c", "item_id": "i", "replicate": 0}
    return row_of(Answer, **keys | {"kind": "choice", "outcome": "ok"} | columns)
