"""Data frames of answers and items, as the tables give them, in as few words as a test needs."""

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import duckdb
import pandas as pd
import pyarrow as pa

from fieldwork.estimates.table import EstimateSettings, estimate_question
from fieldwork.measures import accuracy, lists
from fieldwork.metrics.scores import measure_score_spreads
from fieldwork.records.estimates import Estimate
from fieldwork.records.metrics import RunAccuracy
from fieldwork.records.parsing import Answer
from fieldwork.records.tasks import Item, ItemKind
from fieldwork.views import VIEWS

COVERED_BY_72 = 0.0686
"""Rarest kind of user that 72 users cover."""


def listed(
    *responses: Sequence[str] | None,
    model: str = "m",
    condition: str = "c",
    item_id: str = "i",
    puppet_id: str | None = None,
) -> list[Answer]:
    """One list answer a response; None is a refusal."""
    names = {"model": model, "condition": condition, "item_id": item_id, "puppet_id": puppet_id}
    return [
        _answer("list", replicate, options=options, **names)
        for replicate, options in enumerate(responses)
    ]


def chosen(
    letters: Iterable[str | None],
    *,
    model: str = "m",
    condition: str = "c",
    item_id: str = "i",
    puppet_id: str | None = None,
) -> list[Answer]:
    """One choice answer a letter, the same by both readings; None is unreadable."""
    names = {"model": model, "condition": condition, "item_id": item_id, "puppet_id": puppet_id}
    return [
        _answer("choice", replicate, letter=letter, **names)
        for replicate, letter in enumerate(letters)
    ]


def asked(letters: Mapping[str, str], *, item_id: str = "i", condition: str = "c") -> list[Answer]:
    """What each puppet answers: one letter a rerun."""
    return [
        answer
        for puppet, given in letters.items()
        for answer in chosen(given, puppet_id=puppet, item_id=item_id, condition=condition)
    ]


def differ(a: Sequence[str], b: Sequence[str]) -> float:
    """Half the options that one of two answers names alone."""
    return len(set(a) ^ set(b)) / 2


def mean(values: Iterable[float]) -> float:
    """Of the values that there are, and NaN of none."""
    numbers = [value for value in values if value == value]
    return sum(numbers) / len(numbers) if numbers else float("nan")


def runs_of(
    scores: Iterable[float], condition: str = "c", *, replicates: int = 0
) -> list[RunAccuracy]:
    """Runs with these scores, of reruns, or with `replicates` of puppets with so many runs each."""
    return [
        RunAccuracy(
            *("m", "t", condition, run, f"p{run // replicates:03}" if replicates else None),
            *(run % replicates if replicates else run, score, min(1.0, score + 0.1), 0.0),
            *(500, 5, False),
        )
        for run, score in enumerate(scores)
    ]


def _answer(
    kind: ItemKind,
    replicate: int,
    *,
    options: Sequence[str] | None = None,
    letter: str | None = None,
    **names: Any,
) -> Answer:
    items = None if options is None else list(options)
    reason = None if items is not None or letter is not None else "refused"
    content = {"raw_items": items, "items": items, "letter_strict": letter, "letter": letter}
    defaults = {"task": "t", "puppet_id": None, "outcome": reason or "ok", "reason": reason}
    return Answer(kind=kind, replicate=replicate, **defaults | content | names)


def question(
    item_id: str = "i", *, gold: str | None = "A", subject: str | None = "s", n_choices: int = 4
) -> Item:
    """A choice item with `n_choices` options."""
    choices = [f"choice {k}" for k in range(n_choices)]
    return Item(item_id, "choice", "question", "prompt", choices, gold, subject, "test")


def answer_frame(answers: Iterable[Answer]) -> pd.DataFrame:
    """The frame of an answers table; its columns are there without any row too."""
    return row_frame(answers, Answer)


def item_frame(*items: Item) -> pd.DataFrame:
    """The frame of a task's table."""
    return row_frame(items, Item)


def row_frame(rows: Iterable[Any], row_type: type[Any]) -> pd.DataFrame:
    """The frame of any table."""
    columns = [f.name for f in dataclasses.fields(row_type)]
    return pd.DataFrame([dataclasses.asdict(row) for row in rows], columns=columns)


def list_prompts(answers: pd.DataFrame, **settings: Any) -> list[Estimate]:
    """The measures of lists of each prompt."""
    return [row for row in list_estimates(answers, **settings) if row.item_id is not None]


def list_means(answers: pd.DataFrame, **settings: Any) -> list[Estimate]:
    """The measures of lists as means over prompts, beside the baseline's."""
    rows = list_estimates(answers, **settings)
    return [row for row in rows if row.item_id is None and row.reference == "baseline"]


def list_estimates(answers: pd.DataFrame, **settings: Any) -> list[Estimate]:
    """All rows of the measures of lists; the baseline is `offline` unless the settings say another."""
    return estimate_question(
        lists.QUESTION, answers, EstimateSettings(**{"baseline": "offline", "seed": 1, **settings})
    )


def score_estimates(
    runs: Sequence[RunAccuracy], *, baseline: str = "offline", seed: int = 1, **settings: Any
) -> list[Estimate]:
    """Scores of runs, and how they are beside the baseline's."""
    settings = {"n_permutations": 99, **settings}
    return estimate_question(
        accuracy.QUESTION, pd.DataFrame(list(runs)), EstimateSettings(baseline, seed, **settings)
    )


def former_table(name: str, runs: Sequence[RunAccuracy], **settings: Any) -> list[Any]:
    """The rows of `accuracy` or `score_comparisons`, as the views of these names have them."""
    settings = {"baseline": "offline", "n_permutations": 99, "seed": 1} | settings
    tables = {
        "estimates": score_estimates(runs, **settings),
        "accuracy_runs": runs,
        "score_spreads": measure_score_spreads(runs, **settings),
    }
    if not runs:
        return []
    with duckdb.connect() as database:
        for table, rows in tables.items():
            database.register(table, pa.Table.from_pylist([dataclasses.asdict(r) for r in rows]))
        view = database.sql(VIEWS[name].select)
        return [SimpleNamespace(**dict(zip(view.columns, r, strict=True))) for r in view.fetchall()]
