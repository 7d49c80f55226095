"""What is to be deleted, worked out before anything is touched.

Owns whom a run forgets, which of the field's files and of the results hold them, and what is refused: an
id that is nowhere. Promises that a run after a crash plans what the one before left.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from fieldwork.errors import StudyError
from fieldwork.field.deletion import computed
from fieldwork.field.deletion.marks import (
    ID_MASK,
    Mark,
    Matcher,
    is_telling,
    telling_mark,
    without_ids,
)
from fieldwork.field.deletion.people import Person, people_of, read_ids, read_keys
from fieldwork.field.deletion.raw_files import PageFile, RawFile, read_pages, read_raw_files
from fieldwork.field.deletion.record import Deletion, days_of, read_record
from fieldwork.field.deletion.search import search
from fieldwork.field.deletion.site import Site
from fieldwork.field.privacy import pseudonym

_MOST_NAMED = 12


class Stock(NamedTuple):
    """What is there before a run.

    Attributes:
        lines: the record of earlier deletions.
        known_ids: of all participants in the files.
    """

    raws: list[RawFile]
    pages: list[PageFile]
    keys: list[bytes]
    lines: list[Deletion]
    known_ids: frozenset[str]


class Edit(NamedTuple):
    """Rows to be taken out of a file, which is deleted where it has no others."""

    raw: RawFile
    rows: dict[int, str]
    is_whole: bool


class Plan(NamedTuple):
    """What a run deletes.

    Attributes:
        studies: files computed from the field, by the folder of the study, in the order to be deleted.
        others: other computed files that hold a participant, copies of figures, and leftovers.
        marks: what the participants are looked for by.
        strangers: studies whose pseudonyms no key and no file at hand explains.
    """

    stock: Stock
    people: list[Person]
    edits: list[Edit]
    pages: list[PageFile]
    studies: dict[Path, list[Path]]
    others: list[Path]
    marks: list[Mark]
    strangers: list[Path]

    def ids(self) -> set[str]:
        """Those of the people."""
        return {person.id for person in self.people}


def make_plan(site: Site) -> Plan:
    """Read ids, files and results.

    Raises:
        StudyError: nobody is to be forgotten, an id is nowhere, or a file cannot be read.
    """
    stock = _stock(site)
    numbers = read_ids(site.ids)
    people = people_of([*numbers, *_comebacks(stock, numbers)], stock.keys)
    if not people:
        raise StudyError(
            f"{site.ids}: there is no such file, or no id in it; write the ids of the participants "
            f"who are to be forgotten into it, one a line, and run `snakemake forget` again"
        )
    ids = {person.id for person in people}
    edits = list(_edits(stock.raws, ids))
    pages = [page for page in stock.pages if page.participant in ids]
    _refuse_unknown(site, stock, people, numbers)
    own_files = [*(e.raw.path for e in edits if e.is_whole), *(page.path for page in pages)]
    marks = list(_marks(people, stock, own_files))
    studies, others = _computed(Matcher(marks))
    return Plan(stock, people, edits, pages, studies, others, marks, _strangers(stock, studies))


def _stock(site: Site) -> Stock:
    raws, pages = read_raw_files(site.tables, site.column), read_pages(site.pages())
    ids = {who for raw in raws for _, who in raw.people} | {page.participant for page in pages}
    keys = read_keys(site.key_file, computed.study_folders())
    return Stock(raws, pages, keys, read_record(site.record), frozenset(ids))


def _comebacks(stock: Stock, numbers: Collection[str]) -> list[str]:
    """Participants in the files who were forgotten before: a download or a backup brought them back."""
    days = days_of(stock.lines)
    return sorted(
        who
        for who in stock.known_ids.difference(numbers)
        if any(pseudonym(who, key) in days for key in stock.keys)
    )


def _edits(raws: Sequence[RawFile], ids: Collection[str]) -> Iterator[Edit]:
    rows = [raw.rows_of(ids) for raw in raws]
    whole = [bool(r) and len(r) == len(raw.people) for raw, r in zip(raws, rows, strict=True)]
    if all(whole):
        # without any file the config would be refused, and this very command with it
        whole = [False, *whole[1:]]
    for raw, numbers, is_whole in zip(raws, rows, whole, strict=False):
        if numbers:
            yield Edit(raw, numbers, is_whole)


# ---- ids that are nowhere ------------------------------------------------------------------------


def _refuse_unknown(
    site: Site, stock: Stock, people: Sequence[Person], numbers: Mapping[str, int]
) -> None:
    """Refuse ids that neither files nor results nor the record know; a typing error deletes nobody."""
    there = stock.known_ids | days_of(stock.lines).keys()
    absent = [p for p in people if p.id not in there and there.isdisjoint(p.pseudonyms)]
    files = computed.area() if absent else []
    unknown = [p.id for p in absent if not search(files, _pseudonyms_of(p)).holders]
    if not unknown:
        return
    folded = {who.casefold() for who in stock.known_ids}
    near = [who for who in unknown if who.casefold() in folded]
    hint = " (the files have one that differs in upper and lower case)" if near else ""
    read = [*(raw.path for raw in stock.raws), *(page.path for page in stock.pages)]
    ids = [*unknown, *filter(is_telling, stock.known_ids)]
    paths = [without_ids(str(path), ids) for path in read]
    more = f" and {len(paths) - _MOST_NAMED} more" if len(paths) > _MOST_NAMED else ""
    lines = ", ".join(str(numbers[who]) for who in sorted(unknown, key=numbers.__getitem__))
    raise StudyError(
        f"{site.ids}: no file of the field holds the id of line {lines}{hint}. {len(paths)} file(s) "
        f"were read ({', '.join(paths[:_MOST_NAMED]) or 'none'}{more}), and no result holds its "
        f"pseudonym. Nothing was deleted; correct the line or remove it"
    )


def _pseudonyms_of(person: Person) -> Matcher:
    return Matcher(Mark(name, "anywhere") for name in person.pseudonyms)


# ---- what was computed ---------------------------------------------------------------------------


def _marks(people: Sequence[Person], stock: Stock, own_files: Sequence[Path]) -> Iterator[Mark]:
    """What gives the people away in any file: pseudonyms, telling ids, names of their own files."""
    for person in people:
        yield from (Mark(name, "anywhere") for name in person.pseudonyms)
        if is_telling(person.id):
            yield telling_mark(person.id, stock.known_ids)
            continue
        # what an earlier run deleted stands in the record, without the id
        all_places = [line.place for line in stock.lines if line.participant in person.pseudonyms]
        places = [place.replace(ID_MASK, person.id) for place in all_places if ID_MASK in place]
        places += [
            str(path) for path in own_files if without_ids(str(path), [person.id]) != str(path)
        ]
        yield from (Mark(place, "word") for place in dict.fromkeys(places))


def _computed(matcher: Matcher) -> tuple[dict[Path, list[Path]], list[Path]]:
    """Files computed from the field, by study, where one of them holds a mark; and other such files."""
    files = computed.area()
    holders = set(search(files, matcher).holders)
    studies = {study: computed.field_files_of(study) for study in computed.study_folders()}
    studies = {study: own for study, own in studies.items() if not holders.isdisjoint(own)}
    of_studies = {path for own in studies.values() for path in own}
    others = [path for path in files if path in holders or computed.is_leftover(path)]
    others += computed.copies_of_figures() if studies else []
    return studies, [
        path
        for path in dict.fromkeys(others)
        if path not in of_studies and computed.is_remade(path)
    ]


def _strangers(stock: Stock, studies: Collection[Path]) -> list[Path]:
    names_here = {pseudonym(who, key) for who in stock.known_ids for key in stock.keys}
    names_here |= days_of(stock.lines).keys()
    others = [study for study in computed.study_folders() if study not in studies]
    names = {study: computed.pseudonyms_in(study) for study in others}
    return [study for study in others if names[study] and names[study].isdisjoint(names_here)]
