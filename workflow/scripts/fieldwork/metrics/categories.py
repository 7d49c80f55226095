"""Whether who asks matters more for some kinds of subject than for others.

Owns the variance between puppets within each subject of a choice task, its mean by category of
subject, and the test that categories are alike. The unit is the subject: a category's interval and
its test are about subjects, not about single items or puppets.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

import numpy as np
import pandas as pd
from scipy.stats import rankdata

from fieldwork.estimates.answer_sets import Arm, ItemAnswers, read_answer_sets
from fieldwork.estimates.quantity import ChanceSettings, Quantity, none_if_nan
from fieldwork.metrics.components import Cells, cells_of, ratio
from fieldwork.metrics.distributions import read_questions
from fieldwork.records.metrics import CategoryVariance, SubjectVariance
from fieldwork.statistics.arrays import Floats
from fieldwork.statistics.permutation import p_value_of_first, require_permutations
from fieldwork.statistics.user_intervals import mean_interval

UNIT = "subject"
MIN_SUBJECTS = 3


def measure_subjects(
    answers: pd.DataFrame, items: pd.DataFrame, subject_categories: Mapping[str, str]
) -> list[SubjectVariance]:
    """Variance of answers between puppets, subject by subject, under each condition with puppets.

    Args:
        answers: `records.Answer` rows; only choice items whose item names a subject are used.
        items: the items, with their task.
        subject_categories: subject → category; a subject that is missing has the category NULL.

    Raises:
        StudyError: an answered item is missing from `items`.
    """
    tasks = sorted(set(answers["task"]))
    questions = read_questions(items, tasks)
    subject_of = {(key.task, key.item_id): q.subject for key, q in questions.items()}
    rows = []
    for arm, arm_items in read_answer_sets(answers).items():
        subjects: dict[str, dict[str, ItemAnswers]] = {}
        for item, item_answers in arm_items.items():
            subject = subject_of.get((arm.task, item)) if arm.kind == "choice" else None
            if subject:
                subjects.setdefault(subject, {})[item] = item_answers
        for subject in sorted(subjects):
            cells = cells_of(subjects[subject])
            if cells.has_puppets:
                rows.append(_subject_row(arm, subject, cells, subject_categories.get(subject)))
    return rows


def _subject_row(arm: Arm, subject: str, cells: Cells, category: str | None) -> SubjectVariance:
    distances = cells.distances()
    var_rerun, var_answers = (float(part[0]) for part in distances)
    var_who = none_if_nan(var_answers - var_rerun)
    share = 1 - float(ratio(*distances)[0])
    return SubjectVariance(
        model=arm.model,
        task=arm.task,
        condition=arm.condition,
        subject=subject,
        category=category,
        var_who=var_who,
        var_rerun=none_if_nan(var_rerun),
        var_answers=none_if_nan(var_answers),
        share_who=none_if_nan(share),
        n_items=len(cells.items),
        n_puppets=len(cells.units),
        reason=_no_variance(len(cells.units), cells.n_repeated) if var_who is None else None,
    )


def _no_variance(n_puppets: int, n_repeated: int) -> str:
    if n_puppets < 2:
        return f"{n_puppets} puppets with an answer, two are needed"
    if not n_repeated:
        return "no puppet answers an item twice, so users and reruns cannot be told apart"
    return "no item is answered by two puppets of whom one answers it twice"


def measure_categories(
    subjects: Sequence[SubjectVariance], *, n_permutations: int, seed: int
) -> list[CategoryVariance]:
    """Mean `var_who` of the subjects of each category, and the test that all categories are alike.

    The test is Kruskal and Wallis's (1952, JASA 47:583-621) with categories dealt at random to the
    subjects (in all ways where they are no more than `n_permutations`). The interval is Student's t over
    subjects.

    Raises:
        StudyError: no permutations.
    """
    require_permutations(n_permutations)
    settings = ChanceSettings(n_permutations, seed)
    arms: dict[Arm, dict[str, list[SubjectVariance]]] = {}
    for row in subjects:
        if row.category is not None:
            categories = arms.setdefault(Arm.of(row.model, row.task, row.condition), {})
            categories.setdefault(row.category, []).append(row)
    rows = []
    for arm, categories in sorted(arms.items()):
        p_value = _p_value(arm, [*map(_variances, categories.values())], settings)
        rows += [_category_row(arm, name, categories[name], p_value) for name in sorted(categories)]
    return rows


def _variances(rows: Sequence[SubjectVariance]) -> Floats:
    return np.array([row.var_who for row in rows if row.var_who is not None], dtype=np.float64)


def _p_value(arm: Arm, groups: Sequence[Floats], settings: ChanceSettings) -> float | None:
    """None where fewer than two categories have a subject, or no category has two."""
    categories = [group for group in groups if len(group)]
    sizes = [len(group) for group in categories]
    if len(categories) < 2 or max(sizes) < 2:
        return None
    # rounded, so that equal variances out of sums in another order tie
    ranks = rankdata(np.concatenate(categories).round(12))
    if _n_deals(sizes) <= settings.n_permutations:
        deals = ranks[np.array(list(_deals(range(len(ranks)), sizes)))]
    else:
        random = settings.random("categories", arm.model, arm.task, arm.condition)
        permutations = random.permuted(np.tile(ranks, (settings.n_permutations, 1)), axis=1)
        deals = np.vstack([ranks, permutations])
    return p_value_of_first(_rank_spread(deals, sizes))


def _rank_spread(ranks: Floats, sizes: Sequence[int]) -> Floats:
    """Kruskal and Wallis's H up to constants that no deal changes; shape (deals, subjects) → (deals,)."""
    ends = np.cumsum([0, *sizes])
    sums = np.add.reduceat(ranks, ends[:-1], axis=1)
    spread: Floats = (sums**2 / np.array(sizes)).sum(axis=1)
    return spread


def _n_deals(sizes: Sequence[int]) -> int:
    """In how many ways subjects can be dealt to categories of these sizes."""
    return math.factorial(sum(sizes)) // math.prod(map(math.factorial, sizes))


def _deals(subjects: Sequence[int], sizes: Sequence[int]) -> Iterator[list[int]]:
    """All of them, the observed one first: orders of subjects in which a category's follow each other."""
    if not sizes:
        yield []
        return
    for members in combinations(subjects, sizes[0]):
        rest = [subject for subject in subjects if subject not in members]
        for rest_order in _deals(rest, sizes[1:]):
            yield [*members, *rest_order]


def _category_row(
    arm: Arm, category: str, rows: Sequence[SubjectVariance], p_value: float | None
) -> CategoryVariance:
    values, mean = (
        _variances(rows),
        Quantity(reason=next((r.reason for r in rows if r.reason), None)),
    )
    if len(values):
        interval = mean_interval(values.tolist(), None) if len(values) >= MIN_SUBJECTS else None
        mean = Quantity(math.fsum(values) / len(values), interval).because(
            None
            if interval
            else f"no interval: {len(values)} subjects, {MIN_SUBJECTS} that differ are needed",
            None
            if p_value is not None
            else "no test: two categories are needed, one of them with two subjects",
        )
    return CategoryVariance(
        model=arm.model,
        task=arm.task,
        condition=arm.condition,
        category=category,
        **mean.columns("var_who"),
        p_value=p_value,
        n_subjects=len(values),
        n_items=sum(row.n_items for row in rows if row.var_who is not None),
        unit=UNIT,
        reason=mean.reason,
    )
