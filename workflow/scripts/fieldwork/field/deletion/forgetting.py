"""A deletion from its plan to its proof.

Promises that nothing is touched before the record says so, so that a run which was killed is finished by
running it again; and that success means every file was read afterwards.
"""

import shutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import filterfalse
from pathlib import Path
from typing import NamedTuple

from fieldwork.errors import StudyError
from fieldwork.field import osf
from fieldwork.field.deletion.ids import is_distinctive, read_ids, without_ids
from fieldwork.field.deletion.plan import DeletionPlan, DeletionStep, plan_deletion
from fieldwork.field.deletion.raw_files import delete_file, read_raw_files, take_rows, undeletable
from fieldwork.field.deletion.record import (
    Deletion,
    time_text,
    with_new_lines,
    with_search_time,
    write_record,
)
from fieldwork.field.deletion.site import FIELD_KIT, IDS, RECORD, Site, computed_files
from fieldwork.files.text_search import Mark, Matcher, Search, search


class DeletionOutcome(NamedTuple):
    """A deletion that was carried out, and its proof.

    Attributes:
        search: of all files, afterwards.
        rows: of the field's own files, those that hold a participant, by number.
        ambiguous_files: files with a text that may be one of the ids, or something else.
        is_alone: whether no other run began meanwhile, which may have written what was deleted.
    """

    plan: DeletionPlan
    search: Search
    rows: dict[Path, list[int]]
    ambiguous_files: list[Path]
    is_alone: bool

    def is_clean(self) -> bool:
        """Whether no file holds a participant and every file could be read."""
        return not (self.search.holders or self.search.obstacles or self.rows)


def forget(site: Site, is_alone: Callable[[], bool]) -> DeletionOutcome:
    """Delete the participants that the file of ids names, look for them, and record it.

    The file of ids is deleted where nothing is left.

    Raises:
        StudyError: an id is nowhere, or a file cannot be read, edited or deleted.
    """
    try:
        return _forget(site, is_alone)
    except StudyError as error:
        # a message names files, and a file may be called after a participant
        ids = [*filter(is_distinctive, read_ids(IDS))]
        raise StudyError(without_ids(str(error), ids)) from error


def _forget(site: Site, is_alone: Callable[[], bool]) -> DeletionOutcome:
    plan = plan_deletion(site)
    record_lines = with_new_lines(plan.record_lines, _lines_of(plan))
    write_record(RECORD, record_lines)
    for step in plan.steps:
        _carry_out(step, site, plan)
    outcome = _search_again(plan, site, is_alone)
    if outcome.is_clean() and outcome.is_alone:
        names = {name for own_names in plan.people.values() for name in own_names}
        write_record(RECORD, with_search_time(record_lines, names))
        delete_file(IDS)
    return outcome


def _lines_of(plan: DeletionPlan) -> Iterator[Deletion]:
    """What the record says of a plan, for each participant under each pseudonym."""
    time = time_text()
    for id_, names in plan.people.items():
        for place, action, numbers, _ in plan.steps:
            if number := numbers.get(id_):
                shown_place = without_ids(str(place), plan.people)
                yield from (Deletion(name, shown_place, action, number, time) for name in names)


def _carry_out(step: DeletionStep, site: Site, plan: DeletionPlan) -> None:
    def accept(file: Path, successor: Path | None) -> None:
        if site.manifest is not None:
            osf.accept_edit(site.manifest, file, successor)

    match step.action:
        case "rows deleted" if step.raw is not None:
            take_rows(step.raw, step.raw.rows_of(plan.people), accept)
        case "results deleted":
            _delete_study(step.place)
        case _:
            if step.action == "file deleted":
                accept(step.place, None)
            delete_file(step.place)


def _delete_study(study: Path) -> None:
    """Delete all that a study made but the kit; files elsewhere that it links to stay."""
    for path in sorted(study.iterdir()):
        try:
            if path.is_dir() and not path.is_symlink():
                if path.name != FIELD_KIT:
                    shutil.rmtree(path)
            else:
                path.unlink()
        except OSError as error:
            raise undeletable(path, error) from error
    with suppress(OSError):
        study.rmdir()


def _search_again(plan: DeletionPlan, site: Site, is_alone: Callable[[], bool]) -> DeletionOutcome:
    matcher = Matcher(plan.marks)
    raw_area = site.raw_area()
    all_files = search(dict.fromkeys((*computed_files(), *raw_area)), matcher)
    own_tables = [path for path in site.tables if path.is_file()]
    rows: dict[Path, list[int]] = {}
    for raw in read_raw_files(own_tables, site.column):
        numbers = {*raw.rows_of(plan.people)}
        if raw.path in all_files.holders:
            numbers |= {
                number
                for number, cells in raw.cells.items()
                if any(matcher.matches_text(str(cell)) for cell in cells)
            }
        if numbers:
            rows[raw.path] = sorted(numbers)
    # in the field's own tables the column of participants says who is meant
    doubtful = Matcher(Mark(id_, is_word=True) for id_ in filterfalse(is_distinctive, plan.people))
    other_files = [path for path in raw_area if path not in own_tables] if doubtful.texts else []
    ambiguous_files = sorted(search(other_files, doubtful).holders)
    return DeletionOutcome(plan, all_files, rows, ambiguous_files, is_alone())
