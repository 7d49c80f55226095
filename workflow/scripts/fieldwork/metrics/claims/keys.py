"""What tells the rows of a study's metric tables apart: the arm that a row is about, and its test."""

from typing import Any, NamedTuple

from fieldwork.records.field import FIELD


class ArmKey(NamedTuple):
    """The arm that a row is about; a model of None stands for all."""

    model: str | None
    task: str
    condition: str


def arm_of(row: Any) -> ArmKey:
    """The arm of a row of any table.

    Rows about the field stand under the condition that predicts it, and rows about all variants of a
    task under the task.
    """
    return ArmKey(
        model=getattr(row, "model", None),
        task=str(getattr(row, "task", getattr(row, "origin", None))),
        condition=str(getattr(row, "condition", getattr(row, "predictor", FIELD))),
    )


class ClaimKey(NamedTuple):
    """What tells one test of a study from the others."""

    measure: str
    model: str | None
    task: str
    condition: str
    item_id: str | None
    detail: str | None

    @classmethod
    def of(cls, row: Any) -> "ClaimKey":
        """The key that a claim, or a test against a control, has in its columns."""
        return cls(*(getattr(row, name) for name in cls._fields))
