"""The table of estimates: one row type for every measure that is declared in `fieldwork/measures`."""

from typing import Literal

from fieldwork.records.columns import column, table
from fieldwork.records.shared import ArmRow

ReferenceKind = Literal["baseline", "control", "field", "other groups"]


@table(
    "metrics/estimates/{question}.parquet",
    "measure, model, task, condition, item_id NULLS FIRST, variable NULLS FIRST, "
    '"group" NULLS FIRST, versus',
)
class Estimate(ArmRow):
    """A measure of answers, beside what it is compared with."""

    measure: str = column("what is estimated, by the name of its measure")
    item_id: str | None = column("the prompt; NULL for the mean over the prompts of the task")
    variable: str | None = column(
        "the variable that defines groups of participants, NULL for everyone"
    )
    group: str | None = column("the group of participants, NULL for everyone")
    value: float | None = column("the value, of several prompts their mean; NULL with a reason")
    ci_low: float | None = column(
        "lower end of its 95 % interval for these prompts: other users or answers, the same prompts"
    )
    ci_high: float | None = column("upper end of its 95 % interval for these prompts")
    reference: ReferenceKind = column(
        "what it is compared with: the `baseline`, which is itself compared with nothing, a `control` "
        "that asks the baseline again, the `field`, or the `other groups` of a variable"
    )
    versus: str = column("its name: of a condition, `field` or `other groups`")
    difference: float | None = column(
        "`value` less the same of `versus`, on the prompts that both answer; NULL with a reason"
    )
    difference_low: float | None = column("lower end of its 95 % interval for these prompts")
    difference_high: float | None = column("upper end of its 95 % interval for these prompts")
    p_value: float | None = column(
        "test that the difference is 0 on these prompts, two-sided, not corrected; NULL without a test"
    )
    n_permutations: int | None = column(
        "random permutations behind `p_value`, 0 where all were listed; NULL of another test"
    )
    prompts_low: float | None = column(
        "lower end of the 95 % interval of `value` for prompts like these: other users or answers and "
        "other prompts"
    )
    prompts_high: float | None = column(
        "upper end of the interval of `value` for prompts like these"
    )
    prompts_difference_low: float | None = column(
        "lower end of the 95 % interval of `difference` for prompts like these"
    )
    prompts_difference_high: float | None = column(
        "upper end of the 95 % interval of `difference` for prompts like these"
    )
    prompts_reason: str | None = column("why there is no interval for prompts like these")
    n_higher: int | None = column("prompts on which it is higher than in `versus`")
    n_items: int = column("prompts behind `value`")
    n_equal: int | None = column(
        "fewest answers that conditions are brought to, over the prompts; NULL where n does not matter"
    )
    n_answers: int = column(
        "answers behind `value`, the first of each user to a prompt; those of whole runs"
    )
    n_units: int = column(
        "users behind them; without users the fewest answers to a prompt, or runs"
    )
    n_units_versus: int = column("the same of `versus`, 0 without a difference")
    n_without: int = column("further answers, or runs, without what the measure takes")
    n_truncated: int | None = column("answers cut off, where their length matters")
    unit: str = column("unit of resampling: `puppet` or `response`")
    reason: str | None = column("why something is NULL")
    is_stated: bool = column(
        "whether `value` is made of probabilities that answers state, of no answer that was drawn",
        default=False,
    )
