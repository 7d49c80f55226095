"""Rows of the tables that say how large a study must be; they are simulated, not measured."""

from fieldwork.records.columns import column, row, table


@row
class EffectRow:
    """What a row about a supposed effect begins with."""

    measure: str = column("what is tested, a name of `study.primary` (docs/methods.md)")
    effect: str = column("the effect supposed to be true, as the config gives it")
    source: str = column(
        "how an answer is simulated: one of two options, a list, a score, a point or a number"
    )
    odd_users: float = column("share of users who carry the effect (`power.odd_users`)")
    likeness: float | None = column(
        "correlation of a user's answers to two prompts, NULL for tests of one prompt and of scores"
    )


@table("power/power.parquet", "measure, task, effect, replicates, model, condition, n_users")
class PowerRow(EffectRow):
    """How often a study of one size would claim an effect, and what it costs."""

    task: str = column("task")
    model: str = column("model that would be asked")
    condition: str = column("condition that would be compared with the baseline, or `field`")
    n_users: int = column("users or puppets; as many reruns of the baseline")
    replicates: int = column("answers of each user to each prompt")
    n_items: int = column("prompts of the task")
    n_settled: int = column("prompts of them that everybody answers alike (`power.settled_items`)")
    family: str = column("tests corrected together: `primary`, or the other tests of the measure")
    correction: str = column("their correction, as in `claims`")
    n_tests: int | None = column(
        "how many they are, NULL where not simulated; of options the mean number that can count"
    )
    power: float | None = column("share of simulated studies that claim it, NULL with a reason")
    ci_low: float | None = column("lower end of the 95 % interval of the simulation (Wilson)")
    ci_high: float | None = column("upper end of the 95 % interval of the simulation (Wilson)")
    n_simulations: int = column("simulated studies, 0 where there was none")
    n_calls: int = column("answers of the condition: calls, or prompts that participants paste")
    cost_usd: float | None = column(
        "what they cost as the config dispatches them, NULL with a reason"
    )
    n_calls_baseline: int = column("calls of the baseline, 0 for `share_who`, which needs none")
    cost_baseline_usd: float | None = column("what they cost, NULL with a reason")
    basis: str = column("what the tokens are counted from, as in `plan.csv`")
    reason: str | None = column("why there is no power or no cost")


@table("power/advice.csv")
class PowerAdvice(EffectRow):
    """The smallest size that claims an effect often enough, and its cost."""

    likeness_basis: str | None = column("where it is from: the config, stored answers, or neither")
    task: str = column("task")
    model: str = column("model that would be asked")
    condition: str = column("condition that would be compared with the baseline, or `field`")
    replicates: int = column("answers of each user to each prompt")
    n_settled: int = column("prompts of the task that everybody answers alike")
    family: str = column("tests corrected together: `primary`, or the other tests of the measure")
    correction: str = column("their correction, as in `claims`")
    n_tests: int | None = column("how many they are at `n_simulated`, as in the other table")
    target: float = column("target power")
    n_users: int | None = column(
        "users or puppets needed, interpolated between the simulated sizes"
    )
    n_simulated: int | None = column("the next larger size that was simulated")
    power: float | None = column("power at `n_simulated`, or at the largest size if not reached")
    ci_low: float | None = column("lower end of its 95 % interval (Wilson)")
    ci_high: float | None = column("upper end of its 95 % interval (Wilson)")
    n_calls: int | None = column("answers of the condition at `n_users`, as in the other table")
    n_calls_baseline: int | None = column("calls of the baseline, 0 for `share_who`")
    cost_usd: float | None = column("what both cost together, NULL with a reason")
    reason: str | None = column("why there is no size or no cost, or what the size leaves open")
