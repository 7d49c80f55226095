"""The folder of a page, written from a study's tables.

Promises equal files from equal tables: neither the time of day nor a path of the machine is in them.
Replies are read an arm at a time. The page itself is written last.
"""

import hashlib
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from fieldwork import tables
from fieldwork.explorer.answers import (
    PageNames,
    Readings,
    ReplyFacts,
    answer_columns,
    runs_that_count,
)
from fieldwork.explorer.contexts import ContextIndex, ContextTable, store_contexts
from fieldwork.explorer.data_files import RowFiles, write_data
from fieldwork.explorer.page import PageFigure, PageParts, render
from fieldwork.explorer.prose import html_of
from fieldwork.explorer.replies import (
    CallSettings,
    Merges,
    field_details,
    merges_by_spelling,
    reply_details,
    text_hash,
)
from fieldwork.explorer.study_data import PageCounts, PageSettings, study_block
from fieldwork.files import texts
from fieldwork.files.cells import plain_cell
from fieldwork.page_templates import script_json
from fieldwork.records.field import FIELD, FieldAnswer
from fieldwork.records.figures import FigureMark
from fieldwork.records.generation import Response
from fieldwork.records.metrics import RunAccuracy
from fieldwork.records.parsing import Answer, MergedItem
from fieldwork.records.shared import ItemKey
from fieldwork.records.tasks import Item


class PageTables(NamedTuple):
    """Paths of the tables that a page is made from; a study that still runs may lack any of them.

    Attributes:
        responses: by model, task and condition, as `responses/{model}/{task}/{condition}.parquet`.
        figures: the SVG of each figure, and `marks` the tables beside them.
    """

    answers: Sequence[str]
    merges: Sequence[str]
    questions: Sequence[str]
    responses: Sequence[str]
    contexts: Sequence[str]
    corpora: Sequence[str]
    accuracy_runs: Sequence[str]
    field_answers: Sequence[str]
    findings: Sequence[str]
    figures: Sequence[str]
    marks: Sequence[str]


class _AnswersPlace(NamedTuple):
    model: str
    task: str
    condition: str


class _ReplyKey(NamedTuple):
    item_id: str
    puppet_id: str | None
    replicate: int


def read_parts(page: str, style: str, scripts: Sequence[str]) -> PageParts:
    """The template's files, scripts in the order of their names."""
    in_order = sorted(scripts, key=lambda path: Path(path).name)
    script_texts = tuple(texts.read_text(path) for path in in_order)
    return PageParts(texts.read_text(page), texts.read_text(style), script_texts, page)


def write_folder(
    folder: str,
    sources: PageTables,
    settings: PageSettings,
    parts: PageParts,
    missing: Sequence[str] = (),
) -> None:
    """Write data and page into a folder, which is made.

    Args:
        missing: what a study that still runs lacks, a sentence each.

    Raises:
        StudyError: a table cannot be read, or the disk refuses a file.
    """
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    items = tables.read_questions(sources.questions)
    conditions = settings.condition_names()
    answers = [
        row
        for path in sources.answers
        for row in tables.read_rows(path, Answer)
        if row.condition in conditions
    ]
    with RowFiles(place, "contexts") as context_files:
        contexts = store_contexts(
            _context_tables(sources.contexts, settings),
            sources.corpora,
            settings.contexts,
            context_files,
        )
    readings = _readings(sources, items)
    with RowFiles(place, "details") as detail_files:
        replies = [
            *_store_replies(answers, sources, settings, readings.merges, contexts, detail_files)
        ]
    names = PageNames([*settings.models], [*items], conditions)
    columns = answer_columns(answers, replies, names, readings, contexts.rows)
    # the page compares it with its own, so that files of two runs are not shown as one
    version = hashlib.sha256(script_json(columns).encode()).hexdigest()[:12]
    write_data(place, "answers", script_json({"version": version, **columns}))
    counts = PageCounts(version, len(answers), len(contexts.rows), detail_files.first_rows)
    marks = _shown_marks(sources.marks, settings)
    study = study_block(settings, items, marks, counts, missing)
    findings = "\n".join(html_of(texts.read_text(path)) for path in sources.findings)
    figures = [*_figures(sources.figures, settings, marks)]
    tables.write_text(place / "index.html", render(parts, study, findings, figures))


def _context_tables(paths: Sequence[str], settings: PageSettings) -> list[ContextTable]:
    return [
        ContextTable(path, settings.conditions[tables.stem(path)].get("corpus")) for path in paths
    ]


def _readings(sources: PageTables, items: Mapping[ItemKey, Item]) -> Readings:
    merges = [row for path in sources.merges for row in read_merges(path)]
    runs = [row for path in sources.accuracy_runs for row in tables.read_rows(path, RunAccuracy)]
    return Readings(
        merges=merges_by_spelling(merges),
        runs=runs_that_count(runs),
        gold_items={key for key, item in items.items() if item.gold is not None},
    )


def read_merges(path: str) -> list[MergedItem]:
    """How written options became canonical ones: `answers/items.csv`."""
    columns = ("task", "item_id", "raw", "canonical", "rule", "n")
    rows = ([plain_cell(row[name]) for name in columns] for row in texts.read_table(path, columns))
    return [
        MergedItem(task, item_id, raw, canonical, rule, int(n))
        for task, item_id, raw, canonical, rule, n in rows
    ]


def _store_replies(
    answers: Sequence[Answer],
    sources: PageTables,
    settings: PageSettings,
    merges: Merges,
    contexts: ContextIndex,
    files: RowFiles,
) -> Iterator[ReplyFacts]:
    """Write the details of every answer, in order, and say what the columns need of them."""
    paths = {
        _AnswersPlace(*Path(path).with_suffix("").parts[-3:]): path for path in sources.responses
    }
    field = _field_texts(sources.field_answers)
    for arm, rows in groupby(
        answers, key=lambda row: _AnswersPlace(row.model, row.task, row.condition)
    ):
        if arm.condition == FIELD:
            for answer in rows:
                field_answer = field[arm.model, arm.task, _key(answer)]
                files.add(field_details(answer, field_answer, merges))
                yield _facts(field_answer.text, -1)
            continue
        condition = settings.conditions[arm.condition]
        call = CallSettings(condition["temperature"], settings.max_tokens[arm.task], settings.seed)
        responses = _responses(paths[arm])
        for answer in rows:
            response, draw = responses[_key(answer)].popleft()
            files.add(reply_details(answer, response, draw, merges, call))
            yield _facts(response.text, contexts.numbers.get(response.context_id or "", -1))


def _key(row: Answer | Response) -> _ReplyKey:
    return _ReplyKey(row.item_id, row.puppet_id, row.replicate)


def _facts(text: str | None, context: int) -> ReplyFacts:
    return ReplyFacts(len(text or ""), context, text_hash(text))


class _NumberedResponse(NamedTuple):
    """A response, and the number of the draw that it was asked for."""

    response: Response
    draw: int


def _responses(path: str) -> dict[_ReplyKey, deque[_NumberedResponse]]:
    """The responses of an arm by what an answer is known by."""
    responses: dict[_ReplyKey, deque[_NumberedResponse]] = {}
    draws = set[tuple[str, str | None, int]]()
    for row in tables.read_rows(path, Response):
        # puppets with equal contexts make equal calls, which are different draws
        draw = row.replicate
        while (call := (row.item_id, row.context_id, draw)) in draws:
            draw += 1
        draws.add(call)
        responses.setdefault(_key(row), deque()).append(_NumberedResponse(row, draw))
    return responses


def _field_texts(paths: Sequence[str]) -> dict[tuple[str, str, _ReplyKey], FieldAnswer]:
    return {
        (row.model, row.task, _ReplyKey(row.item_id, row.participant_id, row.replicate)): row
        for path in paths
        for row in tables.read_rows(path, FieldAnswer)
    }


def _figure_name(path: str) -> str:
    """`fig1` of `fig1.svg` and `fig1.marks.parquet`."""
    return Path(path).name.partition(".")[0]


def _shown_marks(paths: Sequence[str], settings: PageSettings) -> dict[str, list[FigureMark]]:
    """The marks of each figure, without those of single participants who are not in the page."""
    path_by_name = {_figure_name(path): path for path in paths}
    return {
        name: [
            mark
            for mark in tables.read_rows(path_by_name[name], FigureMark)
            if settings.field or mark.condition != FIELD or mark.puppet_id is None
        ]
        for name in settings.figures
        if name in path_by_name
    }


def _figures(
    paths: Sequence[str], settings: PageSettings, marks: Mapping[str, Sequence[FigureMark]]
) -> Iterator[PageFigure]:
    path_by_name = {_figure_name(path): path for path in paths}
    for name, rows in marks.items():
        if name in path_by_name:
            svg = texts.read_text(path_by_name[name])
            yield PageFigure(name, settings.figures[name], svg, rows)
