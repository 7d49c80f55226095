"""Files of judgements as rows that may be stored: people's ids hashed, notes masked, nothing guessed.

A judgement is read as its scale says, or the import stops: an answer of another scale, read as far as it
goes, would be a wrong number. An empty cell is a judgement without a value. Promises that no message
quotes a cell.
"""

import logging
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
from fieldwork.judging.answer_places import AnswerPlace, AnswerPlaces
from fieldwork.judging.raters import RaterKinds
from fieldwork.judging.repeats import number_repeats
from fieldwork.judging.scales import option_of
from fieldwork.judging.unit_names import UnitNames
from fieldwork.judging.units import side_code
from fieldwork.privacy import mask, pseudonym, read_key
from fieldwork.records.judging import SIDES, JudgedUnit, Judgement, Side
from fieldwork.sections.judging import Scale

logger = logging.getLogger(__name__)

EMPTY = "the file has no answer"
_COLUMN_LISTS = ("unit", "item", "user")
_PLACES = ("position", "kit")
"""Roles that files of earlier kits have no column for."""
_OF_EVERY_ENTRY = ("unit", "rater")
"""Roles that an entry of JSON cannot leave out."""
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
    scales: Mapping[str, Scale],
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
    own_units = {unit.unit_id: unit for unit in study.units.values()}
    units, kinds, answers = dict(own_units), RaterKinds(), AnswerPlaces()
    for judgement in study.judgements:
        kinds.add(judgement.rater, "model", "the study's judges (judging.judges)")
    for name, source in sources.items():
        reader = _SourceReader(name, source, scales, key, study.units)
        for row in reader.rows([Path(file) for file in source["files"]]):
            if study.is_part and not reader.is_known(row):
                continue
            judgement = reader.judgement(row)
            kinds.add(reader.rater(row), judgement.rater_kind, row.place)
            _add_unit(units, reader.unit(row), row.place)
            answers.add(judgement, reader.answer_place(row), row.place)
    described_units = {name: unit for name, unit in units.items() if name not in own_units}
    rows = _without_people(answers.judgements, described_units, UnitNames(kinds.people, key))
    judgements = number_repeats([*study.judgements, *rows.judgements])
    all_units = [*own_units.values(), *rows.units]
    logger.info(
        "%d judgements of %d units by %d raters; %d judge a unit again, %d were in two files",
        *(len(judgements), len(all_units), len({j.rater for j in judgements})),
        *(sum(j.repeat > 0 and j.value is not None for j in judgements), answers.n_copies),
    )
    return JudgementRows(judgements, all_units)


def _without_people(
    judgements: Sequence[Judgement], units: Mapping[str, JudgedUnit], names: UnitNames
) -> JudgementRows:
    """Judgements and described units without people's ids.

    Args:
        units: that files describe, by their ids there.
    """
    new_units = {unit_id: names.unit(unit) for unit_id, unit in units.items()}
    return JudgementRows(
        [
            replace(j, unit_id=new_units[j.unit_id].unit_id) if j.unit_id in new_units else j
            for j in judgements
        ],
        list({unit.unit_id: unit for unit in new_units.values()}.values()),
    )


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


class _Columns:
    """What the rows of a file have, as entries of JSON may leave out what was not answered.

    Attributes:
        present_roles: that some row has.
        problems: of roles that some row lacks, the sentence about the first one.
    """

    def __init__(self, *, is_json: bool) -> None:
        self.is_json = is_json
        self.present_roles: set[str] = set()
        self.problems: dict[str, str] = {}


class _SourceReader:
    """Reads the rows of one source.

    Args:
        name: of the entry of `judging.sources`.
    """

    def __init__(
        self,
        name: str,
        source: Mapping[str, Any],
        scales: Mapping[str, Scale],
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
            columns = _Columns(is_json=sheets.is_json(path))
            for place, cells in sheets.stream_records(path):
                n_rows += 1
                if matches(cells, self._source["rows"]):
                    n_counted += 1
                    yield self._row(f"{path}: {place}", cells, columns)
            self._check_absences(columns, path)
        if not n_counted:
            problem = "has no rows" if not n_rows else f"has {n_rows} rows, none with these values"
            setting = "path" if not n_rows else "rows"
            raise StudyError(f"judging.sources.{self._name}.{setting}: it {problem}; correct it")

    def _row(self, place: str, cells: Mapping[str, Any], columns: _Columns) -> _SourceRow:
        values: dict[str, Any] = {}
        for role, column in self._columns.items():
            is_joined = role in _COLUMN_LISTS and not isinstance(column, str)
            value = joined_text(cells, column) if is_joined else value_at(cells, column)
            if value is not ABSENT:
                columns.present_roles.add(role)
                values[role] = value
            elif role not in _PLACES:
                problem = (
                    f"{place}: no column {column!r} (judging.sources.{self._name}.columns.{role}); there "
                    f"are {name_list(cells)}"
                )
                if not columns.is_json or is_joined or role in _OF_EVERY_ENTRY:
                    raise StudyError(problem)
                columns.problems.setdefault(role, problem)
        return _SourceRow(place, values)

    def _check_absences(self, columns: _Columns, path: Path) -> None:
        """Refuse a column that no entry has; of the study's own units nobody may have answered."""
        for role, problem in columns.problems.items():
            if role not in columns.present_roles:
                if self._source["units"] != "given":
                    raise StudyError(problem)
                logger.warning(
                    "%s: no entry has an answer to %r (judging.sources.%s.columns.%s), so nothing is "
                    "read from it",
                    *(path, self._columns[role], self._name, role),
                )

    def judgement(self, row: _SourceRow) -> Judgement:
        """The judgement of a row, its repeat not counted yet."""
        scale = self._scale(row)
        answer = self._text(row, "value")
        option = None if answer is None else option_of(scale, answer, row.place)
        side = self._side(row)
        is_turned = self._source["sides"] == "shown" and side == "b" and scale.has_sides
        if option is not None and is_turned:
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
            number=scale.number(option),
            first_side=side,
            seconds=self._number(row, "seconds", _MOST_SECONDS),
            note=None if note is None else mask(note, participant=rater).text,
            source=self._name,
            reason=EMPTY if option is None else None,
        )

    def answer_place(self, row: _SourceRow) -> AnswerPlace | None:
        """Where the rater saw the unit, if the file says it."""
        position = self._text(row, "position")
        return None if position is None else AnswerPlace(self._text(row, "kit"), position)

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

    def _scale(self, row: _SourceRow) -> Scale:
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

    def _side(self, row: _SourceRow) -> Side | None:
        text = self._text(row, "first_side")
        sides: dict[str | None, Side | None] = {None: None, "a": "a", "b": "b"}
        if self._source["units"] == "given":
            unit, code = self._given_unit(row), self._required_text(row, "unit")
            sides |= {side_code(unit.unit_id, code, side): side for side in SIDES}
        if text not in sides:
            raise StudyError(
                f"{row.place}: the side that was shown first is not a or b, nor the unit's code of a "
                f"side (judging.sources.{self._name}.columns.first_side); correct the cell"
            )
        return sides[text]

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
