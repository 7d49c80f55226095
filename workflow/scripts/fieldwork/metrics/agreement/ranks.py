"""Whether a condition ranks items, or models, as the field does.

Owns the items that a condition and the field both answer, and the table of rank correlations: their
test, their interval over items, and the ceiling that the noise of the answers sets. Participants count
once. Promises the same rows whatever the order of the answers.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import pandas as pd

from fieldwork.estimates.answer_sets import Arm, read_answer_sets
from fieldwork.estimates.means import PromptValue
from fieldwork.metrics.agreement.values import (
    AnswerSample,
    Reliability,
    measure_item,
    read_sample,
    split_half_reliability,
)
from fieldwork.metrics.distributions import QuestionKey, find_question, read_questions
from fieldwork.records.field import FIELD, RankAgreement
from fieldwork.records.tasks import LETTER_KINDS, ItemKind
from fieldwork.statistics.permutation import require_permutations
from fieldwork.statistics.rank_correlation import (
    MIN_BOOTSTRAP,
    bootstrap_intervals,
    correlate_ranks,
    tau_permutation_test,
)
from fieldwork.statistics.seeds import generator

MIN_ANSWERS = 5
"""Answers to an item that a side needs for the item to be ranked."""
MIN_RANKED = 3
MEASURES = {
    "list": ("entropy_bits", "top_share"),
    "gold": ("share_correct",),
    "open": ("entropy_bits",),
}

Samples = Mapping[str, AnswerSample]
"""Answers by item."""


class SharedItems(NamedTuple):
    """Items of one kind that the field and a predictor both answer; choice items with gold or without.

    Attributes:
        measures: what the items are ranked by.
        field_samples, predictor_samples: the items with enough answers on both sides, in
            alphabetical order.
        exclusions: the other items, with the reason.
    """

    model: str
    task: str
    kind: ItemKind
    predictor: str
    measures: tuple[str, ...]
    field_samples: Samples
    predictor_samples: Samples
    exclusions: dict[str, str]

    @property
    def n_equal(self) -> int:
        """The number of answers to which every item is brought, on both sides."""
        samples = (*self.field_samples.values(), *self.predictor_samples.values())
        return min((len(sample.options) for sample in samples), default=0)

    def samples(self, side: str) -> Samples:
        """The answers of one side, `field` or the predictor's name."""
        return self.field_samples if side == FIELD else self.predictor_samples

    def values(
        self, measure: str, side: str, *, seed: int, n_equal: int | None = None
    ) -> list[PromptValue]:
        """The items' values on one side, at `n_equal` answers or as many as both sides have."""
        return [
            measure_item(
                sample, measure, n_equal or self.n_equal,
                generator(seed, "subsample", self.model, self.task, side, item),
            )
            for item, sample in self.samples(side).items()
        ]  # fmt: skip

    def select(self, items: set[str]) -> "SharedItems":
        """Some of the items."""
        return self._replace(
            field_samples={i: s for i, s in self.field_samples.items() if i in items},
            predictor_samples={i: s for i, s in self.predictor_samples.items() if i in items},
        )


def read_shared_items(answers: pd.DataFrame, items: pd.DataFrame) -> list[SharedItems]:
    """The shared items of each model, task, kind of item and condition other than the field.

    Raises:
        StudyError: an answer's item is not in `items`.
    """
    by_arm = read_answer_sets(answers)
    questions = read_questions(items, sorted({arm.task for arm in by_arm}))
    groups: list[SharedItems] = []
    for arm, predictor_answers in by_arm.items():
        field_answers = by_arm.get(arm._replace(condition=FIELD))
        if arm.condition == FIELD or field_answers is None:
            continue
        gold = {
            item: find_question(questions, QuestionKey(arm.task, item)).gold
            if arm.kind in LETTER_KINDS
            else None
            for item in predictor_answers.keys() | field_answers.keys()
        }
        field, predictor = (
            {item: read_sample(item_answers, gold[item]) for item, item_answers in side.items()}
            for side in (field_answers, predictor_answers)
        )
        both_sides = sorted(field.keys() & predictor.keys())
        for group in ["list"] if arm.kind == "list" else ["gold", "open"]:
            names = [item for item in both_sides if (group == "gold") == (gold[item] is not None)]
            if names:
                groups.append(_share_items(arm, MEASURES[group], field, predictor, names))
    return groups


def _share_items(
    arm: Arm, measures: tuple[str, ...], field: Samples, predictor: Samples, items: Sequence[str]
) -> SharedItems:
    exclusions: dict[str, str] = {}
    for item in items:
        n_field, n_predictor = (len(side[item].options) for side in (field, predictor))
        if min(n_field, n_predictor) < MIN_ANSWERS:
            exclusions[item] = (
                f"{n_field} answers in the field and {n_predictor} under {arm.condition}: "
                f"{MIN_ANSWERS} of each are needed"
            )
    ranked_items = [item for item in items if item not in exclusions]
    return SharedItems(
        arm.model,
        arm.task,
        arm.kind,
        arm.condition,
        measures,
        {item: field[item] for item in ranked_items},
        {item: predictor[item] for item in ranked_items},
        exclusions,
    )


def measure_rank_agreement(
    answers: pd.DataFrame, items: pd.DataFrame, *, n_permutations: int, seed: int
) -> list[RankAgreement]:
    """Rank correlations over items for each model, and over models where three have field answers.

    One row for each measure of each set of shared items, in order of model (NULL last), task, kind,
    measure and predictor.

    Raises:
        StudyError: no permutations, or an answer's item is not in `items`.
    """
    require_permutations(n_permutations)
    item_groups = read_shared_items(answers, items)
    reliabilities: dict[tuple[str, ...], Reliability] = {}
    rows = [
        _correlate_items(item_group, measure, n_permutations, seed, reliabilities)
        for item_group in item_groups
        for measure in item_group.measures
    ]
    rows += _correlate_models(item_groups, n_permutations, seed)
    return sorted(
        rows,
        key=lambda r: (r.model is None, r.model or "", r.task, r.kind, r.measure, r.predictor),
    )


def _correlate_items(
    item_group: SharedItems,
    measure: str,
    n_permutations: int,
    seed: int,
    reliabilities: dict[tuple[str, ...], Reliability],
) -> RankAgreement:
    sides = (FIELD, item_group.predictor)
    field, predictor = (
        [item.value for item in item_group.values(measure, side, seed=seed)] for side in sides
    )
    names = (item_group.model, item_group.task, item_group.predictor, measure)
    row = _correlate(field, predictor, names, n_permutations, seed)
    row = replace(
        row,
        model=item_group.model,
        task=item_group.task,
        kind=item_group.kind,
        n_left_out=len(item_group.exclusions),
        n_equal=item_group.n_equal if item_group.field_samples else None,
    )
    if len(field) < MIN_RANKED:
        return row
    pair = []
    for side in sides:
        samples, side_names = item_group.samples(side), (item_group.model, item_group.task, side)
        key = (*side_names, measure, *samples)
        # the field's reliability is the same for all predictors that answer the same items
        if key not in reliabilities:
            reliabilities[key] = split_half_reliability(
                samples, measure, seed=seed, names=side_names
            )
        pair.append(reliabilities[key])
    return _add_ceiling(row, *pair)


def _add_ceiling(row: RankAgreement, field: Reliability, predictor: Reliability) -> RankAgreement:
    ceiling, reason = None, row.reason
    if field.whole and predictor.whole and min(field.whole, predictor.whole) > 0:
        ceiling = (field.whole * predictor.whole) ** 0.5
    elif row.rho is not None:
        side = "the field" if field.whole is None or field.whole <= 0 else row.predictor
        reason = f"no ceiling: two halves of the answers of {side} do not rank the items alike" + (
            f"; {reason}" if reason else ""
        )
    return replace(
        row,
        reliability_field=field.whole,
        reliability_predictor=predictor.whole,
        ceiling=ceiling,
        reason=reason,
    )


def _correlate(
    field: Sequence[float],
    predictor: Sequence[float],
    names: tuple[str, str, str, str],
    n_permutations: int,
    seed: int,
    over: str = "items",
) -> RankAgreement:
    """The row of two sets of values, without what it knows of the items."""
    correlation, reason = correlate_ranks(field, predictor), None
    test, intervals = None, None
    if len(field) < MIN_RANKED:
        correlation = correlation._replace(rho=None, tau_b=None)
        reason = f"{len(field)} {over} have enough answers on both sides, {MIN_RANKED} are needed"
    elif correlation.tau_b is None:
        reason = f"one side has the same value for all {over}"
    else:
        random = generator(seed, "order", over, *names)
        test = tau_permutation_test(field, predictor, n_permutations=n_permutations, random=random)
        random = generator(seed, "items", over, *names)
        intervals = bootstrap_intervals(field, predictor, random=random)
        reason = _no_interval_reason(len(field), over) if intervals.tau_b is None else None
    return RankAgreement(
        model=None,
        task=names[1],
        kind="list",
        over=over,
        predictor=names[2],
        measure=names[3],
        rho=correlation.rho,
        rho_low=intervals.rho.low if intervals and intervals.rho else None,
        rho_high=intervals.rho.high if intervals and intervals.rho else None,
        tau_b=correlation.tau_b,
        tau_low=intervals.tau_b.low if intervals and intervals.tau_b else None,
        tau_high=intervals.tau_b.high if intervals and intervals.tau_b else None,
        p_value=test.p_value if test else None,
        p_least=test.p_least if test else None,
        n_permutations=test.n_permutations if test else None,
        n_discordant=correlation.pairs.discordant if correlation.tau_b is not None else None,
        n_tied=correlation.pairs.n_tied if correlation.tau_b is not None else None,
        n_pairs=correlation.pairs.total,
        n_ranked=len(field),
        n_left_out=0,
        n_equal=None,
        reliability_field=None,
        reliability_predictor=None,
        ceiling=None,
        reason=reason,
    )


def _no_interval_reason(n: int, over: str) -> str:
    if n < MIN_BOOTSTRAP:
        return f"no interval: the bootstrap needs {MIN_BOOTSTRAP} {over}, there are {n}"
    return (
        f"no interval: all resamples of the {over} have one order, or too many have the same value for "
        f"all {over} on one side"
    )


def _correlate_models(
    item_groups: Sequence[SharedItems], n_permutations: int, seed: int
) -> Iterator[RankAgreement]:
    """Models ranked by the mean over the items that all of them answer, from three models on."""
    families: dict[tuple[str, ItemKind, str, tuple[str, ...]], list[SharedItems]] = {}
    for item_group in item_groups:
        key = (item_group.task, item_group.kind, item_group.predictor, item_group.measures)
        families.setdefault(key, []).append(item_group)
    for (task, kind, predictor, measures), family in families.items():
        common_items = set.intersection(*(set(item_group.field_samples) for item_group in family))
        if len(family) < MIN_RANKED or not common_items:
            continue
        models = [item_group.select(common_items) for item_group in family]
        n_equal = min(model.n_equal for model in models)
        for measure in measures:
            field_means, predictor_means = (
                [_mean(model.values(measure, side, seed=seed, n_equal=n_equal)) for model in models]
                for side in (FIELD, predictor)
            )
            names = ("", task, predictor, measure)
            row = _correlate(
                field_means, predictor_means, names, n_permutations, seed, over="models"
            )
            yield replace(row, kind=kind, n_equal=n_equal)


def _mean(values: Sequence[PromptValue]) -> float:
    return sum(value.value for value in values) / len(values)
