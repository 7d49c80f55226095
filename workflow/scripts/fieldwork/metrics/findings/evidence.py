"""What the page of findings is written from: the study's outline, its claims, and rows of its tables."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import Any, TypeVar

from fieldwork import tables
from fieldwork.metrics.claims.keys import arm_of
from fieldwork.metrics.findings.outline import StudyOutline, groups, markdown_outline
from fieldwork.metrics.findings.verdicts import FindingVerdict, StudyClaims
from fieldwork.records.claims import Claim
from fieldwork.records.columns import table_of

T = TypeVar("T")


class StudyEvidence:
    """A study as the page sees it; a table is read where a part of the page asks for its rows.

    Attributes:
        outline: its names and labels, escaped, so that Markdown shows them as they are.
    """

    def __init__(
        self,
        outline: StudyOutline,
        paths: Sequence[str] = (),
        rows: Mapping[type[Any], Sequence[Any]] = MappingProxyType({}),
    ) -> None:
        """Evidence from files, or from rows by their type; a table that is in neither is empty."""
        self.outline = markdown_outline(outline)
        self._paths = paths
        self._rows = dict(rows)
        self._indexes: dict[tuple[type[Any], tuple[str, ...]], Mapping[Any, list[Any]]] = {}

    @cached_property
    def claims(self) -> StudyClaims:
        """What may be claimed of the study."""
        return StudyClaims(self.of(Claim))

    def of(self, row_type: type[T]) -> Sequence[T]:
        """All rows of a table."""
        if row_type not in self._rows:
            name = table_of(row_type).name
            self._rows[row_type] = tables.read_row_lists(self._paths, {name: row_type}).get(
                name, ()
            )
        return self._rows[row_type]

    def rows(
        self, row_type: type[T], conditions: Sequence[str] | None = None, **columns: object
    ) -> list[T]:
        """Rows of the study's models, tasks and conditions with these values, in the page's order.

        Args:
            conditions: those that rows may be under; None for all of the study.
        """
        return self.in_order(
            (row for row in self.of(row_type) if _has(row, columns)), conditions=conditions
        )

    def in_order(
        self,
        rows: Iterable[T],
        conditions: Sequence[str] | None = None,
        tasks: Sequence[str] | None = None,
    ) -> list[T]:
        """Rows whose arm is in the study, by task, model and condition; a model of None stands first."""
        names: tuple[list[Any], ...] = (
            [*(self.outline.tasks if tasks is None else tasks)],
            [None, *self.outline.models],
            [*self.outline.conditions],
        )
        places = []
        for row in rows:
            model, task, condition = arm_of(row)
            arm: tuple[str | None, ...] = (task, model, condition)
            if (conditions is None or condition in conditions) and all(
                map(list.__contains__, names, arm)
            ):
                place = [members.index(name) for members, name in zip(names, arm, strict=True)]
                places.append((place, row))
        return [row for _, row in sorted(places, key=lambda pair: pair[0])]

    def rows_beside(self, row_type: type[T], row: Any, **columns: object) -> list[T]:
        """The rows of a table about the arm of `row`, with these values in further columns."""
        names = tuple(columns)
        if (row_type, names) not in self._indexes:
            members = groups(self.of(row_type), lambda one: (arm_of(one), *_values(one, names)))
            self._indexes[row_type, names] = {
                (arm_of(rows[0]), *_values(rows[0], names)): rows for rows in members
            }
        return self._indexes[row_type, names].get((arm_of(row), *columns.values()), [])

    def value_beside(
        self, value: str, row_type: type[Any], row: Any, **columns: object
    ) -> Any | None:
        """A column of the first of these rows; None without any."""
        return next(
            (getattr(one, value) for one in self.rows_beside(row_type, row, **columns)), None
        )

    def verdict(self, measure: str, row: Any) -> FindingVerdict:
        """What the test of a row shows."""
        return self.claims.verdict(measure, row)

    def tests(self, measure: str, rows: Iterable[T]) -> list[T]:
        """The rows whose test could have shown something."""
        return [row for row in rows if self.verdict(measure, row).is_tested]

    def differences(self, measure: str, rows: Iterable[T]) -> list[T]:
        """The rows whose test shows a difference."""
        return [row for row in rows if self.verdict(measure, row).is_shown]


def _values(row: Any, names: Sequence[str]) -> tuple[Any, ...]:
    return tuple(getattr(row, name) for name in names)


def _has(row: Any, columns: Mapping[str, object]) -> bool:
    return all(getattr(row, name) == value for name, value in columns.items())
