"""Rows of the tables that say how large a study must be; they are simulated, not measured."""

from typing import Literal

from fieldwork.records.columns import column, table

Design = Literal["shares", "who", "scores"]


@table("power/power.parquet", "design, task, effect, replicates, model, condition, n_users")
class PowerRow:
    """How often a study of one size would find an effect, and what it costs."""

    design: Design = column("what is tested: `shares`, `who` or `scores` (docs/methods.md)")
    effect: str = column("the effect supposed to be true, as the config gives it")
    source: str = column("how an answer is simulated: one of two options, a list, or a score")
    task: str = column("task")
    model: str = column("model that would be asked")
    condition: str = column("condition that would be compared with the baseline, or `field`")
    n_users: int = column("users or puppets; as many reruns of the baseline")
    replicates: int = column("answers of each user to each prompt")
    n_items: int = column("prompts of the task")
    n_tests: int = column("tests that are corrected together (Holm)")
    alpha_per_test: float = column("level of each test by Bonferroni: the least it can get")
    power: float | None = column("share of simulated studies that find it, NULL with a reason")
    ci_low: float | None = column("lower end of the 95 % interval of the simulation (Wilson)")
    ci_high: float | None = column("upper end of the 95 % interval of the simulation (Wilson)")
    n_simulations: int = column("simulated studies, 0 where none was needed")
    n_calls: int = column("answers of the condition: calls, or prompts that participants paste")
    cost_usd: float | None = column(
        "what they cost as the config dispatches them, NULL with a reason"
    )
    n_calls_baseline: int = column("calls of the baseline, 0 for `who`, which needs none")
    cost_baseline_usd: float | None = column("what they cost, NULL with a reason")
    basis: str = column("what the tokens are counted from, as in `plan.csv`")
    reason: str | None = column("why there is no power or no cost")


@table("power/advice.csv")
class PowerAdvice:
    """The smallest size that finds an effect often enough, and its cost."""

    design: Design = column("what is tested: `shares`, `who` or `scores` (docs/methods.md)")
    effect: str = column("the effect supposed to be true, as the config gives it")
    source: str = column("how an answer is simulated: one of two options, a list, or a score")
    task: str = column("task")
    model: str = column("model that would be asked")
    condition: str = column("condition that would be compared with the baseline, or `field`")
    replicates: int = column("answers of each user to each prompt")
    n_tests: int = column("tests that are corrected together (Holm)")
    target: float = column("target power")
    n_users: int | None = column(
        "users or puppets needed, interpolated between the simulated sizes"
    )
    n_simulated: int | None = column("the next larger size that was simulated")
    power: float | None = column("power at `n_simulated`, or at the largest size if not reached")
    ci_low: float | None = column("lower end of its 95 % interval (Wilson)")
    ci_high: float | None = column("upper end of its 95 % interval (Wilson)")
    n_calls: int | None = column("answers of the condition at `n_users`, as in the other table")
    n_calls_baseline: int | None = column("calls of the baseline, 0 for `who`")
    cost_usd: float | None = column("what both cost together, NULL with a reason")
    reason: str | None = column("why there is no size or no cost, or what the size leaves open")
