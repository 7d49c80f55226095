"""Rows of the table of claims: every test that the page of findings may call a difference."""

from typing import Literal

from fieldwork.records.columns import column, table

Verdict = Literal["differs", "equivalent", "undecided", "cannot be shown", "not tested"]


@table(
    "metrics/claims.parquet",
    "family, measure, model NULLS FIRST, task, condition, item_id NULLS FIRST, detail NULLS FIRST",
)
class Claim:
    """One test, corrected together with the others of its family."""

    family: str = column(
        "tests corrected together: `primary`, the other tests of one measure, `real_users_` and one of "
        "these for real users, `control_` and one of these for the baseline asked again"
    )
    measure: str = column("what is tested, a name of `study.primary` (docs/methods.md)")
    source: str = column("table in `metrics/` with the estimate and its p-value")
    model: str | None = column("model, NULL where models are ranked")
    task: str = column("task")
    condition: str = column("the condition tested")
    item_id: str | None = column("the item, NULL for a test over items")
    detail: str | None = column(
        "what else tells the test apart: an option, two groups, a kind of item"
    )
    value: float | None = column(
        "what is measured under the condition, as in `source`; NULL where it has no single number"
    )
    reference: str | None = column(
        "what it is compared with: a condition, a task or a group; NULL where that is chance alone"
    )
    reference_value: float | None = column(
        "the same of `reference`, of distances and gaps what chance alone makes; NULL where `source` "
        "lacks it"
    )
    estimate: float | None = column("the difference tested, as in `source`; NULL where it has none")
    ci_low: float | None = column("lower end of its 95 % interval, not corrected")
    ci_high: float | None = column("upper end of its 95 % interval, not corrected")
    n: int | None = column("units behind `value`: users, reruns, answers or what is ranked")
    n_reference: int | None = column("units of `reference`; NULL where `source` lacks them")
    p_value: float | None = column("p-value of the test, NULL with a reason")
    p_confirmed: float | None = column(
        "the largest p-value of the test and of those that have to confirm it: against asking the "
        "baseline again, and of scores with answers in any form; NULL where none has to"
    )
    p_least: float | None = column(
        "smallest p-value this test could have had; NULL where none limits it"
    )
    p_corrected: float | None = column(
        "`p_confirmed`, or else `p_value`, corrected over the family; NULL where the test could not have "
        "shown anything"
    )
    correction: str = column(
        "`Holm` (error of the family) or `Benjamini-Hochberg` (share of false claims)"
    )
    n_tests: int = column("tests of the family that could have shown something")
    margin: float | None = column("differences within it are called equivalent (`metrics.margins`)")
    smallest_effect: float | None = column(
        "difference that such a test finds in four of five studies; NULL without an interval"
    )
    verdict: Verdict = column(
        "`differs`, `equivalent`, `undecided`, `cannot be shown` or `not tested`"
    )
    direction: str | None = column("of a difference: which way it goes, in words")
    unconfirmed: str | None = column(
        "of a difference that the test alone would show: what does not confirm it"
    )
    reason: str | None = column("why there is no test, or why it could not have shown anything")
