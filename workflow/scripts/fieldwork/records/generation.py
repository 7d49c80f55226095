"""Rows of the tables of requests, responses, and what they cost."""

from datetime import datetime
from typing import Literal

from fieldwork.records.columns import Name, column, row, table

Outcome = Literal["ok", "truncated", "refused", "filtered", "empty", "failed"]


Defect = Literal["encoding", "usage", "tokens", "model", "secret"]


OUTCOMES: tuple[Outcome, ...] = ("ok", "truncated", "refused", "filtered", "empty", "failed")


MOST_REQUESTS = 50_000_000
"""Of a study: at ten a second they take two months, and a table of them fits no usual machine."""


@table(
    "requests/{task}/{condition}.parquet", "context_id NULLS FIRST, puppet_id, item_id, replicate"
)
class Request:
    """A question to be asked."""

    item_id: Name = column("the item")
    context_id: Name | None = column("the context, NULL offline")
    puppet_id: Name | None = column("the puppet, NULL offline")
    replicate: int = column("repeat index of the same item and context, from 0")


@row
class OptionProbability:
    """An option, and the probability that it is drawn."""

    option: str = column("choice: the letter; list: the candidate")
    probability: float = column("at the temperature of the call")


@table(
    "responses/{model}/{task}/{condition}.parquet",
    "item_id, puppet_id NULLS FIRST, context_id NULLS FIRST, replicate",
)
class Response:
    """An answer as it arrived."""

    model: Name = column("model name in the config")
    task: Name = column("task")
    condition: Name = column("condition")
    item_id: Name = column("the item")
    context_id: Name | None = column("the context, NULL offline")
    puppet_id: Name | None = column("the puppet, NULL offline")
    replicate: int = column("repeat index")
    ledger_key: Name | None = column(
        "key of the raw reply in `resources/ledger/{model}.sqlite`, NULL for a recorded answer"
    )
    text: str | None = column(
        "the answer's text, NULL where there was none", holds="words of answers"
    )
    outcome: Outcome = column("ok, truncated, refused, filtered, empty or failed")
    finish_reason: Name | None = column("as the provider said it")
    returned_model: Name | None = column("model the provider says answered")
    fingerprint: Name | None = column(
        "system fingerprint or model version, after the provider that a gateway names"
    )
    input_tokens: int | None = column("tokens of the prompt, as billed")
    cached_tokens: int | None = column("of these, read from the provider's prefix cache")
    cache_write_tokens: int | None = column("of these, written to the cache")
    output_tokens: int | None = column("tokens of the answer, as billed")
    reasoning_tokens: int | None = column("of these, hidden reasoning")
    cost_usd: float | None = column("price of the call, NULL without a price or without its tokens")
    latency_s: float | None = column("seconds from send to last byte, NULL where unknown")
    attempts: int | None = column("sends it took, NULL for a recorded answer")
    started_at: datetime | None = column("UTC time of the send, NULL where unknown")
    dispatch: Name = column(
        "how it was sent, `live`, `flex` or `batch`: decides the price; `recorded` for an answer that "
        "was collected elsewhere"
    )
    service_tier: Name | None = column("tier as the provider names it, NULL where it does not")
    request_id: Name | None = column("the provider's name for the call, NULL where it gives none")
    temperature_sent: bool | None = column(
        "false where the model refuses a temperature and none was sent, NULL for a recorded answer"
    )
    price_as_of: Name | None = column("day the price behind `cost_usd` was read, ISO date")
    defects: list[Name] = column(
        "what is wrong with the reply beside its answer: `encoding` (bytes that are no text are shown "
        "as U+FFFD), `usage` (tokens and cost are not stated), `tokens` (those stated contradict "
        "each other, and the dearer reading counts), `model` (it names no model), `secret` (the server "
        "repeated a key or a password, which is masked)"
    )
    option_probabilities: list[OptionProbability] | None = column(
        "choice: probability of each letter; list: of each candidate to be named first; NULL where the "
        "model does not state them",
        default=None,
        holds="words of answers",
    )
    source: Name | None = column(
        "file and place that a recorded answer was read from, NULL where this workflow asked",
        default=None,
    )


@table("plan.csv")
class PlanRow:
    """What a model's answers to a task will cost under a condition and a dispatch."""

    model: Name = column("model name in the config")
    task: Name = column("task")
    condition: Name = column("condition")
    dispatch: Name = column("`live`, `flex` or `batch`; `stream` for calls that are sent once more")
    is_chosen: bool = column("the dispatch that the config chooses for the model; streams too")
    basis: Name = column("`tables`, or which part is assumed: `contexts assumed`, `all assumed`")
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
    limited_by: Name = column("what sets that time")
    cost_no_cache_usd: float | None = column("cost if nothing is read from a cache")
    cost_expected_usd: float | None = column("cost expected, NULL with a reason")
    cost_ideal_usd: float | None = column("cost if every repeated token came from the cache")
    cost_most_usd: float | None = column("cost without a cache and with the longest answers")
    price_as_of: Name | None = column("day the price was read, ISO date")
    reason: Name | None = column("why there is no cost, or what it leaves out")


@table("cost.csv")
class CostRow:
    """What a model's answers to a task cost under a condition and a dispatch."""

    model: Name = column("model name in the config")
    task: Name = column("task")
    condition: Name = column("condition")
    dispatch: Name = column(
        "how they were sent, `live`, `flex` or `batch`: decides the price; `stream` for calls that were "
        "sent once more (`first_token_sample`)"
    )
    n_answers: int = column("answers")
    n_shared: int = column("of these, calls shared with an earlier row, and counted only there")
    input_tokens: int = column("input tokens as billed")
    cached_tokens: int = column("of these, read from the prompt cache")
    cache_write_tokens: int = column("of these, written to the cache")
    output_tokens: int = column("output tokens as billed")
    reasoning_tokens: int = column("of these, hidden reasoning")
    cached_share: float | None = column("cached_tokens / input_tokens, NULL where there are none")
    cost_usd: float | None = column("sum of the answers' costs, NULL with a reason")
    price_as_of: Name | None = column("day of the price, ISO date; the latest of several")
    planned_usd: float | None = column("what the plan expects for these answers")
    difference_usd: float | None = column("cost_usd - planned_usd")
    reason: Name | None = column("what the cost leaves out, or why there is none")
