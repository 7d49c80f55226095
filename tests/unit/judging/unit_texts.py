"""Units and scales for the tests of judging."""

from typing import Any

from fieldwork.records.judging import UnitText
from fieldwork.sections.judging import Scale
from unit.table_rows import row_of

RIGHT = Scale(
    name="right",
    options=["accept", "unsure", "reject"],
    accepted=["accept"],
    labels={"accept": "It is right"},
)
WHY = Scale(name="why", options=["no evidence", "too general"])
BETTER = Scale(
    name="better",
    level="interval",
    options=["1", "2", "3", "4", "5"],
    prefers_a=["1", "2"],
    prefers_b=["4", "5"],
    labels={"1": "Answer 1 is much better"},
)


def unit_text(name: str = "u", user: str = "alice", **columns: Any) -> UnitText:
    """A unit; an attribute unless it has texts."""
    keys = {"unit_id": name, "code": f"code-{name}", "user_id": user, "unit_kind": "attributes"}
    return row_of(UnitText, **keys | {"facts": []} | columns)


def pair(name: str = "p", user: str = "alice") -> UnitText:
    """Two answers side by side."""
    return unit_text(
        name, user, unit_kind="pairs", question="What now?", text_a="Answer A", text_b="Answer B"
    )
