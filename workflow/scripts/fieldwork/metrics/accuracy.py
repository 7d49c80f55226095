"""Scores of whole runs over a choice task, one row a run.

A run answers every item once: without users it is a rerun, else one puppet's pass over the task. The
score is HELM Lite's: exact match, averaged within a subject and then over subjects. Responses that
failed are no data, and a run that lacks them is incomplete. Other unreadable answers are wrong; an arm
without any readable answer has no score. Where answers state how probable each letter was, a run has a
score to expect, too, without the chance of drawing a letter. One run counts for each unit: a puppet's
first complete one, or each complete rerun, so that arms with replicates have as many counted runs as arms
without.
"""

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from string import ascii_uppercase

import numpy as np
import pandas as pd

from fieldwork.errors import StudyError
from fieldwork.estimates.answer_sets import Arm, letter_probabilities, unlisted_probabilities
from fieldwork.estimates.quantity import none_if_nan
from fieldwork.metrics.distributions import (
    QuestionKey,
    choice_answers,
    find_question,
    read_questions,
    text_or_none,
)
from fieldwork.records.metrics import RunAccuracy
from fieldwork.records.parsing import REFUSALS
from fieldwork.statistics.first_answers import first_answers

NOTHING = 1e-12
"""Spreads below this are rounding."""

CALIBRATION_BINS = 10
STATED_MEASURES = ("expected_score", "brier_score", "calibration_error")
"""Columns of a run that are made of probabilities; NULL where its answers do not state them."""


READERS: Mapping[str, Callable[[RunAccuracy], float]] = {
    "em_strict": lambda run: run.em_strict,
    "em_flexible": lambda run: run.em_flexible,
    "format_failure": lambda run: run.format_failure,
}
"""How a run's score by each metric is read."""

_ARM = ["model", "task", "condition"]
_RUN = [*_ARM, "puppet_id", "replicate"]


def measure_runs(answers: pd.DataFrame, items: pd.DataFrame) -> list[RunAccuracy]:
    """Score each run of the choice tasks over the items that have a gold letter.

    Runs of a model, task and condition are numbered from 0 in order of (puppet_id, replicate);
    incomplete ones are kept, with their number of items, and marked as not counted. Items without
    gold are left out, and a run without any other item has no row.

    Raises:
        StudyError: an item is missing from `items`, or a run answers one twice.
    """
    grades = _grade(answers, items)
    runs_of, shares = grades.groupby(_RUN), grades.groupby([*_RUN, "subject"])
    by_subject = shares[["em_strict", "em_flexible", "expected_score"]].mean().groupby(level=_RUN)
    table = by_subject.agg(mean).assign(
        format_failure=runs_of["format_failure"].mean(),
        n_items=runs_of.size(),
        unlisted_share=runs_of["unlisted_share"].mean(),
        n_subjects=by_subject.size(),
        **_stated_columns(grades),
    )
    is_silent = table.groupby(level=_ARM)["n_stated"].transform("sum") == 0
    table.loc[is_silent, "expected_score"] = math.nan
    table = table.assign(run=table.groupby(level=_ARM).cumcount()).reset_index()
    runs = [
        RunAccuracy(
            **row
            | {name: none_if_nan(row[name]) for name in STATED_MEASURES}
            | {"puppet_id": row["puppet_id"] or None, "is_counted": False}
        )
        for row in table.to_dict("records")
    ]
    readable = grades.groupby(_ARM)["is_answer"].any()
    return count_runs(runs, unreadable={Arm.of(*arm) for arm in readable.index[~readable]})


def _grade(answers: pd.DataFrame, items: pd.DataFrame) -> pd.DataFrame:
    """The answers to items with a gold letter, with their subject and what of them is right."""
    columns = ("puppet_id", "replicate", "letter_strict", "letter", "reason", "kind")
    of_probabilities = [
        n for n in ("option_probabilities", "letter_share", "unlisted_share") if n in answers
    ]
    choices = choice_answers(answers, *columns, *of_probabilities)
    questions = read_questions(items, sorted(set(choices["task"])))
    keys = map(QuestionKey, choices["task"], choices["item_id"])
    letter_questions = [find_question(questions, key) for key in keys]
    strict, letter = choices["letter_strict"], choices["letter"]
    gold = pd.Series([question.gold for question in letter_questions], choices.index, dtype=object)
    grades = choices.assign(
        puppet_id=choices["puppet_id"].fillna(""),
        subject=[question.subject or "" for question in letter_questions],
        em_strict=strict == gold,
        em_flexible=letter == gold,
        format_failure=strict.isna(),
        probabilities=pd.Series(letter_probabilities(choices), choices.index, dtype=object),
        unlisted_share=unlisted_probabilities(choices),
        gold=gold,
        is_answer=letter.notna() | choices["reason"].isin(REFUSALS),
    )[gold.notna()]
    # other words than letters count as wrong, as answers do that name no letter
    letter_shares = (
        grades["letter_share"] if "letter_share" in grades else pd.Series(1.0, grades.index)
    )
    grades = grades.assign(
        expected_score=[
            shares[ascii_uppercase.index(letter)] * of_letters if shares else float(is_right)
            for shares, letter, is_right, of_letters in zip(
                grades["probabilities"],
                grades["gold"],
                grades["em_flexible"],
                letter_shares.astype(float).fillna(1.0),
                strict=True,
            )
        ]
    )
    for row in grades[grades.duplicated([*_RUN, "item_id"])].itertuples(index=False):
        puppet = text_or_none(row.puppet_id) or "no puppet"
        raise StudyError(
            f"answers: item {row.item_id} of task {row.task} is answered twice by {row.model}, "
            f"{row.condition}, {puppet}, replicate {row.replicate}; give each repeat its own replicate"
        )
    return grades


def _stated_columns(grades: pd.DataFrame) -> dict[str, pd.Series]:
    """Of each run: answers that state probabilities, and how well these are calibrated if all do.

    The Brier score is the mean squared distance from the right letter over all letters (Brier 1950). The
    calibration error is that of the likeliest letter in `CALIBRATION_BINS` bins of equal width (Naeini,
    Cooper and Hauskrecht 2015).
    """
    confidence, is_right, distance = [], [], []
    for shares, gold in zip(grades["probabilities"], grades["gold"], strict=True):
        likeliest = ascii_uppercase[int(np.argmax(shares))] if shares else None
        confidence.append(max(shares, default=math.nan))
        is_right.append(float(likeliest == gold))
        squares = (
            (share - (letter == gold)) ** 2
            for letter, share in zip(ascii_uppercase, shares, strict=False)
        )
        distance.append(math.fsum(squares) if shares else math.nan)
    of_answers = grades[_RUN].assign(
        brier_score=distance,
        # a bin's mean confidence less its share of right answers, times its share of the answers
        surplus=np.array(confidence) - is_right,
        bin=np.minimum(np.array(confidence) * CALIBRATION_BINS, CALIBRATION_BINS - 1) // 1,
    )
    runs_of = of_answers.groupby(_RUN)
    n_items, n_stated = runs_of.size(), runs_of["brier_score"].count()
    surpluses = of_answers.groupby([*_RUN, "bin"])["surplus"].sum().abs().groupby(level=_RUN).sum()
    is_whole = n_stated == n_items
    return {
        "n_stated": n_stated,
        "brier_score": runs_of["brier_score"].mean().where(is_whole),
        "calibration_error": (surpluses / n_items).reindex(n_items.index).where(is_whole),
    }


def mean(values: Sequence[float] | pd.Series) -> float:
    """Mean of at least one value, the same for every order of them."""
    # fsum rounds once, so that the order of the values cannot show in the last bit
    return math.fsum(values) / len(values)


def count_runs(
    runs: Sequence[RunAccuracy], *, unreadable: Collection[Arm] = ()
) -> list[RunAccuracy]:
    """Mark the runs that stand for their units: complete, and of a puppet only the first.

    Complete runs have as many items as the fullest run of the model and task. Runs of one single
    puppet differ as reruns do, and all count.

    Args:
        unreadable: arms without a readable answer: their score would say nothing of the model.
    """
    sizes = full_sizes(runs)
    units = {arm: unit_of(arm_runs) for arm, arm_runs in runs_by_arm(runs).items()}
    arms = [Arm.of(run.model, run.task, run.condition) for run in runs]
    complete = [
        place
        for place, (run, arm) in enumerate(zip(runs, arms, strict=True))
        if run.n_items == sizes[arm.model, arm.task] and arm not in unreadable
    ]

    def user(place: int) -> tuple[Arm, str] | None:
        puppet, arm = runs[place].puppet_id, arms[place]
        return (arm, puppet) if puppet and units[arm] == "puppet" else None

    firsts = set(first_answers(complete, user))
    return [replace(run, is_counted=place in firsts) for place, run in enumerate(runs)]


def runs_by_arm(runs: Sequence[RunAccuracy]) -> dict[Arm, list[RunAccuracy]]:
    """The runs of each arm, arms in alphabetical order."""
    arms: dict[Arm, list[RunAccuracy]] = {}
    for run in runs:
        arms.setdefault(Arm.of(run.model, run.task, run.condition), []).append(run)
    return {arm: arms[arm] for arm in sorted(arms)}


def full_sizes(runs: Sequence[RunAccuracy]) -> dict[tuple[str, str], int]:
    """Items of the fullest run of each model and task."""
    sizes: dict[tuple[str, str], int] = {}
    for run in runs:
        sizes[run.model, run.task] = max(run.n_items, sizes.get((run.model, run.task), 0))
    return sizes


def unit_of(runs: Sequence[RunAccuracy]) -> str:
    """Several runs of one puppet differ as reruns do: there is no second puppet to differ from."""
    puppets = {run.puppet_id for run in runs}
    is_one_user = len(puppets) == 1 and (len(runs) > 1 or puppets == {None})
    return "rerun" if is_one_user else "puppet"


def counted_scores(
    runs: Sequence[RunAccuracy], read: Callable[[RunAccuracy], float]
) -> list[float]:
    """Scores of the runs that stand for their units."""
    return [read(run) for run in runs if run.is_counted]
