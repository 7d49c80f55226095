"""Files of judgements as rows that may be stored: people's ids hashed, notes masked, nothing guessed.

A judgement is read as its scale says, or the import stops: an answer of another scale, read as far as it
goes, would be a wrong number. An empty cell is a judgement without a value. Promises that no message
quotes a cell.
"""

import logging
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, NamedTuple

from fieldwork.errors import StudyError
from fieldwork.files import sheets
from fieldwork.files.headers import name_list
from fieldwork.files.recordings.answers import matches
from fieldwork.files.recordings.rows import ABSENT, joined_text, value_at
from fieldwork.files.rows import cell_text, is_empty
from fieldwork.judging.raters import RaterKinds
from fieldwork.judging.scales import AnswerScale
from fieldwork.privacy import mask, pseudonym, read_key
from fieldwork.records.judging import JudgedUnit, Judgement

logger = logging.getLogger(__name__)

EMPTY = "the file has no answer"
_COLUMN_LISTS = ("unit", "item", "user")
_MOST_SECONDS = 86_400.0


class JudgementRows(NamedTuple):
    """What is stored of the files."""

    judgements: list[Judgement]
    units: list[JudgedUnit]


class StudyUnits(NamedTuple):
    """What raters were given of this study, and what models say of it.

    Attributes:
        units: by the code that raters' files call them.
        judgements: of models.
        is_part: whether there are further units, whose rows in files are passed over.
    """

    units: Mapping[str, JudgedUnit]
    judgements: Sequence[Judgement]
    is_part: bool = False


def import_judgements(
    sources: Mapping[str, Mapping[str, Any]],
    scales: Mapping[str, AnswerScale],
    key_file: str,
    study: StudyUnits,
) -> JudgementRows:
    """Read every judgement, and put those of the study's own judges beside them.

    Args:
        sources: entries of `judging.sources`, each with its `files`.
        scales: by name.
        key_file: of the pseudonyms.

    Raises:
        StudyError: a file cannot be read or lacks a column, a cell is not what its column holds, a rater
            is a person and a model, a unit is described in two ways or was given to nobody.
    """
    key = read_key(Path(key_file), "judging.key_file") if sources else b""
    judgements: list[Judgement] = list(study.judgements)
    units = {unit.unit_id: unit for unit in study.units.values()}
    kinds = RaterKinds()
    for judgement in judgements:
        kinds.add(judgement.rater, "model", "the study's judges (judging.judges)")
    counts: Counter[tuple[str, str, str]] = Counter()
    for name, source in sources.items():
        reader = _SourceReader(name, source, scales, key, study.units)
        for row in reader.rows([Path(file) for file in source["files"]]):
            if study.is_part and not reader.is_known(row):
                continue
            judgement = reader.judgement(row)
            kinds.add(reader.rater(row), judgement.rater_kind, row.place)
            _add_unit(units, reader.unit(row), row.place)
            names = (judgement.scale, judgement.unit_id, judgement.rater)
            judgements.append(_with_repeat(judgement, counts[names]))
            counts[names] += 1
    n_repeats = sum(count - 1 for count in counts.values())
    logger.info(
        "%d judgements of %d units by %d raters; %d judge a unit again",
        *(len(judgements), len(units), len({j.rater for j in judgements}), n_repeats),
    )
    return JudgementRows(judgements, list(units.values()))


def _with_repeat(judgement: Judgement, repeat: int) -> Judgement:
    return replace(judgement, repeat=repeat)


def _add_unit(units: dict[str, JudgedUnit], unit: JudgedUnit, place: str) -> None:
    earlier_unit = units.setdefault(unit.unit_id, unit)
    if earlier_unit != unit:
        differences = [
            f.name
            for f in fields(JudgedUnit)
            if getattr(earlier_unit, f.name) != getattr(unit, f.name)
        ]
        raise StudyError(
            f"{place}: its unit has another {differences[0]} than in an earlier row; a unit is one "
            f"thing, so correct the file, or name more columns in columns.unit"
        )


class _SourceRow(NamedTuple):
    """A row by role; a role without a column has no entry."""

    place: str
    values: Mapping[str, Any]


class _SourceReader:
    """Reads the rows of one source.

    Args:
        name: of the entry of `judging.sources`.
    """

    def __init__(
        self,
        name: str,
        source: Mapping[str, Any],
        scales: Mapping[str, AnswerScale],
        key: bytes,
        units: Mapping[str, JudgedUnit],
    ) -> None:
        self._name, self._source, self._scales, self._key = name, source, scales, key
        self._units = units
        self._columns = {role: c for role, c in source["columns"].items() if c is not None}

    def rows(self, files: Sequence[Path]) -> Iterator[_SourceRow]:
        """The rows that count.

        Raises:
            StudyError: a column is missing, or no row counts.
        """
        n_rows = n_counted = 0
        for path in files:
            for place, cells in sheets.stream_records(path):
                n_rows += 1
                if matches(cells, self._source["rows"]):
                    n_counted += 1
                    yield self._row(f"{path}: {place}", cells)
        if not n_counted:
            problem = "has no rows" if not n_rows else f"has {n_rows} rows, none with these values"
            setting = "path" if not n_rows else "rows"
            raise StudyError(f"judging.sources.{self._name}.{setting}: it {problem}; correct it")

    def _row(self, place: str, cells: Mapping[str, Any]) -> _SourceRow:
        values: dict[str, Any] = {}
        for role, column in self._columns.items():
            is_joined = role in _COLUMN_LISTS and not isinstance(column, str)
            value = joined_text(cells, column) if is_joined else value_at(cells, column)
            if value is ABSENT:
                raise StudyError(
                    f"{place}: no column {column!r} (judging.sources.{self._name}.columns.{role}); there "
                    f"are {name_list(cells)}"
                )
            values[role] = value
        return _SourceRow(place, values)

    def judgement(self, row: _SourceRow) -> Judgement:
        """The judgement of a row, its repeat not counted yet."""
        scale = self._scale(row)
        answer = self._text(row, "value")
        option = None if answer is None else scale.option(answer, row.place)
        side = self._side(row)
        if option is not None and self._source["sides"] == "shown" and side == "b":
            option = scale.mirror(option)
        kind, rater = self._kind(row), self.rater(row)
        note = self._text(row, "note")
        return Judgement(
            scale=scale.name,
            unit_id=self._unit_id(row),
            rater=pseudonym(rater, self._key) if kind == "person" else rater,
            rater_kind=kind,
            repeat=0,
            value=option,
            number=None if option is None else scale.number(option),
            first_side=side,
            seconds=self._number(row, "seconds", _MOST_SECONDS),
            note=None if note is None else mask(note, participant=rater).text,
            source=self._name,
            reason=EMPTY if option is None else None,
        )

    def rater(self, row: _SourceRow) -> str:
        """What the file calls the rater; never to be stored of a person."""
        return self._required_text(row, "rater")

    def unit(self, row: _SourceRow) -> JudgedUnit:
        """The unit of a row."""
        if self._source["units"] == "given":
            return self._given_unit(row)
        lengths = [self._number(row, f"characters_{side}", 1e9) for side in "ab"]
        return JudgedUnit(
            unit_id=self._required_text(row, "unit"),
            user_id=self._text(row, "user"),
            item_id=self._text(row, "item"),
            unit_group=self._text(row, "group"),
            author_a=self._text(row, "author_a"),
            author_b=self._text(row, "author_b"),
            characters_a=None if lengths[0] is None else int(lengths[0]),
            characters_b=None if lengths[1] is None else int(lengths[1]),
        )

    def is_known(self, row: _SourceRow) -> bool:
        """Whether its unit is one of the study's."""
        return self._text(row, "unit") in self._units

    def _unit_id(self, row: _SourceRow) -> str:
        if self._source["units"] == "given":
            return self._given_unit(row).unit_id
        return self._required_text(row, "unit")

    def _given_unit(self, row: _SourceRow) -> JudgedUnit:
        unit = self._units.get(self._required_text(row, "unit"))
        if unit is None:
            raise StudyError(
                f"{row.place}: its unit was given to nobody in this study (judging.units); take the file "
                f"of another study out of judging.sources.{self._name}.path, or leave the row out by rows"
            )
        return unit

    def _scale(self, row: _SourceRow) -> AnswerScale:
        name = self._source["scale"] or self._required_text(row, "scale")
        if name not in self._scales:
            raise StudyError(
                f"{row.place}: its scale is not in judging.scales ({', '.join(self._scales)}); add the "
                f"scale, or leave its rows out by judging.sources.{self._name}.rows"
            )
        return self._scales[name]

    def _kind(self, row: _SourceRow) -> Any:
        if self._source["rater_kind"]:
            return self._source["rater_kind"]
        text = self._required_text(row, "rater_kind")
        kinds = {"person": ["person"], "model": ["model"], **self._source["kinds"]}
        kind = next((kind for kind, names in kinds.items() if text in names), None)
        if kind is None:
            raise StudyError(
                f"{row.place}: the kind of its rater is neither a person's nor a model's; name it in "
                f"judging.sources.{self._name}.kinds"
            )
        return kind

    def _side(self, row: _SourceRow) -> Any:
        side = self._text(row, "first_side")
        if side not in (None, "a", "b"):
            raise StudyError(
                f"{row.place}: the side that was shown first is not a or b "
                f"(judging.sources.{self._name}.columns.first_side); correct the cell"
            )
        return side

    def _text(self, row: _SourceRow, role: str) -> str | None:
        value = row.values.get(role)
        if is_empty(value) or value != value:
            return None
        return cell_text(value).strip()

    def _required_text(self, row: _SourceRow, role: str) -> str:
        text = self._text(row, role)
        if text is None:
            raise StudyError(
                f"{row.place}: the cell of columns.{role} is empty (judging.sources.{self._name}); fill "
                f"it in, or leave the row out by rows"
            )
        return text

    def _number(self, row: _SourceRow, role: str, largest: float) -> float | None:
        text = self._text(row, role)
        if text is None:
            return None
        try:
            value = float(text)
        except ValueError:
            value = -1.0
        if not 0 <= value <= largest:
            raise StudyError(
                f"{row.place}: the cell of columns.{role} is no number from 0 to {largest:.0f} "
                f"(judging.sources.{self._name}); correct the cell"
            )
        return value
