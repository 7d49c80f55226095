"""Rows of the tables of tasks that are put otherwise; docs/methods.md has their formulas."""

from fieldwork.records.columns import column, table
from fieldwork.records.tasks import ItemKind


@table("metrics/robustness.parquet", "model, origin, task, condition, metric", part="variants")
class Robustness:
    """How answers change when a task is put otherwise."""

    model: str = column("model")
    origin: str = column("the task that is put otherwise")
    task: str = column(
        "the variant; the origin itself where a row is about it, or about all variants"
    )
    condition: str = column("condition, the same for both")
    metric: str = column("what is estimated (docs/methods.md)")
    estimate: float | None = column("its value, NULL with a reason")
    ci_low: float | None = column(
        "lower end of the 95 % interval, for items (and users) like these"
    )
    ci_high: float | None = column(
        "upper end of the 95 % interval, for items (and users) like these"
    )
    p_value: float | None = column(
        "test that the change is 0, two-sided: of `accuracy_change`, `excess_flips`, `excess_overlap`"
    )
    p_least: float | None = column("smallest p-value that the test could have had")
    n_permutations: int | None = column("random permutations, 0 where all were counted")
    n_lost: int | None = column("of `accuracy_change`: first answers, right before and wrong now")
    n_won: int | None = column("of `accuracy_change`: first answers, wrong before and right now")
    n_items: int = column("items behind the value")
    n_left_out: int = column("items of the variant that could not be changed (`applied` is false)")
    n_units: int = column("puppets; without users, items: what the test takes as independent")
    unit: str = column("unit of the test: `puppet` or `item`")
    reason: str | None = column("why there is no value, interval or test")


@table(
    "metrics/group_gaps.parquet",
    "model, origin, condition, kind, metric, item_id NULLS FIRST, option NULLS FIRST, "
    '"group" NULLS FIRST',
    part="variants",
)
class GroupGap:
    """How differently groups of people are answered."""

    model: str = column("model")
    origin: str = column("the task that is put for each group")
    condition: str = column("condition")
    kind: ItemKind = column("kind of the items")
    metric: str = column("what is compared (docs/methods.md)")
    item_id: str | None = column("the item, NULL over all items")
    option: str | None = column("the letter or canonical option, NULL where it is about none")
    group: str | None = column("the group that a value is of; of a gap the one with the largest")
    other_group: str | None = column("of a gap the group with the smallest value")
    estimate: float | None = column("its value, NULL with a reason")
    expected_same: float | None = column("what it is on average where groups are dealt anew")
    p_value: float | None = column("test that the group makes no difference")
    p_least: float | None = column("smallest p-value that the test could have had")
    n_permutations: int | None = column("random permutations, 0 where all were counted")
    n_items: int = column("items behind the value")
    n_left_out: int = column("items that could not be put for every group")
    n_answers: int = column("answers behind the value")
    n_groups: int = column("groups compared")
    reason: str | None = column("why there is no value, or no test")
