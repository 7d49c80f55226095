"""What is to be deleted, worked out before anything is touched.

Owns which files hold a participant. Whatever a study computed is made again without cost, so a study
that holds one goes as a whole. Promises that an id which is nowhere deletes nobody, and that a run after
a crash plans what the one before left: the record says which studies that were.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import yaml

from fieldwork import tables
from fieldwork.errors import StudyError
from fieldwork.field.deletion.ids import (
    ID_MASK,
    distinctive_mark,
    is_distinctive,
    read_ids,
    without_ids,
)
from fieldwork.field.deletion.raw_files import RawFile, read_pages, read_raw_files
from fieldwork.field.deletion.record import Action, Deletion, day_by_pseudonym, read_record
from fieldwork.field.deletion.site import (
    FIELD_KIT,
    FIGURES,
    IDS,
    RECORD,
    RESULTS,
    Site,
    computed_files,
    is_leftover,
    is_remade,
    study_of,
)
from fieldwork.files import texts
from fieldwork.files.text_search import Mark, Matcher, search
from fieldwork.privacy import pseudonym, read_key


class DeletionStep(NamedTuple):
    """A file or a folder, and what is deleted of it.

    Attributes:
        numbers: of rows that go with each id; of a folder its files, for every id.
        raw: the file of answers where rows are taken out of it.
    """

    place: Path
    action: Action
    numbers: Mapping[str, int]
    raw: RawFile | None = None


class DeletionPlan(NamedTuple):
    """What a run deletes.

    Attributes:
        people: pseudonyms under each key, by the id as it is compared.
        record_lines: the record of earlier deletions.
        steps: in their order: the field's files, what was computed.
        marks: what the participants are looked for by.
        unexplained_studies: those with pseudonyms that fit no key and no file at hand.
    """

    people: dict[str, tuple[str, ...]]
    record_lines: list[Deletion]
    steps: list[DeletionStep]
    marks: list[Mark]
    unexplained_studies: list[Path]

    def places(self, action: Action) -> list[Path]:
        """The places of some steps."""
        return [step.place for step in self.steps if step.action == action]


def plan_deletion(site: Site) -> DeletionPlan:
    """Read ids, files and results.

    Raises:
        StudyError: nobody is to be forgotten, an id is nowhere, or a file cannot be read.
    """
    raws, pages = read_raw_files(site.tables, site.column), read_pages(site.neighbours)
    ids_here = {id_ for raw in raws for id_ in raw.people.values()} | {*pages.values()}
    keys, lines, line_numbers = _read_keys(site.key_file), read_record(RECORD), read_ids(IDS)
    names = {id_: tuple(pseudonym(id_, key) for key in keys) for id_ in {*ids_here, *line_numbers}}
    forgotten = day_by_pseudonym(lines).keys()
    # a download or a backup brought these back
    ids_again = {id_ for id_ in ids_here if not forgotten.isdisjoint(names[id_])}
    people = {id_: names[id_] for id_ in (*line_numbers, *sorted(ids_again - line_numbers.keys()))}
    if not people:
        raise StudyError(
            f"{IDS}: the file does not exist or holds no id; write the ids of the participants to "
            f"delete into it, one a line, and run `snakemake forget` again"
        )
    absent = [id_ for id_ in people if id_ not in ids_here and forgotten.isdisjoint(names[id_])]
    nowhere = [str(line_numbers[id_]) for id_ in absent if not _is_in_results(names[id_])]
    if nowhere:
        raise StudyError(
            f"{IDS}: no file of the field holds the id of line {', '.join(nowhere)}, where upper and "
            f"lower case count, and no result holds its pseudonym; {len(raws) + len(pages)} file(s) were "
            f"read. Nothing was deleted; correct the line or remove it"
        )
    marks = [*_marks(people, ids_here, [*site.tables, *pages], lines)]
    steps = [*_raw_steps(raws, people), *_page_steps(pages, people)]
    steps += _computed_steps(marks, people, lines)
    names_here = forgotten | {name for id_ in ids_here for name in names[id_]}
    plan = DeletionPlan(people, lines, steps, marks, [])
    other_studies = _unexplained_studies(plan.places("results deleted"), names_here)
    return plan._replace(unexplained_studies=[*other_studies])


def _read_keys(key_file: Path) -> list[bytes]:
    """The key of the configured field, and those that other studies of the folder name."""
    files = {key_file: None}
    for settings in sorted(RESULTS.glob("*/provenance/config.yaml")):
        try:
            field = yaml.safe_load(texts.read_text(settings))["field"]
            other_files = [] if field is None else [Path(field["key_file"])]
        except (yaml.YAMLError, KeyError, TypeError) as error:
            raise StudyError(
                f"{settings}: not a readable record of a study's settings; delete it, and run "
                f"`snakemake forget` again"
            ) from error
        files |= dict.fromkeys(file for file in other_files if file.exists())
    return list(dict.fromkeys(map(read_key, files)))


def _is_in_results(pseudonyms: Sequence[str]) -> bool:
    return bool(search(computed_files(), Matcher(map(Mark, pseudonyms))).holders)


def _marks(
    people: Mapping[str, Sequence[str]],
    ids_here: Collection[str],
    paths: Sequence[Path],
    lines: Sequence[Deletion],
) -> Iterator[Mark]:
    """What gives people away in any file: pseudonyms, telling ids, names of files called after them."""
    # of a run that was killed, also under a key that went with its study
    open_names = [line.participant for line in lines if not line.searched_at]
    names = [name for own_names in people.values() for name in own_names]
    yield from map(Mark, dict.fromkeys([*names, *open_names]))
    for id_, own_names in people.items():
        if is_distinctive(id_):
            yield distinctive_mark(id_, ids_here)
        else:
            # what an earlier run deleted stands in the record, without the id
            places = [line.place for line in lines if line.participant in own_names]
            places = [place.replace(ID_MASK, id_) for place in places if ID_MASK in place]
            places += [str(path) for path in paths if without_ids(str(path), [id_]) != str(path)]
            yield from (Mark(place, is_word=True) for place in dict.fromkeys(places))


# ---- steps ---------------------------------------------------------------------------------------


def _raw_steps(raws: Sequence[RawFile], ids: Collection[str]) -> Iterator[DeletionStep]:
    numbers = [Counter(raw.rows_of(ids).values()) for raw in raws]
    is_whole = [0 < n.total() == len(raw.people) for raw, n in zip(raws, numbers, strict=True)]
    if all(is_whole):
        # without any file the config would be refused, and this very command with it
        is_whole[:1] = [False]
    for raw, n_rows, is_alone in zip(raws, numbers, is_whole, strict=True):
        if n_rows:
            yield DeletionStep(
                raw.path, "file deleted" if is_alone else "rows deleted", n_rows, raw
            )


def _page_steps(pages: Mapping[Path, str], ids: Collection[str]) -> Iterator[DeletionStep]:
    own_pages = {path: id_ for path, id_ in pages.items() if id_ in ids}
    yield from (DeletionStep(path, "file deleted", {id_: 1}) for path, id_ in own_pages.items())


def _computed_steps(
    marks: Sequence[Mark], ids: Collection[str], lines: Sequence[Deletion]
) -> Iterator[DeletionStep]:
    """Folders of results in which a file holds a mark, other such files, and leftovers."""
    files = computed_files()
    holders = {*search(files, Matcher(marks)).holders}
    studies = {study for path in holders if (study := study_of(path))}
    studies |= {Path(li.place) for li in lines if li.action == "results deleted" and li.is_open()}
    studies |= {FIGURES} if studies else set()
    sizes = Counter[Path | None]()
    for path in files:
        study = study_of(path)
        is_linked = path in holders and RESULTS.resolve() not in path.resolve().parents
        if study in studies and FIELD_KIT not in path.parts and not is_linked:
            sizes[study] += 1
        elif path in holders or is_leftover(path) or (studies and path.parent == RESULTS):
            yield from [DeletionStep(path, "deleted", {})] if is_remade(path) else []
    yield from (
        DeletionStep(s, "results deleted", dict.fromkeys(ids, n)) for s, n in sizes.items() if s
    )


def _unexplained_studies(
    deleted_studies: Collection[Path], names_here: Collection[str]
) -> Iterator[Path]:
    for table in sorted(RESULTS.glob("*/field/answers.parquet")):
        if table.parents[1] not in deleted_studies:
            names = {*tables.read_groups(table, "participant_id", "model")}
            if names and names.isdisjoint(names_here):
                yield table.parents[1]
