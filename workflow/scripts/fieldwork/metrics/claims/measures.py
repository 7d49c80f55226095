"""What a study can claim a difference of: one entry for each measure, with the table that has its test.

Owns the names that `study.primary` and the table `claims` use, and how rows of the metric tables become
tests. A measure that is declared in `fieldwork/measures` is here by itself.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from fieldwork.estimates.declaration import Measure
from fieldwork.measures import measures
from fieldwork.metrics.claims.keys import ClaimKey, arm_of
from fieldwork.metrics.claims.study_test import Confirmation, StudyTest
from fieldwork.records.columns import table_of
from fieldwork.records.estimates import Estimate, ReferenceKind
from fieldwork.records.field import (
    FIELD,
    GroupDifference,
    ItemAgreement,
    RankAgreement,
)
from fieldwork.records.metrics import (
    CategoryVariance,
    Comparison,
    NestedVariance,
    Novelty,
    ScoreSpread,
    Shift,
    VarianceShare,
)
from fieldwork.records.practice import PracticeOrder
from fieldwork.records.robustness import GroupGap, Robustness
from fieldwork.records.values import ValueComparison
from fieldwork.statistics.fisher import Margins, Support

INTERVAL = ("ci_low", "ci_high")
"""What most tables call the ends of an interval."""

_HALF = 0.5
"""Superiority of a sample over one like it."""


Column = str | Callable[[Any], Any] | None
"""A column of a metric table, or what is computed of a row; None where the table has it not."""


class Sides(NamedTuple):
    """Where a metric table has both sides of a test.

    Attributes:
        value: what is measured, of which the test is.
        reference: name of what it is compared with.
        reference_value: the same of that; of distances and gaps what chance alone makes.
        n: units behind `value`.
        n_reference: units behind `reference_value`.
    """

    value: Column = None
    reference: Column = None
    reference_value: Column = None
    n: Column = None
    n_reference: Column = None

    def of(self, row: Any) -> dict[str, Any]:
        """The values of a row, by the names of the columns of `claims`."""
        return {
            name: column(row) if callable(column) else getattr(row, column) if column else None
            for name, column in self._asdict().items()
        }


class ClaimMeasure(NamedTuple):
    """How a measure's tests stand in their metric table.

    Attributes:
        estimate: column of the difference tested; None where a test has no single number.
        interval: columns of its interval.
        sides: columns of both sides.
        directions: words for a difference above and below 0.
        detail: what tells two tests of one arm and item apart, where anything does.
        is_of_field: compares with real users, or real users among themselves.
        is_of_tasks: compares two tasks under one condition, with a user or without.
        is_claimed: which rows of the table the page may claim; None for all.
        confirmed_by: which other row of the same arm has to show the same difference, and in which words.
        tendency: what is above 0 or below it where a row shows a direction, instead of the estimate; None
            where it shows that answers differ, and not which way.
        confirmation: a further test, of which the row itself has the p-value.
        instead: rows that stand in the place of another one of the same test, and need no other to show
            the difference.
    """

    row_type: type[Any]
    estimate: str | None
    sides: Sides
    directions: tuple[str, str] = ("differs", "differs")
    interval: tuple[str, str] | None = None
    p_value: str = "p_value"
    margin: str | None = None
    is_one_sided: bool = False
    is_of_field: bool = False
    is_of_tasks: bool = False
    detail: Callable[[Any], str | None] | None = None
    is_claimed: Callable[[Any], bool] | None = None
    confirmed_by: tuple[Callable[[Any], bool], str] | None = None
    tendency: Callable[[Any], float | None] | None = None
    confirmation: Callable[[Any], Confirmation] | None = None
    instead: Callable[[Any], bool] | None = None


def score_reading(condition: str) -> str:
    """The score of a condition: people paste whole answers, where a strict reading finds no letter."""
    return "em_flexible" if condition == FIELD else "em_strict"


def _has_metric(metrics: Sequence[str], row: Any) -> bool:
    return row.metric in metrics


def _is_score(row: Estimate) -> bool:
    """Beside the baseline's."""
    is_read = row.measure == score_reading(row.condition)
    is_compared = row.reference == "baseline" and row.condition != row.versus
    return is_compared and (is_read or is_known_score(row))


def is_known_score(row: Estimate) -> bool:
    """Whether it is made of probabilities on both sides, which say more than the letters drawn."""
    return row.measure == EXPECTED_SCORE and row.difference is not None


def is_known_spread(row: ScoreSpread) -> bool:
    """Whether it is of scores to expect on both sides, which no draw spreads."""
    return row.metric == EXPECTED_SCORE and row.p_value is not None


def _is_other_reading(row: Estimate) -> bool:
    return (row.measure, row.reference) == ("em_flexible", "baseline") and row.condition != FIELD


EXPECTED_SCORE = "expected_score"
"""The score of probabilities, which takes the place of the readings where both sides have it."""

IN_ANY_FORM = "of answers in any form"
"""A lost form is no lost score: a score is claimed where the flexible reading shows it too."""


def _tendency(row: ValueComparison) -> float | None:
    """Whether values are higher: of a scale on average, of a number in more pairs than not."""
    if row.kind == "number":
        return None if row.superiority is None else row.superiority - _HALF
    return row.difference if row.ci_low is not None else None


def _sure_shift(row: Shift) -> float | None:
    """Of probabilities of few users the test says that they differ, and the interval which way."""
    if row.is_stated and (
        row.ci_low is None or row.ci_high is None or row.ci_low <= 0 <= row.ci_high
    ):
        return None
    return row.shift


def _missing_values(row: ValueComparison) -> Confirmation:
    """The test where those without a value had answered as far against the difference as they can."""
    n = row.n_missing + row.n_missing_versus
    return Confirmation(f"whatever the {n} without a value had answered", row.p_worst)


def _groups_compared(row: GroupDifference) -> str:
    groups = f"{row.group} - {row.versus or 'others'}" if row.group is not None else "all"
    return f"{row.variable}: {groups}, {row.metric}, {row.kind}"


def _value_of_reference(row: Estimate) -> float | None:
    if row.value is None or row.difference is None:
        return None
    return row.value - row.difference


ESTIMATE_SIDES = Sides("value", "versus", _value_of_reference, "n_units", "n_units_versus")


def _declared_measure(measure: Measure, reference: ReferenceKind = "baseline") -> ClaimMeasure:
    """The tests of a measure of `fieldwork/measures`, over prompts."""
    return ClaimMeasure(
        Estimate,
        "difference",
        ESTIMATE_SIDES,
        measure.directions,
        ("difference_low", "difference_high"),
        margin=measure.margin,
        is_of_field=reference == "field",
        is_claimed=lambda row: (
            (row.measure, row.item_id, row.reference) == (measure.name, None, reference)
            and row.group is None
            and row.condition != row.versus
        ),
    )


def _values(*, is_of_field: bool = False) -> ClaimMeasure:
    """The tests of scales and numbers against the baseline, or against real users."""
    return ClaimMeasure(
        ValueComparison,
        "difference",
        Sides(reference="versus", n="n_units", n_reference="n_units_versus"),
        ("higher", "lower"),
        INTERVAL,
        is_of_field=is_of_field,
        detail=_kind,
        is_claimed=lambda row: (row.versus == FIELD) == is_of_field,
        tendency=_tendency,
        confirmation=_missing_values,
    )


def _kind(row: Any) -> str:
    return str(row.kind)


def _the_field(_: Any) -> str:
    return FIELD


GAPS = ("accuracy_gap", "excess_flips", "excess_overlap")
"""The metrics of `group_gaps` that have a test over all items."""

MEASURES: Mapping[str, ClaimMeasure] = {
    "share_who": ClaimMeasure(
        VarianceShare,
        "share_who",
        Sides("share_who", n="n_puppets"),
        interval=INTERVAL,
        margin="share_who",
        is_one_sided=True,
        detail=_kind,
        is_claimed=lambda row: row.n_puppets > 0,
    ),
    **{
        f"share_{part}": ClaimMeasure(
            NestedVariance,
            f"share_{part}",
            Sides(f"share_{part}", n="n_users"),
            interval=(f"{part}_low", f"{part}_high"),
            p_value=f"p_{part}",
            margin="share_who",
            is_one_sided=True,
            detail=_kind,
        )
        for part in ("user", "context")
    },
    "distance": ClaimMeasure(
        Comparison,
        "excess",
        Sides("distance", "baseline", "expected_same", "n_units", "n_units_baseline"),
        is_claimed=lambda row: row.metric == "js_bits",
    ),
    "option_share": ClaimMeasure(
        Shift,
        "shift",
        Sides("share", "baseline", "baseline_share", "n_answers", "n_baseline"),
        ("more common", "rarer"),
        INTERVAL,
        margin="share",
        detail=lambda row: row.answer,
        tendency=_sure_shift,
    ),
    **{
        name: _declared_measure(measure)
        for name, measure in measures().items()
        if measure.is_claimed
    },
    "score": ClaimMeasure(
        Estimate,
        "difference",
        ESTIMATE_SIDES,
        ("higher", "lower"),
        ("difference_low", "difference_high"),
        margin="score",
        is_claimed=_is_score,
        confirmed_by=(_is_other_reading, IN_ANY_FORM),
        instead=is_known_score,
    ),
    "score_spread": ClaimMeasure(
        ScoreSpread,
        "sd_ratio",
        Sides("sd", "baseline", "sd_baseline", "n_units", "n_units_baseline"),
        ("wider", "wider"),
        is_claimed=lambda row: (
            (row.metric == score_reading(row.condition) or is_known_spread(row))
            and row.condition != row.baseline
        ),
        instead=is_known_spread,
        confirmed_by=(
            lambda row: row.metric == "em_flexible" and row.condition != FIELD,
            IN_ANY_FORM,
        ),
    ),
    "value": _values(),
    "novelty": ClaimMeasure(
        Novelty,
        "excess",
        Sides("share", "control", "control_share", "n_equal", "n_equal"),
        ("more", "fewer"),
        ("excess_low", "excess_high"),
        margin="share",
        # the control of the novelty is what the others are compared with
        is_claimed=lambda row: row.condition != row.control,
    ),
    "categories": ClaimMeasure(
        CategoryVariance, None, Sides(), ("categories differ", "categories differ")
    ),
    **{
        name: ClaimMeasure(
            Robustness,
            "estimate",
            Sides(reference="origin", n="n_units"),
            directions,
            INTERVAL,
            margin=margin,
            is_of_tasks=True,
            is_claimed=partial(_has_metric, (metric,)),
        )
        for name, metric, directions, margin in (
            ("variant_accuracy", "accuracy_change", ("higher", "lower"), "score"),
            (
                *("variant_flips", "excess_flips"),
                *(("more than reruns", "fewer than reruns"), "share"),
            ),
        )
    },
    "group_gap": ClaimMeasure(
        GroupGap,
        "estimate",
        Sides("estimate", "other_group", "expected_same", "n_answers"),
        ("differ", "differ"),
        is_of_tasks=True,
        detail=lambda row: f"{row.metric}, {row.kind}",
        is_claimed=partial(_has_metric, GAPS),
    ),
    "group_option": ClaimMeasure(
        GroupGap,
        "estimate",
        Sides(reference="other_group", n="n_answers"),
        ("differ", "differ"),
        is_of_tasks=True,
        detail=lambda row: row.option,
        is_claimed=partial(_has_metric, ("option_gap",)),
    ),
    "practice_order": ClaimMeasure(
        PracticeOrder,
        "rho",
        Sides("rho", "baseline", n="n_models"),
        ("same order", "opposite order"),
        INTERVAL,
        is_of_tasks=True,
        detail=lambda row: row.way_task,
        is_claimed=lambda row: row.metric == score_reading(row.condition),
    ),
    "group_difference": ClaimMeasure(
        GroupDifference,
        "difference",
        Sides("value", "versus", "value_versus", "n_group", "n_versus"),
        ("differ", "differ"),
        INTERVAL,
        is_of_field=True,
        detail=_groups_compared,
    ),
    "field_order": ClaimMeasure(
        RankAgreement,
        "tau_b",
        Sides("tau_b", _the_field, n="n_ranked"),
        ("same order", "opposite order"),
        ("tau_low", "tau_high"),
        is_of_field=True,
        detail=lambda row: f"{row.over} by {row.measure}, {row.kind}",
    ),
    **{
        measure.beside_field: _declared_measure(measure, "field")
        for measure in measures().values()
        if measure.beside_field
    },
    "field_distance": ClaimMeasure(
        ItemAgreement,
        "js_distance",
        Sides("js_distance", _the_field, "js_expected_same", "n_predictor", "n_field"),
        is_of_field=True,
    ),
    "field_value": _values(is_of_field=True),
    "field_place": ClaimMeasure(
        ItemAgreement,
        "rank_change",
        Sides("predictor_rank", _the_field, "field_rank", "n_predictor", "n_field"),
        ("moves", "moves"),
        p_value="p_rank",
        is_of_field=True,
    ),
}
"""The measures by name, in the order of the page."""


def claim_key(measure: str, row: Any) -> ClaimKey:
    """The key of a row's test."""
    detail = MEASURES[measure].detail
    item_id = getattr(row, "item_id", None)
    return ClaimKey(measure, *arm_of(row), item_id, detail(row) if detail else None)


def study_tests(measure: str, rows: Sequence[Any]) -> Iterator[StudyTest]:
    """The tests of one measure: rows that share a test, as categories do, give one."""
    form = MEASURES[measure]
    tests: dict[ClaimKey, StudyTest] = {}
    known_keys = {claim_key(measure, row) for row in rows if form.instead and form.instead(row)}
    for row in rows:
        key = claim_key(measure, row)
        is_replaced = key in known_keys and not (form.instead and form.instead(row))
        is_claimed = form.is_claimed is None or form.is_claimed(row)
        if key not in tests and is_claimed and not is_replaced:
            tests[key] = _test(key, form, row)
    if form.confirmed_by:
        is_other, words = form.confirmed_by
        for row in filter(is_other, rows):
            key = claim_key(measure, row)
            if key in tests and key not in known_keys:
                other = _test(key, form, row)
                tests[key] = confirm(tests[key], other.p_value, other.direction, words)
    return iter(tests.values())


def confirm(test: StudyTest, p_value: float | None, direction: str | None, words: str) -> StudyTest:
    """A test that another has to confirm: by its p-value, or by 1 where it points the other way."""
    above, below = MEASURES[test.key.measure].directions
    is_opposite = above != below and {test.direction, direction} == {above, below}
    confirmation = Confirmation(words, 1.0 if is_opposite and p_value is not None else p_value)
    return test._replace(confirmations=(*test.confirmations, confirmation))


def _test(key: ClaimKey, form: ClaimMeasure, row: Any) -> StudyTest:
    estimate = getattr(row, form.estimate) if form.estimate else None
    p_value = getattr(row, form.p_value)
    is_tested = p_value is not None
    low, high = (getattr(row, end) for end in form.interval) if form.interval else (None, None)
    confirmation = form.confirmation(row) if form.confirmation else None
    return StudyTest(
        key=key,
        source=table_of(form.row_type).name,
        estimate=estimate,
        ci_low=low,
        ci_high=high,
        p_value=p_value,
        support=_support(row) if is_tested else 0.0,
        direction=_direction(form, row) if is_tested else None,
        margin=form.margin,
        is_one_sided=form.is_one_sided,
        reason=None if is_tested else row.reason,
        confirmations=[confirmation] if confirmation and confirmation.p_value is not None else (),
        sides=form.sides.of(row),
    )


def _direction(form: ClaimMeasure, row: Any) -> str:
    """Without its interval a test says that answers differ, not whether their mean is higher."""
    if form.tendency:
        tendency = form.tendency(row)
        return "differs" if tendency is None else form.directions[tendency < 0]
    if form.margin and form.interval and getattr(row, form.interval[0]) is None:
        return "differs"
    estimate = getattr(row, form.estimate) if form.estimate else None
    return form.directions[(estimate or 0.0) < 0]


def _support(row: Any) -> Support:
    """The p-values that a row's test could have had."""
    if isinstance(row, Shift):
        if row.n_named is None or row.n_named_baseline is None:
            return 0.0
        n_named = row.n_named + row.n_named_baseline
        return Margins(n_named, row.n_answers, row.n_baseline)
    p_least: float | None = getattr(row, "p_least", None)
    n_permutations: int | None = getattr(row, "n_permutations", None)
    if p_least is None and n_permutations:
        return 1 / (n_permutations + 1)
    return p_least or 0.0
