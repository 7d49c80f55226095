"""What is to be deleted, worked out before anything is touched.

Owns whom a run forgets, which of the field's files and of the results hold them, and what is refused: an
id that is nowhere. Ids come from a file and not from the command line, which a shell keeps. Promises that
a run after a crash plans what the one before left.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import yaml

from fieldwork.errors import StudyError
from fieldwork.field.columns import identity
from fieldwork.field.deletion import computed
from fieldwork.field.deletion.marks import (
    ID_MASK,
    Mark,
    Matcher,
    distinctive_mark,
    is_distinctive,
    without_ids,
)
from fieldwork.field.deletion.raw_files import PageFile, RawFile, read_pages, read_raw_files
from fieldwork.field.deletion.record import Deletion, day_by_pseudonym, read_record
from fieldwork.field.deletion.search import search
from fieldwork.field.deletion.site import Site
from fieldwork.files import texts
from fieldwork.privacy import pseudonym, read_key

_MOST_NAMES = 12
_SETTINGS = "provenance/config.yaml"


class Person(NamedTuple):
    """A participant to be forgotten: the id as it is compared, and its pseudonym under each key."""

    id: str
    pseudonyms: tuple[str, ...]


def read_ids(path: Path) -> dict[str, int]:
    """The ids in a file, one a line, with the number of the line; none where there is no file.

    Raises:
        StudyError: the file is no UTF-8 text.
    """
    if not path.exists():
        return {}
    lines = texts.read_text(path).removeprefix("\ufeff").splitlines()
    pairs = [(identity(line), number) for number, line in enumerate(lines, start=1)]
    return {id_: number for id_, number in reversed(pairs) if id_}


def read_keys(key_file: Path, studies: Iterable[Path]) -> list[bytes]:
    """The key of the configured field, and those that other studies of the folder name."""
    files = [key_file]
    for study in studies:
        file = _key_file(study / _SETTINGS)
        files += [file] if file is not None and file.exists() else []
    return list(dict.fromkeys(read_key(path) for path in dict.fromkeys(files)))


def _key_file(settings: Path) -> Path | None:
    if not settings.exists():
        return None
    try:
        field = yaml.safe_load(texts.read_text(settings))["field"]
        return None if field is None else Path(field["key_file"])
    except (yaml.YAMLError, KeyError, TypeError) as error:
        raise StudyError(
            f"{settings}: not a readable record of a study's settings; delete it, and run "
            f"`snakemake forget` again"
        ) from error


class FieldInventory(NamedTuple):
    """What is there before a run.

    Attributes:
        record_lines: the record of earlier deletions.
        participant_ids: of all participants in the files.
    """

    raws: list[RawFile]
    pages: list[PageFile]
    keys: list[bytes]
    record_lines: list[Deletion]
    participant_ids: frozenset[str]


class Edit(NamedTuple):
    """Rows to be taken out of a file, which is deleted where it has no others."""

    raw: RawFile
    rows: dict[int, str]
    is_whole: bool


class DeletionPlan(NamedTuple):
    """What a run deletes.

    Attributes:
        studies: files computed from the field, by the folder of the study, in the order to be deleted.
        other_files: other computed files that hold a participant, copies of figures, and leftovers.
        marks: what the participants are looked for by.
        unexplained_studies: those with pseudonyms that fit no key and no file at hand.
    """

    inventory: FieldInventory
    people: list[Person]
    edits: list[Edit]
    pages: list[PageFile]
    studies: dict[Path, list[Path]]
    other_files: list[Path]
    marks: list[Mark]
    unexplained_studies: list[Path]

    def ids(self) -> set[str]:
        return {person.id for person in self.people}


def plan_deletion(site: Site) -> DeletionPlan:
    """Read ids, files and results.

    Raises:
        StudyError: nobody is to be forgotten, an id is nowhere, or a file cannot be read.
    """
    inventory = _take_inventory(site)
    line_numbers = read_ids(site.ids)
    people = [
        Person(id_, tuple(pseudonym(id_, key) for key in inventory.keys))
        for id_ in [*line_numbers, *_returned_ids(inventory, line_numbers)]
    ]
    if not people:
        raise StudyError(
            f"{site.ids}: the file does not exist or holds no id; write the ids of the participants to "
            f"delete into it, one a line, and run `snakemake forget` again"
        )
    ids = {person.id for person in people}
    edits = list(_edits(inventory.raws, ids))
    pages = [page for page in inventory.pages if page.participant in ids]
    _refuse_unknown(site, inventory, people, line_numbers)
    own_files = [*(e.raw.path for e in edits if e.is_whole), *(page.path for page in pages)]
    marks = list(_marks(people, inventory, own_files))
    studies, other_files = _computed_files(Matcher(marks))
    unexplained_studies = _unexplained_studies(inventory, studies)
    return DeletionPlan(
        inventory, people, edits, pages, studies, other_files, marks, unexplained_studies
    )


def _take_inventory(site: Site) -> FieldInventory:
    raws, pages = read_raw_files(site.tables, site.column), read_pages(site.pages())
    ids = {id_ for raw in raws for _, id_ in raw.people} | {page.participant for page in pages}
    keys = read_keys(site.key_file, computed.study_folders())
    return FieldInventory(raws, pages, keys, read_record(site.record), frozenset(ids))


def _returned_ids(inventory: FieldInventory, line_numbers: Collection[str]) -> list[str]:
    """Participants in the files who were deleted before: a download or a backup brought them back."""
    days = day_by_pseudonym(inventory.record_lines)
    return sorted(
        id_
        for id_ in inventory.participant_ids.difference(line_numbers)
        if any(pseudonym(id_, key) in days for key in inventory.keys)
    )


def _edits(raws: Sequence[RawFile], ids: Collection[str]) -> Iterator[Edit]:
    rows = [raw.rows_of(ids) for raw in raws]
    is_whole_file = [
        bool(r) and len(r) == len(raw.people) for raw, r in zip(raws, rows, strict=True)
    ]
    if all(is_whole_file):
        # without any file the config would be refused, and this very command with it
        is_whole_file = [False, *is_whole_file[1:]]
    for raw, raw_rows, is_whole in zip(raws, rows, is_whole_file, strict=False):
        if raw_rows:
            yield Edit(raw, raw_rows, is_whole)


# ---- ids that are nowhere ------------------------------------------------------------------------


def _refuse_unknown(
    site: Site, inventory: FieldInventory, people: Sequence[Person], line_numbers: Mapping[str, int]
) -> None:
    """Refuse ids that neither files nor results nor the record know; a typing error deletes nobody."""
    ids_and_pseudonyms = inventory.participant_ids | day_by_pseudonym(inventory.record_lines).keys()
    absent_people = [
        p
        for p in people
        if p.id not in ids_and_pseudonyms and ids_and_pseudonyms.isdisjoint(p.pseudonyms)
    ]
    files = computed.computed_files() if absent_people else []
    matchers = {
        p.id: Matcher(Mark(name, "anywhere") for name in p.pseudonyms) for p in absent_people
    }
    unknown_ids = [id_ for id_, matcher in matchers.items() if not search(files, matcher).holders]
    if not unknown_ids:
        return
    folded_ids = {id_.casefold() for id_ in inventory.participant_ids}
    case_variants = [id_ for id_ in unknown_ids if id_.casefold() in folded_ids]
    hint = " (the files have one that differs in upper and lower case)" if case_variants else ""
    paths_read = [*(raw.path for raw in inventory.raws), *(page.path for page in inventory.pages)]
    ids = [*unknown_ids, *filter(is_distinctive, inventory.participant_ids)]
    paths = [without_ids(str(path), ids) for path in paths_read]
    rest = f" and {len(paths) - _MOST_NAMES} more" if len(paths) > _MOST_NAMES else ""
    lines = ", ".join(map(str, sorted(line_numbers[id_] for id_ in unknown_ids)))
    raise StudyError(
        f"{site.ids}: no file of the field holds the id of line {lines}{hint}. {len(paths)} file(s) "
        f"were read ({', '.join(paths[:_MOST_NAMES]) or 'none'}{rest}), and no result holds its "
        f"pseudonym. Nothing was deleted; correct the line or remove it"
    )


# ---- what was computed ---------------------------------------------------------------------------


def _marks(
    people: Sequence[Person], inventory: FieldInventory, own_files: Sequence[Path]
) -> Iterator[Mark]:
    """What gives the people away in any file: pseudonyms, telling ids, names of their own files."""
    for person in people:
        yield from (Mark(name, "anywhere") for name in person.pseudonyms)
        if is_distinctive(person.id):
            yield distinctive_mark(person.id, inventory.participant_ids)
            continue
        # what an earlier run deleted stands in the record, without the id
        all_places = [
            line.place for line in inventory.record_lines if line.participant in person.pseudonyms
        ]
        places = [place.replace(ID_MASK, person.id) for place in all_places if ID_MASK in place]
        places += [
            str(path) for path in own_files if without_ids(str(path), [person.id]) != str(path)
        ]
        yield from (Mark(place, "word") for place in dict.fromkeys(places))


def _computed_files(matcher: Matcher) -> tuple[dict[Path, list[Path]], list[Path]]:
    """Files computed from the field, by study, where one of them holds a mark; and other such files."""
    files = computed.computed_files()
    holders = set(search(files, matcher).holders)
    files_by_study = {study: computed.field_files_of(study) for study in computed.study_folders()}
    studies = {s: paths for s, paths in files_by_study.items() if not holders.isdisjoint(paths)}
    of_studies = {path for study_files in studies.values() for path in study_files}
    other_files = [path for path in files if path in holders or computed.is_leftover(path)]
    other_files += computed.copies_of_figures() if studies else []
    return studies, [
        path
        for path in dict.fromkeys(other_files)
        if path not in of_studies and computed.is_remade(path)
    ]


def _unexplained_studies(inventory: FieldInventory, studies: Collection[Path]) -> list[Path]:
    names_here = {
        pseudonym(id_, key) for id_ in inventory.participant_ids for key in inventory.keys
    }
    names_here |= day_by_pseudonym(inventory.record_lines).keys()
    other_studies = [study for study in computed.study_folders() if study not in studies]
    names = {study: computed.pseudonyms_in(study) for study in other_studies}
    return [
        study for study in other_studies if names[study] and names[study].isdisjoint(names_here)
    ]
