"""Rows of the tables that say how large a study can be and must be, and what it costs.

Declared as in `fieldwork.records`: puppets, plan, bill and power, which is simulated, not measured.
"""

from dataclasses import dataclass
from typing import Literal

from fieldwork.records import column

Design = Literal["shares", "who", "scores"]

FIELD = "field"
"""The condition of real users: they are paid, not called."""


@dataclass(frozen=True, slots=True)
class PuppetCount:
    """How many puppets a condition could have: `puppets.csv`."""

    condition: str = column("the condition")
    source: str = column("the corpus or persona source that its puppets are made from")
    unit: str = column("what is counted there: `users`, `conversations` or `personas`")
    at_least: int = column("conversations a user must have to count, else 1")
    available: int = column("how many there are, after the corpus's filters")
    needed: int = column("how many the task with the most runs needs")


@dataclass(frozen=True, slots=True)
class PlanRow:
    """What a model's answers to a task will cost under a condition and a dispatch: `plan.csv`."""

    model: str = column("model name in the config")
    task: str = column("task")
    condition: str = column("condition")
    dispatch: str = column("`live`, `flex` or `batch`")
    is_chosen: bool = column("the dispatch that the config chooses for the model")
    basis: str = column("`tables`, or which part is assumed: `contexts assumed`, `all assumed`")
    n_requests: int = column("requests of the study")
    n_answered: int = column("of these, answered already; all columns below are about the others")
    n_contexts: int = column("distinct contexts they follow, a blank one included")
    prefix_tokens: int = column("input tokens of contexts, once for every question")
    question_tokens: int = column("input tokens of questions")
    cached_tokens: int = column("input tokens expected to be read from the prompt cache")
    cache_write_tokens: int = column("input tokens expected to be billed as written to the cache")
    stored_tokens: int = column("tokens of contexts left with the provider, billed as input too")
    stored_token_hours: float = column("the same times the hours they are stored")
    output_tokens: int = column("output tokens expected")
    output_tokens_most: int = column("output tokens if every answer is as long as it may be")
    tokens_per_byte: float = column("tokens a byte counts as: 0.25, or as answers showed")
    minutes: float | None = column("time at the limits, NULL for a batch")
    limited_by: str = column("what sets that time")
    cost_no_cache_usd: float | None = column("cost if nothing is read from a cache")
    cost_expected_usd: float | None = column("cost expected, NULL with a reason")
    cost_ideal_usd: float | None = column("cost if every repeated token came from the cache")
    cost_most_usd: float | None = column("cost without a cache and with the longest answers")
    price_as_of: str | None = column("day the price was read, ISO date")
    reason: str | None = column("why there is no cost, or what it leaves out")


@dataclass(frozen=True, slots=True)
class CostRow:
    """What a model's answers to a task cost under a condition and a dispatch: `cost.csv`."""

    model: str = column("model name in the config")
    task: str = column("task")
    condition: str = column("condition")
    dispatch: str = column("how they were sent, `live`, `flex` or `batch`: decides the price")
    n_answers: int = column("answers")
    n_shared: int = column("of these, calls shared with an earlier row, and counted only there")
    input_tokens: int = column("input tokens as billed")
    cached_tokens: int = column("of these, read from the prompt cache")
    cache_write_tokens: int = column("of these, written to the cache")
    output_tokens: int = column("output tokens as billed")
    reasoning_tokens: int = column("of these, hidden reasoning")
    cached_share: float | None = column("cached_tokens / input_tokens, NULL where there are none")
    cost_usd: float | None = column("sum of the answers' costs, NULL with a reason")
    price_as_of: str | None = column("day of the price, ISO date; the latest of several")
    planned_usd: float | None = column("what the plan expects for these answers")
    difference_usd: float | None = column("cost_usd - planned_usd")
    reason: str | None = column("what the cost leaves out, or why there is none")


@dataclass(frozen=True, slots=True)
class PowerRow:
    """How often a study of one size would find an effect, and what it costs: `power/power`."""

    design: Design = column("what is tested: `shares`, `who` or `scores` (docs/methods.md)")
    effect: str = column("the effect supposed to be true, as the config gives it")
    source: str = column("what an answer is taken for: one of two, a list, or a score")
    task: str = column("task")
    model: str = column("model that would be asked")
    condition: str = column("condition that would be set beside the baseline, or `field`")
    n_users: int = column("users or puppets; as many reruns of the baseline")
    replicates: int = column("answers of each user to each prompt")
    n_items: int = column("prompts of the task")
    n_tests: int = column("tests that Holm's correction holds together")
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


@dataclass(frozen=True, slots=True)
class PowerAdvice:
    """The smallest size that finds an effect often enough, and its cost: `power/advice.csv`."""

    design: Design = column("what is tested: `shares`, `who` or `scores` (docs/methods.md)")
    effect: str = column("the effect supposed to be true, as the config gives it")
    source: str = column("what an answer is taken for: one of two, a list, or a score")
    task: str = column("task")
    model: str = column("model that would be asked")
    condition: str = column("condition that would be set beside the baseline, or `field`")
    replicates: int = column("answers of each user to each prompt")
    n_tests: int = column("tests that Holm's correction holds together")
    target: float = column("power asked for")
    n_users: int | None = column("users or puppets it takes, between sizes by a straight line")
    n_simulated: int | None = column("the next larger size that was simulated")
    power: float | None = column("power at `n_simulated`, or at the largest size if not reached")
    ci_low: float | None = column("lower end of its 95 % interval (Wilson)")
    ci_high: float | None = column("upper end of its 95 % interval (Wilson)")
    n_calls: int | None = column("answers of the condition at `n_users`, as in the other table")
    n_calls_baseline: int | None = column("calls of the baseline, 0 for `who`")
    cost_usd: float | None = column("what both cost together, NULL with a reason")
    reason: str | None = column("why there is no size or no cost, or what the size leaves open")
