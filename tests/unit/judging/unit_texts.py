"""Units and scales for the tests of judging."""

from typing import Any

from fieldwork.judging.scales import AnswerScale
from fieldwork.records.judging import Scale, UnitText

RIGHT = AnswerScale(
    Scale("right", "nominal", ("accept", "unsure", "reject"), frozenset({"accept"})),
    {},
    {"accept": "It is right"},
)
WHY = AnswerScale(Scale("why", "nominal", ("no evidence", "too general")), {}, {})
BETTER = AnswerScale(
    Scale(
        "better",
        "interval",
        ("1", "2", "3", "4", "5"),
        prefers_a=frozenset({"1", "2"}),
        prefers_b=frozenset({"4", "5"}),
    ),
    {},
    {"1": "Answer 1 is much better"},
)


def unit_text(name: str = "u", user: str = "alice", **columns: Any) -> UnitText:
    """A unit; an attribute unless it has texts."""
    values: dict[str, Any] = {
        "unit_kind": "attributes",
        "item_id": None,
        "unit_group": None,
        "author_a": None,
        "author_b": None,
        "attribute": None,
        "facts": [],
        "evidence": None,
        "question": None,
        "text_a": None,
        "text_b": None,
    }
    return UnitText(unit_id=name, code=f"code-{name}", user_id=user, **(values | columns))


def pair(name: str = "p", user: str = "alice") -> UnitText:
    """Two answers side by side."""
    return unit_text(
        name, user, unit_kind="pairs", question="What now?", text_a="Answer A", text_b="Answer B"
    )
