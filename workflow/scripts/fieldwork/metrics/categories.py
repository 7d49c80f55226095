"""Whether who asks matters more for some kinds of subject than for others.

Owns the variance between puppets within each subject of a choice task, its mean by category of
subject, and the test that categories are alike. The unit is the subject: a category's interval and
the test are about subjects, not about single items or puppets.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

import numpy as np
import pandas as pd
from scipy.stats import rankdata

from fieldwork.errors import StudyError
from fieldwork.metrics.answer_sets import Arm, ItemAnswers, read_answer_sets
from fieldwork.metrics.components import lay_out, split
from fieldwork.metrics.distributions import read_questions
from fieldwork.records.metrics import CategoryVariance, SubjectVariance
from fieldwork.statistics.arrays import Floats
from fieldwork.statistics.families import holm
from fieldwork.statistics.intervals import Interval, student_quantile
from fieldwork.statistics.permutation import p_value_of_first
from fieldwork.statistics.seeds import generator

UNIT = "subject"
MIN_SUBJECTS = 3


def measure_subjects(
    answers: pd.DataFrame, items: pd.DataFrame, categories: Mapping[str, str]
) -> list[SubjectVariance]:
    """Variance of answers between puppets, subject by subject, under each condition with puppets.

    Args:
        answers: `records.Answer` rows; only choice items whose item names a subject are used.
        items: the items, with their task.
        categories: subject → category; a subject that is missing has the category NULL.

    Raises:
        StudyError: an answered item is missing from `items`.
    """
    tasks = sorted(set(answers["task"]))
    questions = read_questions(items, tasks)
    subject_of = {(key.task, key.item_id): q.subject for key, q in questions.items()}
    rows = []
    for arm, of_arm in read_answer_sets(answers).items():
        subjects: dict[str, dict[str, ItemAnswers]] = {}
        for item, given in of_arm.items():
            subject = subject_of.get((arm.task, item)) if arm.kind == "choice" else None
            if subject:
                subjects.setdefault(subject, {})[item] = given
        for subject in sorted(subjects):
            if lay_out(subjects[subject]).has_puppets:
                rows.append(_measure(arm, subject, subjects[subject], categories.get(subject)))
    return rows


def _measure(
    arm: Arm, subject: str, items: Mapping[str, ItemAnswers], category: str | None
) -> SubjectVariance:
    layout = lay_out(items)
    parts = split(layout)
    who = parts.between - parts.rerun
    known = not math.isnan(who)
    return SubjectVariance(
        model=arm.model,
        task=arm.task,
        condition=arm.condition,
        subject=subject,
        category=category,
        var_who=who if known else None,
        var_rerun=None if math.isnan(parts.rerun) else parts.rerun,
        var_answers=None if math.isnan(parts.between) else parts.between,
        share_who=who / parts.between if known and parts.between > 0 else None,
        n_items=len(layout.items),
        n_puppets=layout.n_puppets,
        reason=None if known else _why_none(layout.n_puppets, layout.n_repeated),
    )


def _why_none(n_puppets: int, n_repeated: int) -> str:
    if n_puppets < 2:
        return f"{n_puppets} puppets with an answer, two are needed"
    if not n_repeated:
        return "no puppet answers an item twice, so who asks and rerun cannot be told apart"
    return "no item is answered by two puppets of whom one answers it twice"


def measure_categories(
    subjects: Sequence[SubjectVariance], *, n_permutations: int, seed: int
) -> list[CategoryVariance]:
    """Mean `var_who` of the subjects of each category, and the test that all categories are alike.

    The test is Kruskal and Wallis's (1952, JASA 47:583-621) with categories dealt out anew to the
    subjects (all ways where they are no more than `n_permutations`); `p_holm` corrects it over the
    conditions of a model and task. The interval is Student's t over subjects.

    Raises:
        StudyError: no permutations.
    """
    if n_permutations < 1:
        raise StudyError(
            f"metrics.permutations is {n_permutations}: a test needs at least 1; raise it"
        )
    arms: dict[tuple[str, str, str], dict[str, list[SubjectVariance]]] = {}
    for row in subjects:
        if row.category is not None:
            of_arm = arms.setdefault((row.model, row.task, row.condition), {})
            of_arm.setdefault(row.category, []).append(row)
    tested = {
        arm: _test([_values(rows) for rows in of.values()], n_permutations, seed, arm)
        for arm, of in arms.items()
    }
    corrected = dict(_corrected(tested))
    return [
        _category(arm, category, arms[arm][category], tested[arm], corrected.get(arm))
        for arm in sorted(arms)
        for category in sorted(arms[arm])
    ]


def _values(rows: Sequence[SubjectVariance]) -> Floats:
    return np.array([row.var_who for row in rows if row.var_who is not None], dtype=np.float64)


def _test(
    groups: Sequence[Floats], n_permutations: int, seed: int, arm: tuple[str, str, str]
) -> float | None:
    """None where fewer than two categories have a subject, or no category has two."""
    full = [group for group in groups if len(group)]
    sizes = [len(group) for group in full]
    if len(full) < 2 or max(sizes) < 2:
        return None
    # rounded, so that equal variances out of sums in another order tie
    ranks = rankdata(np.concatenate(full).round(12))
    if _n_deals(sizes) <= n_permutations:
        dealt = ranks[np.array(list(_deals(range(len(ranks)), sizes)))]
    else:
        random = generator(seed, "categories", *arm)
        drawn = random.permuted(np.tile(ranks, (n_permutations, 1)), axis=1)
        dealt = np.vstack([ranks, drawn])
    return p_value_of_first(_rank_spread(dealt, sizes))


def _rank_spread(ranks: Floats, sizes: Sequence[int]) -> Floats:
    """Kruskal and Wallis's H up to constants that no deal changes; shape (deals, subjects) → (deals,)."""
    ends = np.cumsum([0, *sizes])
    sums = np.add.reduceat(ranks, ends[:-1], axis=1)
    spread: Floats = (sums**2 / np.array(sizes)).sum(axis=1)
    return spread


def _n_deals(sizes: Sequence[int]) -> int:
    """In how many ways subjects can be dealt to categories of these sizes."""
    return math.factorial(sum(sizes)) // math.prod(map(math.factorial, sizes))


def _deals(left: Sequence[int], sizes: Sequence[int]) -> Iterator[list[int]]:
    """All of them, the observed one first: orders of subjects in which a category's follow each other."""
    if not sizes:
        yield []
        return
    for chosen in combinations(left, sizes[0]):
        rest = [subject for subject in left if subject not in chosen]
        for more in _deals(rest, sizes[1:]):
            yield [*chosen, *more]


def _corrected(
    tested: Mapping[tuple[str, str, str], float | None],
) -> Iterator[tuple[tuple[str, str, str], float]]:
    families: dict[tuple[str, str], list[tuple[tuple[str, str, str], float]]] = {}
    for arm, p_value in sorted(tested.items()):
        if p_value is not None:
            families.setdefault(arm[:2], []).append((arm, p_value))
    for family in families.values():
        yield from zip([arm for arm, _ in family], holm([p for _, p in family]), strict=True)


def _category(
    arm: tuple[str, str, str],
    category: str,
    rows: Sequence[SubjectVariance],
    p_value: float | None,
    p_holm: float | None,
) -> CategoryVariance:
    values = _values(rows)
    interval = _interval(values)
    model, task, condition = arm
    return CategoryVariance(
        model=model,
        task=task,
        condition=condition,
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
    rows: Sequence[SubjectVariance], n: int, interval: Interval | None, p_value: float | None
) -> str | None:
    if n == 0:
        return next(row.reason for row in rows if row.reason)
    parts = []
    if interval is None:
        parts.append(f"no interval: {n} subjects, {MIN_SUBJECTS} that differ are needed")
    if p_value is None:
        parts.append("no test: two categories are needed, one of them with two subjects")
    return "; ".join(parts) or None
