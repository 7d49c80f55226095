"""A recording as its answers: the rows of its files by role, checked; those left out are counted."""

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from fieldwork.errors import StudyError
from fieldwork.files.headers import name_list
from fieldwork.files.json_values import json_value
from fieldwork.files.recordings.formats import FORMATS
from fieldwork.files.recordings.rows import ABSENT, RecordedRow, joined_text, value_at
from fieldwork.files.rows import cell_text, is_empty
from fieldwork.sections.corpora import RecordingForm

logger = logging.getLogger(__name__)

MOST_VALUES, LONGEST_VALUE = 8, 40
"""Values of a column that a message lists, and characters of each."""

RowRule = Mapping[str, Any]
"""Values by the path of a field: a text, a list of texts, or None for an empty field."""


class Recording(RecordingForm):
    """How the files of an entry of `recordings` are read; its name is for messages."""

    name: str


class RecordedAnswer(NamedTuple):
    """An answer and what its file says of it; None where it says nothing.

    Attributes:
        source: file and place.
        item: the item's id in the file.
        prompt: the whole message that was sent.
        options: texts in letter order.
        user: None for a call without a user.
        replicate: as the file writes it.
        text: the answer; None where the call failed.
        error: why it failed.
        fields: all that the file holds of the answer.
    """

    source: str
    item: str | None
    question: str | None
    prompt: str | None
    options: Sequence[str]
    gold: Any
    subject: str | None
    model: str | None
    user: str | None
    replicate: str | None
    text: str | None
    error: str | None
    finish_reason: str | None
    returned_model: str | None
    temperature: float | None
    input_tokens: int | None
    cached_tokens: int | None
    output_tokens: int | None
    reasoning_tokens: int | None
    latency_s: float | None
    started_at: datetime | None
    fields: Mapping[str, Any]


def read_answers(files: Sequence[Path], recording: Recording) -> Iterator[RecordedAnswer]:
    """The answers of a recording's files, in their order.

    A row without an answer, of which the file does not say that the call failed, is left out.

    Raises:
        StudyError: a file cannot be read, is of another format, or has no field that a setting names.
    """
    seen_paths: set[str] = set()
    first_fields: Mapping[str, Any] = {}
    choice = RowChoice(recording.rows, f"recordings.{recording.name}.rows")
    n_empty = 0
    for path in files:
        for row in FORMATS[recording.format](path):
            first_fields = first_fields or row.fields
            values = _values(row, recording, seen_paths)
            if not choice.accepts(row.fields, seen_paths):
                continue
            if values.get("answer") is None and not values.get("error"):
                n_empty += 1
            else:
                yield _answer(f"{path.name}: {row.place}", row.fields, values, recording)
    _require_paths(recording, seen_paths, first_fields, files)
    if not choice.n_rows:
        raise StudyError(
            f"recordings.{recording.name}: there are no answers in {_names(files)}; correct its path, or "
            f"its format {recording.format}"
        )
    choice.require_some(_names(files))
    n_other = choice.n_rows - choice.n_chosen
    if n_other or n_empty:
        logger.info(
            "recordings.%s: of %d rows %d are left out by `rows`, and %d have no answer",
            *(recording.name, choice.n_rows, n_other, n_empty),
        )


def matches(fields: Mapping[str, Any], rule: RowRule, seen_paths: set[str] | None = None) -> bool:
    """Whether the fields of an answer have the values of a rule.

    Args:
        seen_paths: gets the paths that lead somewhere.
    """
    is_match = True
    for path, wish in rule.items():
        value = value_at(fields, path)
        if value is not ABSENT and seen_paths is not None:
            seen_paths.add(path)
        is_match = is_match and _value_text(value) in _wishes(wish)
    return is_match


def _value_text(value: Any) -> str:
    """A value as a rule writes it; of JSON's true and false these words."""
    if isinstance(value, bool):
        return str(value).lower()
    return "" if value is ABSENT or is_empty(value) else cell_text(value)


def _wishes(wish: Any) -> set[str]:
    return {_value_text(one) for one in (wish if isinstance(wish, list) else [wish])}


class RowChoice:
    """The rows that a rule chooses, and what stands in the columns of those that it does not.

    Args:
        setting: of the rule, for messages.
    """

    def __init__(self, rule: RowRule, setting: str) -> None:
        self._rule, self._setting = rule, setting
        self._values: dict[str, dict[str, None]] = {path: {} for path in rule}
        self.n_rows = self.n_chosen = 0

    def accepts(self, fields: Mapping[str, Any], seen_paths: set[str] | None = None) -> bool:
        """Whether a row counts; notes its values."""
        self.n_rows += 1
        for path, values in self._values.items():
            values[_value_text(value_at(fields, path))] = None
        is_match = matches(fields, self._rule, seen_paths)
        self.n_chosen += is_match
        return is_match

    def require_some(self, files: str) -> None:
        """Warn of values that no row has.

        Raises:
            StudyError: there are rows, and none has the values of the rule.
        """
        for path, values in self._values.items():
            absent_values = sorted(_wishes(self._rule[path]) - values.keys())
            if absent_values and self.n_chosen:
                logger.warning(
                    "%s.%s: no row of %s has %s; the column has %s",
                    *(self._setting, path, files, ", ".join(absent_values), _listing(values)),
                )
        if self.n_rows and not self.n_chosen:
            contents = "; ".join(f"{path} has {_listing(v)}" for path, v in self._values.items())
            raise StudyError(
                f"{self._setting}: none of the {self.n_rows} rows in {files} has these values; correct "
                f"them ({contents})"
            )


def _listing(values: Iterable[str]) -> str:
    names = [repr(value[:LONGEST_VALUE]) for value in values]
    rest = [f"{len(names) - MOST_VALUES} more"] if len(names) > MOST_VALUES else []
    return ", ".join([*names[:MOST_VALUES], *rest])


def _values(row: RecordedRow, recording: Recording, seen_paths: set[str]) -> dict[str, Any]:
    values: dict[str, Any] = dict(row.values.items())
    for role, column in recording.columns.items():
        if column is None:
            values.pop(role, None)
            continue
        paths = [column] if isinstance(column, str) else column
        seen_paths.update(path for path in paths if value_at(row.fields, path) is not ABSENT)
        value = (
            value_at(row.fields, column)
            if isinstance(column, str)
            else joined_text(row.fields, paths)
        )
        values[role] = None if value is ABSENT else value
    return values


def _require_paths(
    recording: Recording, seen_paths: set[str], fields: Mapping[str, Any], files: Sequence[Path]
) -> None:
    """Refuse settings that name what no row of the files has."""
    if not fields:
        return
    columns = [
        (f"columns.{role}", path)
        for role, column in recording.columns.items()
        for path in ([column] if isinstance(column, str) else column or [])
    ]
    for setting, path in [*columns, *((f"rows.{path}", path) for path in recording.rows)]:
        if path not in seen_paths:
            raise StudyError(
                f"recordings.{recording.name}.{setting}: {_names(files)} has no column {path!r}; its "
                f"columns are {name_list(fields)}"
            )


def _answer(
    source: str, fields: Mapping[str, Any], values: Mapping[str, Any], recording: Recording
) -> RecordedAnswer:
    place = f"recordings.{recording.name}: {source}"
    user = _text(values, "user", place)
    error = _text(values, "error", place)
    return RecordedAnswer(
        source=source,
        item=_text(values, "item", place),
        question=_text(values, "question", place),
        prompt=_text(values, "prompt", place),
        options=_options(values.get("options"), place) or recording.options,
        gold=values.get("gold"),
        subject=_text(values, "subject", place),
        model=_text(values, "model", place),
        user=None if user in recording.blank_users else user,
        replicate=_text(values, "replicate", place),
        text=None if error else _plain_text(values["answer"], place),
        error=error,
        finish_reason=_text(values, "finish_reason", place),
        returned_model=_text(values, "returned_model", place),
        temperature=_number(values, "temperature", place),
        input_tokens=_count(values, "input_tokens", place),
        cached_tokens=_count(values, "cached_tokens", place),
        output_tokens=_count(values, "output_tokens", place),
        reasoning_tokens=_count(values, "reasoning_tokens", place),
        latency_s=_number(values, "latency_s", place),
        started_at=_time(values, place),
        fields=fields,
    )


def _plain_text(value: Any, place: str) -> str:
    if isinstance(value, list | dict):
        raise StudyError(
            f"{place} holds a list or an object as its answer; name the field with the text in "
            f"`columns.answer`"
        )
    # half of a surrogate pair, which JSON can carry and UTF-8 cannot, becomes a question mark
    return cell_text(value).encode("utf-8", "replace").decode()


def _text(values: Mapping[str, Any], role: str, place: str) -> str | None:
    value = values.get(role)
    if isinstance(value, list | dict):
        raise StudyError(
            f"{place} holds a list or an object where `columns.{role}` expects a text; name another field"
        )
    text = "" if is_empty(value) else cell_text(value)
    return text.encode("utf-8", "replace").decode() or None


def _options(value: Any, place: str) -> list[str]:
    if value is None or is_empty(value):
        return []
    if isinstance(value, str):
        value = _cell_options(value)
    if isinstance(value, Mapping):
        value = [value[key] for key in sorted(value)]
    if not isinstance(value, list) or any(isinstance(one, list | dict) for one in value):
        raise StudyError(
            f"{place}: its options are not a list of texts; write them as yes|no or as "
            '["yes", "no"], or correct `columns.options`'
        )
    return [cell_text(one) for one in value]


def _cell_options(cell: str) -> Any:
    """What a cell of a CSV file holds: `yes|no`, or JSON."""
    if cell.lstrip().startswith(("[", "{")):
        with suppress(ValueError):
            return json_value(cell)
    return [part.strip() for part in cell.split("|")] if "|" in cell else cell


def _number(values: Mapping[str, Any], role: str, place: str) -> float | None:
    text = _text(values, role, place)
    try:
        return float(text) if text is not None else None
    except ValueError as error:
        raise StudyError(
            f"{place}: {text[:40] if text else text!r} is no number, as `columns.{role}` expects; name "
            f"another field, or null for none"
        ) from error


def _count(values: Mapping[str, Any], role: str, place: str) -> int | None:
    number = _number(values, role, place)
    return None if number is None else round(number)


def _time(values: Mapping[str, Any], place: str) -> datetime | None:
    """A time in UTC: one without a zone is taken for UTC, and a number for seconds since 1970."""
    value = values.get("started_at")
    if isinstance(value, datetime):
        return value if value.tzinfo else value.replace(tzinfo=UTC)
    text = _text(values, "started_at", place)
    if text is None:
        return None
    try:
        if text.replace(".", "", 1).isdecimal():
            return datetime.fromtimestamp(float(text), UTC)
        time = datetime.fromisoformat(text)
    except (ValueError, OverflowError, OSError) as error:
        raise StudyError(
            f"{place}: {text[:40]!r} is no time of the form 2026-01-31T12:00:00, as "
            f"`columns.started_at` expects; name another field, or null for none"
        ) from error
    return time.astimezone(UTC) if time.tzinfo else time.replace(tzinfo=UTC)


def _names(files: Sequence[Path]) -> str:
    rest = f" and {len(files) - 2} more files" if len(files) > 2 else ""
    return f"{', '.join(str(path) for path in files[:2]) or 'no file'}{rest}"
