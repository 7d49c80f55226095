"""Rows of the tables about scales and numbers; docs/methods.md has their formulas."""

from fieldwork.records.columns import column, table
from fieldwork.records.shared import ArmRow
from fieldwork.records.tasks import ItemKind


@table("metrics/values.parquet", "model, task, condition, kind, item_id NULLS FIRST", part="values")
class ValueEstimate(ArmRow):
    """Mean and spread of the answers to a scale or a number, and of a battery of scales as a whole."""

    kind: ItemKind = column("`scale` or `number`")
    item_id: str | None = column(
        "the item; NULL for the scales of the task together, each from 0 (lowest point) to 1 (highest)"
    )
    mean: float | None = column("mean of the first answers, NULL with a reason")
    ci_low: float | None = column(
        "lower end of its 95 % interval over `unit`, NULL with too few and for a number"
    )
    ci_high: float | None = column("upper end of its 95 % interval, NULL likewise")
    sd: float | None = column("standard deviation of the first answers, NULL for fewer than two")
    lower_quartile: float | None = column("quartile below which a quarter of them lie")
    median: float | None = column("their median")
    median_low: float | None = column("lower end of its 95 % interval, NULL with fewer than six")
    median_high: float | None = column("upper end of its 95 % interval, NULL with fewer than six")
    upper_quartile: float | None = column("quartile above which a quarter of them lie")
    alpha: float | None = column(
        "scales together: Cronbach's alpha over users; NULL for an item, without users or with too few"
    )
    n_units: int = column("users, or responses without users, whose first answer has a value")
    n_without: int = column("answers without a value: unreadable, refused or beside the scale")
    n_missing: int = column("users, or responses without users, that are not in `n_units` for it")
    n_items: int = column("items: 1, or the scales of the task")
    unit: str = column("what one answer is: `puppet` or `response`")
    reason: str | None = column("why something is NULL")


@table(
    "metrics/value_comparisons.parquet",
    "model, task, condition, versus, kind, item_id NULLS FIRST",
    part="values",
)
class ValueComparison(ArmRow):
    """Answers to a scale or a number under a condition beside those of the baseline, or of the field."""

    versus: str = column("what the condition is compared with: the baseline, or `field`")
    kind: ItemKind = column("`scale` or `number`")
    item_id: str | None = column("the item; NULL for the scales of the task together")
    difference: float | None = column(
        "mean of the condition less the other mean, of a number the medians; NULL with a reason"
    )
    ci_low: float | None = column("lower end of its 95 % interval, NULL with too few")
    ci_high: float | None = column("upper end of its 95 % interval, NULL with too few")
    superiority: float | None = column(
        "chance that an answer of the condition is above one of the other, ties counted half"
    )
    superiority_low: float | None = column(
        "lower end of its 95 % interval, NULL where all is alike"
    )
    superiority_high: float | None = column(
        "upper end of its 95 % interval, NULL where all is alike"
    )
    p_value: float | None = column(
        "permutation test of the superiority, of the scales together of the difference; no smaller than "
        "the interval of the difference has it, of a number that of the superiority"
    )
    p_least: float | None = column("smallest p-value that the test could have had")
    n_permutations: int | None = column("random permutations, 0 where all permutations were listed")
    distance: float | None = column(
        "earth mover's distance of the two distributions; of scales as a share of the scale"
    )
    distance_same: float | None = column("the same where both are from one source, by chance alone")
    p_worst: float | None = column(
        "`p_value` where those without a value had answered as far against the difference as they can, 1 "
        "where that turns it round; NULL where everybody has a value"
    )
    n_units: int = column("answers of the condition, one a user or a response")
    n_units_versus: int = column("answers it is compared with")
    n_missing: int = column("users of the condition, or responses, without a value")
    n_missing_versus: int = column("the same of what it is compared with")
    unit: str = column("what one answer of the condition is: `puppet` or `response`")
    reason: str | None = column("why something is NULL")
