"""A deletion from its plan to its proof.

Promises that nothing is touched before the record says so; that results go before answers, so that a run
which was killed is finished by running it again; and that success means every file was read afterwards.
"""

from collections.abc import Callable, Iterator
from itertools import filterfalse
from pathlib import Path
from typing import NamedTuple

from fieldwork.errors import StudyError
from fieldwork.field import osf
from fieldwork.field.deletion import computed
from fieldwork.field.deletion.marks import (
    LEAST_LENGTH,
    Matcher,
    ambiguous_mark,
    is_distinctive,
    without_ids,
)
from fieldwork.field.deletion.plan import DeletionPlan, plan_deletion, read_ids
from fieldwork.field.deletion.raw_files import delete_file, read_raw_files, take_rows
from fieldwork.field.deletion.record import (
    Deletion,
    time_text,
    with_new_lines,
    with_search_time,
    write_record,
)
from fieldwork.field.deletion.search import Search, search
from fieldwork.field.deletion.site import Site


class Proof(NamedTuple):
    """What the search after a deletion came to.

    Attributes:
        search: of all files.
        rows: of the field's own files, those that hold a participant, by number.
        ambiguous_files: files with a text that may be one of the ids, or something else.
    """

    search: Search
    rows: dict[Path, list[int]]
    ambiguous_files: list[Path]

    def is_clean(self) -> bool:
        """Whether no file holds a participant and every file could be read."""
        return not (self.search.holders or self.search.obstacles or self.rows)


class DeletionOutcome(NamedTuple):
    """A deletion that was carried out, and its proof.

    Attributes:
        is_alone: whether no other run began meanwhile, which may have written what was deleted.
    """

    plan: DeletionPlan
    proof: Proof
    is_alone: bool

    def is_finished(self) -> bool:
        """Whether nothing is left of the participants."""
        return self.is_alone and self.proof.is_clean()


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
        ids = [*filter(is_distinctive, read_ids(site.ids))]
        raise StudyError(without_ids(str(error), ids)) from error


def _forget(site: Site, is_alone: Callable[[], bool]) -> DeletionOutcome:
    plan = plan_deletion(site)
    record_lines = with_new_lines(plan.inventory.record_lines, _lines_of(plan))
    write_record(site.record, record_lines)
    computed.delete_computed(
        [*plan.other_files, *(path for paths in plan.studies.values() for path in paths)]
    )
    _delete_answers(plan, site)
    outcome = DeletionOutcome(plan, _search_again(plan, site), is_alone())
    if outcome.is_finished():
        names = [name for person in plan.people for name in person.pseudonyms]
        write_record(site.record, with_search_time(record_lines, names))
        delete_file(site.ids)
    return outcome


def _lines_of(plan: DeletionPlan) -> Iterator[Deletion]:
    """What the record says of a plan, for each participant under each pseudonym."""
    time, ids = time_text(), plan.ids()
    for person in plan.people:
        parts: list[tuple[str, str, int]] = []
        for edit in plan.edits:
            place, n_rows = str(edit.raw.path), [*edit.rows.values()].count(person.id)
            action = "file deleted" if edit.is_whole else "rows deleted"
            parts.append((without_ids(place, ids), action, n_rows))
        for page in plan.pages:
            is_own = page.participant == person.id
            parts.append((without_ids(str(page.path), ids), "file deleted", int(is_own)))
        for study, paths in plan.studies.items():
            parts.append((str(study), "results deleted", len(paths)))
        for name in person.pseudonyms:
            yield from (Deletion(name, *part, time) for part in parts if part[2])


def _delete_answers(plan: DeletionPlan, site: Site) -> None:
    def accept(file: Path, successor: Path | None) -> None:
        if site.manifest is not None:
            osf.accept_edit(site.manifest, file, successor)

    for edit in plan.edits:
        if not edit.is_whole:
            take_rows(edit.raw, edit.rows, accept)
    whole = [edit.raw.path for edit in plan.edits if edit.is_whole]
    for path in (*whole, *(page.path for page in plan.pages)):
        accept(path, None)
        delete_file(path)


def _search_again(plan: DeletionPlan, site: Site) -> Proof:
    matcher, ids = Matcher(plan.marks), plan.ids()
    raw_area = [path for path in site.raw_area() if path.is_file()]
    all_files = search(dict.fromkeys((*computed.computed_files(), *raw_area)), matcher)
    own_tables = [path for path in site.tables if path.is_file()]
    rows: dict[Path, list[int]] = {}
    for raw in read_raw_files(own_tables, site.column):
        numbers = set(raw.rows_of(ids))
        if raw.path in all_files.holders:
            for (number, _), cells in zip(raw.people, raw.cells, strict=True):
                if any(matcher.matches_text(str(cell)) for cell in cells):
                    numbers.add(number)
        if numbers:
            rows[raw.path] = sorted(numbers)
    return Proof(all_files, rows, _ambiguous_files(plan, raw_area, own_tables))


def _ambiguous_files(
    plan: DeletionPlan, raw_area: list[Path], own_tables: list[Path]
) -> list[Path]:
    """Files that hold a text which may be an id, or something else of that name.

    In the field's own tables the column of participants says who is meant, and a short id may be a
    number or a letter of another column: it is looked for in other files only.
    """
    ids = [*filterfalse(is_distinctive, plan.ids())]
    long_marks = [ambiguous_mark(id_) for id_ in ids if len(id_) >= LEAST_LENGTH]
    short_marks = [ambiguous_mark(id_) for id_ in ids if len(id_) < LEAST_LENGTH]
    other_paths = [path for path in raw_area if path not in own_tables]
    areas = ((raw_area, long_marks), (other_paths, short_marks))
    return sorted(
        {p for area, marks in areas if marks for p in search(area, Matcher(marks)).holders}
    )
