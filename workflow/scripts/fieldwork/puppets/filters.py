"""Which conversations of a corpus are kept: the filters of the config as steps in SQL.

Owns the condition that each filter puts on a row, and its name in the funnel. A filter on a column that
the corpus lacks keeps all rows, and the funnel says so. Where the corpus has the column, a row without a
language, model or date does not pass a filter on it. A row without a verdict counts as neither toxic nor
redacted.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from fieldwork.puppets.files import literal
from fieldwork.sections.corpora import FiltersSection

NOT_IN_CORPUS = "not in this corpus"


class FilterStep(NamedTuple):
    """One filter: its name and value in the config, and the SQL condition on a row."""

    name: str
    setting: str
    passes: str


def filter_steps(filters: FiltersSection, present: frozenset[str]) -> list[FilterStep]:
    """The filters that need no text; a filter on a column that is not `present` keeps all rows."""
    turns = filters.min_user_turns
    return [
        FilterStep("min_user_turns", str(turns), f"n_user_turns >= {turns:d}"),
        _choice("languages", filters.languages, "language", present),
        _exclusion("exclude_toxic", filters.exclude_toxic, "toxic", present),
        _exclusion("exclude_redacted", filters.exclude_redacted, "redacted", present),
        _choice("models", filters.models, "model", present),
        _date("started_after", filters.started_after, ">=", present),
        _date("started_before", filters.started_before, "<", present),
    ]


def text_steps(filters: FiltersSection) -> list[FilterStep]:
    """The filters that need the texts."""
    names = {"readable": "readable", "distinct": "copy = 1"}
    limit = filters.max_tokens
    length = ("all", "true") if limit is None else (str(limit), f"n_tokens <= {limit:d}")
    return [
        *(FilterStep(name, "always", test) for name, test in names.items()),
        FilterStep("max_tokens", *length),
    ]


def _choice(name: str, values: Sequence[str], column: str, present: frozenset[str]) -> FilterStep:
    if not values:
        return FilterStep(name, "all", "true")
    setting = ", ".join(values)
    if column not in present:
        return FilterStep(name, f"{setting} ({NOT_IN_CORPUS})", "true")
    if column == "model":
        tests = [f"model GLOB {literal(pattern)}" for pattern in values]
    else:
        tests = [f"lower({column}) = lower({literal(value)})" for value in values]
    return FilterStep(name, setting, " OR ".join(tests))


def _exclusion(name: str, is_on: bool, column: str, present: frozenset[str]) -> FilterStep:
    if not is_on:
        return FilterStep(name, "false", "true")
    if column not in present:
        return FilterStep(name, f"true ({NOT_IN_CORPUS})", "true")
    return FilterStep(name, "true", f"NOT coalesce({column}, false)")


def _date(name: str, date: str | None, comparison: str, present: frozenset[str]) -> FilterStep:
    if date is None:
        return FilterStep(name, "all", "true")
    if "started_at" not in present:
        return FilterStep(name, f"{date} ({NOT_IN_CORPUS})", "true")
    start = datetime.fromisoformat(date).replace(tzinfo=UTC).isoformat()
    return FilterStep(name, date, f"started_at {comparison} TIMESTAMPTZ {literal(start)}")


def count_passes(steps: Sequence[FilterStep]) -> str:
    """SQL that counts the steps which a row passes before it fails one."""
    count_passes = "\n".join(
        f"WHEN NOT coalesce({step.passes}, false) THEN {level}" for level, step in enumerate(steps)
    )
    return f"CASE {count_passes} ELSE {len(steps)} END"
