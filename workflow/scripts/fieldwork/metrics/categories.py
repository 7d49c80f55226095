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
from fieldwork.metrics.components import AnswerLayout, lay_out, split
from fieldwork.metrics.distributions import ChoiceArm, read_questions
from fieldwork.records.metrics import CategoryVariance, SubjectVariance
from fieldwork.statistics.arrays import Floats
from fieldwork.statistics.families import holm_by_family
from fieldwork.statistics.intervals import Interval, student_quantile
from fieldwork.statistics.permutation import p_value_of_first, require_permutations
from fieldwork.statistics.seeds import generator

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
            layout = lay_out(subjects[subject])
            if layout.has_puppets:
                rows.append(_subject_row(arm, subject, layout, subject_categories.get(subject)))
    return rows


def _subject_row(
    arm: Arm, subject: str, layout: AnswerLayout, category: str | None
) -> SubjectVariance:
    components = split(layout)
    var_who = components.var_answers - components.var_rerun
    has_variance = not math.isnan(var_who)
    return SubjectVariance(
        model=arm.model,
        task=arm.task,
        condition=arm.condition,
        subject=subject,
        category=category,
        var_who=var_who if has_variance else None,
        var_rerun=None if math.isnan(components.var_rerun) else components.var_rerun,
        var_answers=None if math.isnan(components.var_answers) else components.var_answers,
        share_who=var_who / components.var_answers
        if has_variance and components.var_answers > 0
        else None,
        n_items=len(layout.items),
        n_puppets=layout.n_puppets,
        reason=None if has_variance else _no_variance(layout.n_puppets, layout.n_repeated),
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
    subjects (in all ways where they are no more than `n_permutations`); `p_holm` corrects it over the
    conditions of a model and task. The interval is Student's t over subjects.

    Raises:
        StudyError: no permutations.
    """
    require_permutations(n_permutations)
    arms: dict[ChoiceArm, dict[str, list[SubjectVariance]]] = {}
    for row in subjects:
        if row.category is not None:
            categories = arms.setdefault(ChoiceArm(row.model, row.task, row.condition), {})
            categories.setdefault(row.category, []).append(row)
    names = sorted(arms)
    p_values = [
        _p_value([_variances(rows) for rows in arms[arm].values()], n_permutations, seed, arm)
        for arm in names
    ]
    p_holms = holm_by_family(p_values, [(arm.model, arm.task) for arm in names])
    return [
        _category_row(arm, category, arms[arm][category], p_value, p_holm)
        for arm, p_value, p_holm in zip(names, p_values, p_holms, strict=True)
        for category in sorted(arms[arm])
    ]


def _variances(rows: Sequence[SubjectVariance]) -> Floats:
    return np.array([row.var_who for row in rows if row.var_who is not None], dtype=np.float64)


def _p_value(
    groups: Sequence[Floats], n_permutations: int, seed: int, arm: ChoiceArm
) -> float | None:
    """None where fewer than two categories have a subject, or no category has two."""
    categories = [group for group in groups if len(group)]
    sizes = [len(group) for group in categories]
    if len(categories) < 2 or max(sizes) < 2:
        return None
    # rounded, so that equal variances out of sums in another order tie
    ranks = rankdata(np.concatenate(categories).round(12))
    if _n_deals(sizes) <= n_permutations:
        deals = ranks[np.array(list(_deals(range(len(ranks)), sizes)))]
    else:
        random = generator(seed, "categories", *arm)
        permutations = random.permuted(np.tile(ranks, (n_permutations, 1)), axis=1)
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
    arm: ChoiceArm,
    category: str,
    rows: Sequence[SubjectVariance],
    p_value: float | None,
    p_holm: float | None,
) -> CategoryVariance:
    values = _variances(rows)
    interval = _interval(values)
    return CategoryVariance(
        model=arm.model,
        task=arm.task,
        condition=arm.condition,
        category=category,
        var_who=math.fsum(values) / len(values) if len(values) else None,
        ci_low=interval.low if interval else None,
        ci_high=interval.high if interval else None,
        p_value=p_value,
        p_holm=p_holm,
        n_subjects=len(values),
        n_items=sum(row.n_items for row in rows if row.var_who is not None),
        unit=UNIT,
        reason=_reason(rows, len(values), interval, p_value),
    )


def _interval(values: Floats) -> Interval | None:
    if len(values) < MIN_SUBJECTS or np.ptp(values) < 1e-12:
        return None
    half = student_quantile(len(values) - 1) * float(values.std(ddof=1)) / math.sqrt(len(values))
    centre = math.fsum(values) / len(values)
    return Interval(centre - half, centre + half)


def _reason(
    rows: Sequence[SubjectVariance],
    n_subjects: int,
    interval: Interval | None,
    p_value: float | None,
) -> str | None:
    if n_subjects == 0:
        return next(row.reason for row in rows if row.reason)
    reasons = []
    if interval is None:
        reasons.append(f"no interval: {n_subjects} subjects, {MIN_SUBJECTS} that differ are needed")
    if p_value is None:
        reasons.append("no test: two categories are needed, one of them with two subjects")
    return "; ".join(reasons) or None
