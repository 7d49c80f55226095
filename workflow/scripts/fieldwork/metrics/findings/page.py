"""The page of findings: what is told of a study, in which order, and what the study cannot say.

Owns the types of a section and the sentences about the study itself; `claims` has the sentences about
its numbers. Promises that rows are told in the order of the study's models, tasks and conditions.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, Protocol, TypeVar

import pandas as pd

from fieldwork.metrics.findings.phrases import LEVEL, counted, listed, literal
from fieldwork.records.field import FIELD
from fieldwork.records.metrics import VarianceShare
from fieldwork.records.parsing import REFUSALS


class Study(NamedTuple):
    """What the sentences need to know of a study beside its tables.

    `models` and `conditions` are names → labels, in the order they are told. `users` bring a user,
    `controls` ask the baseline again.
    """

    name: str
    models: Mapping[str, str]
    tasks: Sequence[str]
    conditions: Mapping[str, str]
    baseline: str
    users: Sequence[str]
    controls: Sequence[str]
    notes: Sequence[str]

    def label(self, condition: str) -> str:
        """Printed name of a condition."""
        return self.conditions.get(condition, condition)


def as_markdown(study: Study) -> Study:
    """The study with labels and notes as the page shows them just as they are."""
    return study._replace(
        models={name: literal(label) for name, label in study.models.items()},
        conditions={name: literal(label) for name, label in study.conditions.items()},
        notes=[literal(note) for note in study.notes],
    )


REFUSALS_ARE_READ = (
    "Refusals are recognised by their words: on real answers, 99 % of those in surveys and 86 % of those "
    "in chats; of what counts as a refusal, none in surveys and 22 % in chats is something else "
    "(docs/parsing.md)"
)
"""Recall and precision of the parser's refusals, measured on real answers."""


class Asked(NamedTuple):
    """What came back under a condition: requests, and how many of them have no answer to count.

    Attributes:
        n_unread: that no reader can make anything of; the empty ones are among them.
        n_refused: by the model, or by a filter of its provider.
        n_truncated: cut off at the longest answer asked for, readable or not.
    """

    model: str
    task: str
    condition: str
    n: int
    n_failed: int
    n_unread: int
    n_refused: int = 0
    n_truncated: int = 0
    n_empty: int = 0


class Unnamed(NamedTuple):
    """Replies of a model, and how many of them do not say which model answered."""

    model: str
    n: int
    n_unnamed: int


class Section(NamedTuple):
    """A heading, the one sentence that matters, and the sentences behind it."""

    title: str
    head: str
    lines: list[str]


class Row(Protocol):
    """What rows of all tables have."""

    @property
    def model(self) -> str: ...
    @property
    def task(self) -> str: ...
    @property
    def condition(self) -> str: ...


class TestedRow(Row, Protocol):
    """What rows of tables with a test have."""

    @property
    def p_holm(self) -> float | None: ...


MANY = 0.2
"""Share of an arm's answers above which it is said first that they cannot be read."""

R = TypeVar("R", bound=Row)
T = TypeVar("T")


def count_answers(answers: pd.DataFrame) -> list[Asked]:
    """One row for each model, task and condition, in this order; empty input gives none."""
    if answers.empty:
        return []
    outcome, reason = answers["outcome"], answers["reason"]
    failed = outcome == "failed"
    refused = reason.isin(REFUSALS) & ~failed
    flags = {
        "failed": failed,
        "unread": reason.notna() & ~failed & ~refused,
        "refused": refused,
        "truncated": outcome == "truncated",
        "empty": outcome == "empty",
    }
    arms = answers.assign(**flags).groupby(["model", "task", "condition"], sort=True)[[*flags]]
    return [
        Asked(str(model), str(task), str(condition), int(n), *map(int, counts))
        for (model, task, condition), n, counts in zip(
            arms.size().index,
            arms.size(),
            arms.sum().itertuples(index=False, name=None),
            strict=True,
        )
    ]


def told(rows: Iterable[R], study: Study, conditions: Sequence[str]) -> list[R]:
    """Rows of the study's models and tasks under `conditions`, in the order they are told."""
    places = [list(study.models), list(study.tasks), list(study.conditions)]
    kept = [
        r
        for r in rows
        if r.model in study.models
        and r.task in study.tasks
        and r.condition in conditions
        and r.condition in study.conditions
    ]
    return sorted(
        kept,
        key=lambda r: (
            places[0].index(r.model),
            places[1].index(r.task),
            places[2].index(r.condition),
        ),
    )


def where(row: Row, study: Study) -> str:
    """Model, condition and task of a row."""
    parts = [study.label(row.condition), row.task]
    # one model goes without saying
    return ", ".join([study.models[row.model], *parts] if len(study.models) > 1 else parts)


def is_shown(p: float | None) -> bool:
    """Whether a corrected p-value is told as a difference."""
    return p is not None and p < LEVEL


def alarm(rows: Sequence[TestedRow], study: Study) -> str:
    """What a control has to say to the head of a section: that it differs too, or nothing."""
    differing = [r for r in rows if r.condition in study.controls and is_shown(r.p_holm)]
    if not differing:
        return ""
    names = listed(list(dict.fromkeys(where(r, study) for r in differing)))
    return (
        f" Where only chance or a changed model can differ, {counted(len(differing), 'difference')} "
        f"came up as well ({names})."
    )


def cases(rows: Sequence[object]) -> str:
    """`9 cases`."""
    return f"{len(rows)} cases" if len(rows) != 1 else "1 case"


def count_unnamed(replies: Iterable[tuple[str, Sequence[str]]]) -> list[Unnamed]:
    """One row for each model of which a reply does not name the model, in alphabetical order.

    Args:
        replies: model and defects of each response.
    """
    n: Counter[str] = Counter()
    n_unnamed: Counter[str] = Counter()
    for model, defects in replies:
        n[model] += 1
        n_unnamed[model] += "model" in defects
    return [Unnamed(model, n[model], n_unnamed[model]) for model in sorted(n) if n_unnamed[model]]


def groups(rows: Sequence[T], key: Callable[[T], tuple[str, ...]]) -> Iterator[list[T]]:
    """Rows with equal keys together, in the order the keys come."""
    found: dict[tuple[str, ...], list[T]] = {}
    for row in rows:
        found.setdefault(key(row), []).append(row)
    yield from found.values()


def limits(
    asked: Sequence[Asked],
    variance: Sequence[VarianceShare],
    study: Study,
    unnamed: Sequence[Unnamed] = (),
) -> Section:
    """What the study cannot say, and what is missing from it."""
    lines = [f"{note}." for note in study.notes]
    lines += [
        f"{where(r, study)}: {_lost(r)}, of {r.n:,} [answers]"
        for r in told(asked, study, list(study.conditions))
        if r.n_failed or r.n_unread or r.n_refused or r.n_truncated
    ]
    if any(r.n_refused for r in told(asked, study, list(study.conditions))):
        lines.append(REFUSALS_ARE_READ)
    lines += [
        f"{study.models.get(model, model)}: of {counted(n, 'answer')} {n_unnamed:,} came without the "
        f"name of the model, so that another model's would not be noticed [responses]"
        for model, n, n_unnamed in unnamed
    ]
    once = [r for r in told(variance, study, study.users) if r.n_puppets and not r.n_repeated]
    if any(r.condition == FIELD for r in once):
        lines.append(
            "No participant answers a prompt twice, so who asks cannot be told from asking again in "
            "the field [variance]"
        )
    once = [r for r in once if r.condition != FIELD]
    if once:
        names = listed(list(dict.fromkeys(study.label(r.condition) for r in once)))
        lines.append(
            f"{names}: puppets were asked once, so who asks cannot be told from asking again; "
            "set replicates: 2 [variance]"
        )
    if not study.controls:
        lines.append(
            "No condition asks the baseline again (after:), so nothing shows which numbers chance "
            "alone gives"
        )
    if FIELD not in study.conditions:
        lines.append("No answers of real users: nothing here says how near the puppets are to them")
    lines.append(
        "Intervals cover the draw of answers and of puppets, not the choice of prompts or of the corpus"
    )
    total, lost = sum(r.n for r in asked), sum(r.n_failed + r.n_unread for r in asked)
    head = (
        f"Of {counted(total, 'answer')} asked for, {lost:,} failed or cannot be read [answers]."
        if total
        else "No answers have arrived [answers]."
    )
    return Section("What this study cannot say", head, lines)


def _lost(row: Asked) -> str:
    parts = [
        f"{counted(row.n_failed, 'call')} failed",
        f"{counted(row.n_unread, 'answer')} cannot be read",
        f"{counted(row.n_refused, 'answer')} {'is a refusal' if row.n_refused == 1 else 'are refusals'}",
        f"{counted(row.n_truncated, 'answer')} {'is' if row.n_truncated == 1 else 'are'} cut off",
    ]
    counts = (row.n_failed, row.n_unread, row.n_refused, row.n_truncated)
    # the first two are what is asked first: that they are none is worth saying
    return listed(parts[:2] + [part for part, n in zip(parts[2:], counts[2:], strict=True) if n])


def cautions(asked: Sequence[Asked], study: Study) -> list[str]:
    """What must be read before any number: arms of which many answers are worth nothing."""
    return [
        f"Caution: {where(r, study)}: of {counted(r.n, 'answer')} {', '.join(parts)}. Numbers of this "
        f"arm say more about the asking than about the model"
        for r in told(asked, study, list(study.conditions))
        if (parts := [*_many(r)])
    ]


def _many(row: Asked) -> Iterator[str]:
    for n, what in (
        (row.n_unread, "cannot be read"),
        (row.n_truncated, "are cut off at the longest answer asked for (max_tokens)"),
        (row.n_empty, "are empty"),
    ):
        if n > MANY * row.n:
            yield f"{n:,} ({n / row.n:.0%}) {what}".replace("%", " %")


def render(sections: Sequence[Section], study: Study, cautions: Sequence[str] = ()) -> list[str]:
    """The lines of findings.md; the cautions stand above all."""
    lines = [f"# Findings of the study {study.name}", ""]
    for note in (*cautions, *study.notes):
        lines += [f"**{note}.**", ""]
    lines += [
        f"A difference is told where its test has p < {LEVEL:g} after Holm's correction for all "
        "that was tested beside it; otherwise it says that no difference is shown, with the same "
        "numbers. A word in brackets is the table to check it in: beside this page metrics/*.csv and "
        "a view of study.duckdb, and a section of docs/methods.md.",
        "",
    ]
    for section in sections:
        lines += [f"## {section.title}", "", section.head, ""]
        lines += [f"- {line.rstrip('.')}." for line in section.lines]
        lines += [""] if section.lines else []
    return lines
