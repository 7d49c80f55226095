"""Scores of runs against hand counts and the published scores of real model outputs."""

import dataclasses
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from fieldwork.errors import StudyError
from fieldwork.metrics.accuracy import count_runs, measure_runs
from fieldwork.records.metrics import RunAccuracy
from fieldwork.records.parsing import Answer
from fieldwork.records.tasks import Item
from unit.metrics.metric_frames import answer_frame, chosen, former_table, item_frame, question

SHARED = Path(__file__).resolve().parents[4] / "shared" / "data"
ITEMS = [question("i", subject="s"), question("j", subject="s"), question("k", subject="u")]


def run_of(letters: str, *, puppet: str | None = None, condition: str = "c") -> list[Answer]:
    """A letter to each of the first items; `?` is unreadable."""
    names = {"puppet_id": puppet, "condition": condition}
    return [
        answer
        for item, letter in zip("ijk", letters, strict=False)
        for answer in chosen([None if letter == "?" else letter], item_id=item, **names)
    ]


def runs(*answers: list[Answer], items: list[Item] = ITEMS) -> list[RunAccuracy]:
    frame = answer_frame([answer for group in answers for answer in group])
    return measure_runs(frame, item_frame(*items))


@pytest.mark.parametrize(
    ("letters", "em", "failure"),
    [
        ("ABA", 0.75, 0.0),  # macro (1/2 + 1) / 2, micro would be 2/3
        ("A??", 0.25, 2 / 3),
        ("???", 0.0, 1.0),
    ],
)
def test_score_of_a_run(letters: str, em: float, failure: float) -> None:
    (row,) = runs(run_of(letters))
    assert (row.em_strict, row.em_flexible, row.format_failure) == (em, em, failure)
    assert (row.n_items, row.n_subjects, row.run, row.puppet_id) == (3, 2, 0, None)


def unread(answers: list[Answer], reason: str = "no letter found") -> list[Answer]:
    return [dataclasses.replace(a, outcome="ok", reason=reason) for a in answers]


def test_an_arm_of_which_no_answer_can_be_read_has_no_score() -> None:
    """A score of 0 % would be one of the parser; a model that refuses everything has it all the same."""
    rows = runs(
        *(unread(run_of("???", puppet=puppet)) for puppet in "pq"),
        unread(run_of("???", condition="refusing"), "refused"),
        [*unread(run_of("??", condition="mixed")), *run_of("??A", condition="mixed")[2:]],
    )
    found = {(a.condition, a.metric): a for a in former_table("accuracy", rows)}
    for metric in ("em_strict", "em_flexible", "format_failure"):
        row = found["c", metric]
        assert (row.mean, row.minimum, row.n_runs) == (None, None, 0)
        assert row.reason.startswith("none of 2 runs is complete and has an answer that can be")
    assert [found[c, "em_strict"].mean for c in ("refusing", "mixed")] == [0.0, 0.5]


def test_strict_and_flexible_are_read_apart_and_a_failed_response_is_none() -> None:
    answers = run_of("AAA")
    answers[0] = dataclasses.replace(answers[0], letter_strict=None)
    (row,) = runs(answers)
    assert (row.em_strict, row.em_flexible, row.format_failure) == (0.75, 1.0, 1 / 3)
    answers[2] = dataclasses.replace(answers[2], outcome="failed", letter=None)
    (row,) = runs(answers)
    assert (row.n_items, row.n_subjects) == (2, 1)
    # nor is an item without a right letter
    (row,) = runs(answers, items=[*ITEMS[:1], question("j", gold=None), ITEMS[2]])
    assert row.n_items == 1
    assert runs() == measure_runs(pd.DataFrame(), pd.DataFrame()) == []
    with pytest.raises(StudyError, match="item i of task t is answered twice by m, c, no puppet"):
        runs(run_of("A"), run_of("B"))


def score(em: float, *, n_items: int = 3, puppet: str | None = None) -> RunAccuracy:
    return RunAccuracy("m", "t", "c", 0, puppet, 0, em, em / 2, 1 - em, n_items, 2, False)


def spread(scores: list[RunAccuracy], **settings: Any) -> dict[str, Any]:
    rows = former_table("accuracy", count_runs(scores), baseline="c", **settings)
    return {row.metric: row for row in rows}


def strict(scores: list[RunAccuracy], **settings: Any) -> Any:
    return spread(scores, **settings)["em_strict"]


def test_spread_over_runs_and_students_interval() -> None:
    rows = spread([score(0.5), score(0.75), score(0.25)])
    assert {m: (r.mean, r.minimum, r.maximum, r.n_runs) for m, r in rows.items()} == {
        "em_strict": (0.5, 0.25, 0.75, 3),
        "em_flexible": (0.25, 0.125, 0.375, 3),
        "format_failure": (0.5, 0.25, 0.75, 3),
    }
    row = strict([score(em) for em in (0.5, 0.6, 0.7)])
    # 0.6 +- 4.3027 * 0.1 / sqrt(3)
    assert (row.ci_low, row.ci_high) == pytest.approx((0.35159, 0.84841), abs=1e-5)
    assert (row.unit, row.n_items, row.reason) == ("rerun", 3, None)


def test_incomplete_runs_are_dropped_and_named() -> None:
    row = strict([score(0.5), score(1.0), score(0.0, n_items=2)])
    assert (row.mean, row.minimum, row.n_runs) == (0.75, 0.5, 2)
    assert row.reason == "1 of 3 runs left out: they answer fewer than 3 items"


@pytest.mark.parametrize(
    ("puppets", "unit"),
    [
        ([None, None], "rerun"),
        (["p"], "puppet"),
        (["p", "p"], "rerun"),
        (["p", "p", "q"], "puppet"),
    ],
)
def test_unit_of_a_run(puppets: list[str | None], unit: str) -> None:
    assert strict([score(0.5, puppet=puppet) for puppet in puppets]).unit == unit


@pytest.mark.real_data
def test_published_scores_of_real_runs() -> None:
    """The strict reading of raw completions gives the leaderboard's macro mean of each model."""
    outputs = SHARED / "mmlu_model_outputs" / "helm_raw_mmlu_5models_9subjects.parquet"
    if not outputs.exists():
        pytest.skip(f"the real extracts are not at {SHARED}")
    raw = pd.read_parquet(outputs)
    raw["item_id"] = raw["subject"] + "-" + raw["instance_id"]
    letters = raw["completions"].str[0].str.strip()
    # HELM's reading: the stripped completion is a letter or nothing
    raw["letter"] = letters.where(letters.isin([*"ABCD"]), None)
    frame = answer_frame(
        answer
        for row in raw.itertuples()
        for answer in chosen([row.letter], item_id=row.item_id, model=row.model)
    )
    items = raw.drop_duplicates("item_id")
    asked = [question(r.item_id, gold=r.gold, subject=r.subject) for r in items.itertuples()]
    scores = pd.read_csv(SHARED / "helm" / "helm_mmlu_subject_scores.csv.gz")
    published = scores[scores["subject"].isin(set(raw["subject"]))].groupby("model_id")["em"].mean()
    found = {run.model: run for run in measure_runs(frame, item_frame(*asked))}
    compared = {model: run for model, run in found.items() if model in published.index}
    assert len(compared) >= 3
    for model, run in compared.items():
        assert (run.n_items, run.n_subjects) == (1079, 9)
        assert run.em_strict == pytest.approx(published[model], abs=0.0005)


def test_an_incomplete_first_run_gives_way_to_the_next() -> None:
    runs_of_p = [score(0.9, puppet="p", n_items=2), score(0.4, puppet="p"), score(0.6, puppet="q")]
    assert [run.is_counted for run in count_runs(runs_of_p)] == [False, True, True]
    row = strict(runs_of_p)
    assert (row.minimum, row.maximum, row.n_runs) == (0.4, 0.6, 2)
    start = "1 of 3 runs left out: they answer fewer than 3 items; no i"
    assert (row.reason or "").startswith(start)


def test_few_users_have_a_mean_and_no_interval() -> None:
    users = [score(0.4 + k / 100, puppet=f"p{k}") for k in range(40)]
    row = strict(users, rarest_users=0.05)
    assert (row.mean, row.ci_low, row.ci_high) == (pytest.approx(0.595), None, None)
    assert (row.reason or "").startswith("no interval: 40 users answer, and 100 are needed")
    wide = strict(users)
    # of evenly spread scores the likelihood's interval is near Student's: 2.0227 * 0.1169 / sqrt(40)
    assert (wide.ci_low, wide.ci_high) == pytest.approx((0.595 - 0.0374, 0.595 + 0.0374), abs=2e-3)
    assert wide.reason is None
