"""Rows of the table of waves, the same questions after a time; docs/methods.md has its formulas."""

from typing import Literal

from fieldwork.records.columns import column, table
from fieldwork.records.shared import ArmRow

DriftMeasure = Literal[
    "accuracy",
    "letters",
    "options",
    "length",
    "refusals",
    "format_failures",
    "latency",
]


@table("metrics/drift.parquet", "model, task, condition, measure", part="waves")
class Drift(ArmRow):
    """What a wave of the same questions changed since the first one."""

    condition: str = column("the condition that is the wave")
    wave: str = column("the wave")
    first_wave: str | None = column(
        "the wave that it is compared with: the first of its series with answers; NULL without any"
    )
    first_condition: str | None = column("the condition that is the first wave")
    look: int = column("place of the wave among the study's: 1 for the second, 2 for the third")
    measure: DriftMeasure = column("what is compared (docs/methods.md)")
    first_value: float | None = column(
        "value of the first wave: a share, words, or seconds; NULL for `letters` and `options`, whose "
        "values are distances from it"
    )
    value: float | None = column("value of the wave, NULL with a reason")
    change: float | None = column(
        "value - first_value; of a distance, how far it is beyond the mean of waves dealt anew, so that "
        "0 is no change"
    )
    ci_low: float | None = column("lower end of the 95 % interval of the change")
    ci_high: float | None = column("upper end of the 95 % interval of the change")
    p_value: float | None = column("test that answers do not depend on the wave, two-sided")
    p_least: float | None = column("no p-value of this test could have been smaller")
    n_permutations: int | None = column("random permutations behind `p_value`, 0 where it is exact")
    p_holm: float | None = column(
        "`p_value` corrected over all tests of the look that could show a change (Holm)"
    )
    level: float | None = column("what `p_holm` may be at most: the study's 0.05 / planned looks")
    has_moved: bool | None = column("`p_holm` is at most `level`; NULL with a reason")
    n_items: int = column("items that both waves answer")
    n_answers: int = column("answers of the wave to these items, from users of both waves")
    n_first_answers: int = column("answers of the first wave to these")
    returned_models: str | None = column(
        "the model's names and fingerprints as the provider stated them with these answers"
    )
    first_returned_models: str | None = column("the same of the first wave")
    reason: str | None = column("why something is NULL")
