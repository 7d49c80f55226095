"""Rows of the tables that set the offline score beside practice; docs/methods.md has their formulas."""

from fieldwork.records.columns import column, row, table


@row
class PracticeWay:
    """What a row about one way of asking begins with; all models are asked that way."""

    task: str = column("task whose offline score it is")
    metric: str = column("`em_strict` or `em_flexible`")
    way_task: str = column("task asked that way: `task`, or a variant of it")
    condition: str = column("condition asked that way")


@table("metrics/practice.parquet", "task, metric, way_task, condition", part="practice")
class PracticeOrder(PracticeWay):
    """Whether the order of the models by their offline scores holds another way of asking."""

    baseline: str = column("condition of the offline score")
    rho: float | None = column(
        "Spearman's rank correlation of the models' scores offline and that way, NULL with a reason"
    )
    ci_low: float | None = column(
        "lower end of its 95 % interval over models, NULL with few models"
    )
    ci_high: float | None = column("upper end of its 95 % interval over models, NULL likewise")
    p_value: float | None = column("permutation test that the orders have nothing in common")
    p_least: float | None = column("smallest p-value that any order could have had")
    n_permutations: int | None = column("random orders, 0 where all orders were listed")
    difference: float | None = column("mean over models of the score that way - the offline score")
    n_models: int = column("models with both scores")
    n_pairs: int = column("pairs of models")
    n_tied: int = column("pairs that score alike offline or that way")
    n_discordant: int = column("pairs whose order turns")
    n_beyond_chance: int = column("of these, pairs of which both differences are beyond chance")
    n_judged: int = column("of these, pairs of which both differences have an interval")
    reason: str | None = column("why there is no correlation, or no interval")


@table(
    "metrics/practice_turns.parquet",
    "task, metric, way_task, condition, model, other",
    part="practice",
)
class PracticeTurn(PracticeWay):
    """Two models whose order offline turns another way of asking."""

    model: str = column("the model ahead offline")
    other: str = column("the model ahead that way")
    lead: float = column("score of `model` - score of `other`, offline")
    lead_low: float | None = column("lower end of its 95 % interval over runs")
    lead_high: float | None = column("upper end of its 95 % interval over runs")
    way_lead: float = column("the same that way, below 0")
    way_low: float | None = column("lower end of its 95 % interval over runs or users")
    way_high: float | None = column("upper end of its 95 % interval over runs or users")
    is_beyond_chance: bool | None = column("neither interval holds 0; NULL without both intervals")
    reason: str | None = column("why there is no interval")


@table(
    "metrics/practice_drops.parquet", "task, metric, model NULLS FIRST, variant", part="practice"
)
class PracticeDrop:
    """How much of the drop from the offline score to the harshest way a variant explains."""

    task: str = column("task whose offline score it is")
    metric: str = column("`em_strict` or `em_flexible`")
    model: str | None = column("model, NULL for the mean over the models")
    variant: str = column("step of a variant, or condition")
    harshest: str = column("the variants of the harshest way, joined by +")
    total_drop: float | None = column("offline score - score of the harshest way")
    drop: float | None = column(
        "part of it that the variant explains (Shapley), NULL with a reason"
    )
    ci_low: float | None = column("lower end of the 95 % interval of `drop` over reruns")
    ci_high: float | None = column("upper end of the 95 % interval of `drop` over reruns")
    share: float | None = column("drop / total_drop; below 0 where the variant helps")
    n_models: int = column("models with a score for every combination")
    n_combinations: int = column("combinations of the variants, all of which must be asked")
    reason: str | None = column("why there is no part, or no interval")
