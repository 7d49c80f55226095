"""Rows of the tables of waiting times and prices; docs/methods.md has their formulas."""

from datetime import datetime

from fieldwork.records.columns import Name, column, table


@table("metrics/service.parquet", "model, task, condition, measure", part="service")
class ServiceMeasure:
    """How long answers take and what they cost."""

    model: str = column("model")
    task: str = column("task")
    condition: str = column("condition")
    baseline: str = column("the condition that `difference` is to")
    measure: str = column("what is estimated (docs/methods.md)")
    estimate: float | None = column(
        "its value: seconds, tokens, tokens a second or US dollars, by the measure's name; NULL with a "
        "reason"
    )
    ci_low: float | None = column("lower end of the 95 % interval")
    ci_high: float | None = column("upper end of the 95 % interval")
    difference: float | None = column(
        "estimate - that of the baseline, NULL for the baseline itself"
    )
    difference_low: float | None = column("lower end of its 95 % interval")
    difference_high: float | None = column("upper end of its 95 % interval")
    n_calls: int = column("calls, those without an answer included")
    n_errors: int = column("of these, without an answer: they are in no estimate")
    n_resends: int = column("sends that had to be repeated, and whose time is not counted")
    n_answers: int = column("answers behind the estimate")
    n_units: int = column("units behind the interval")
    unit: str = column("what is left out in turn: `puppet`, `stretch` of calls or `call`")
    dispatch: str = column("how the calls were sent, which decides the price; several with commas")
    reason: str | None = column("why something is NULL, and which answers are left out")


@table("metrics/trade_offs.parquet", "task, model, condition", part="service")
class TradeOff:
    """Score, waiting time and price of a model under a condition."""

    task: str = column("a task with right answers")
    model: str = column("model")
    condition: str = column("condition")
    score: float | None = column("mean `em_strict` of the runs")
    score_low: float | None = column("lower end of its 95 % interval")
    score_high: float | None = column("upper end of its 95 % interval")
    latency_s: float | None = column("seconds in which 95 % of the answers come")
    latency_low: float | None = column("lower end of its 95 % interval")
    latency_high: float | None = column("upper end of its 95 % interval")
    usd: float | None = column("US dollars a call")
    usd_low: float | None = column("lower end of its 95 % interval")
    usd_high: float | None = column("upper end of its 95 % interval")
    is_best: bool | None = column(
        "no other row of the task is as good in all and better in one; NULL with a reason"
    )
    weighed: str = column("what is weighed beside the score: `latency_s`, `usd`, both or nothing")
    reason: str | None = column("what the row lacks")


@table(
    "first_tokens/{model}/{task}/{condition}.parquet",
    "item_id, puppet_id NULLS FIRST, context_id NULLS FIRST, replicate",
)
class FirstToken:
    """A call that was sent once more as a stream, and when its first text came."""

    model: Name = column("model name in the config")
    task: Name = column("task")
    condition: Name = column("condition")
    item_id: Name = column("the item")
    context_id: Name | None = column("the context, NULL offline")
    puppet_id: Name | None = column("the puppet, NULL offline")
    replicate: int = column("repeat index")
    ledger_key: Name | None = column("key of the reply in `resources/ledger/{model}.sqlite`")
    first_token_s: float | None = column(
        "seconds from send to first text, NULL where it came in one piece or has none"
    )
    latency_s: float | None = column("seconds from send to last byte")
    input_tokens: int | None = column("tokens of the prompt, as billed")
    cached_tokens: int | None = column("of these, read from the provider's prefix cache")
    output_tokens: int | None = column("tokens of the answer, as billed")
    cost_usd: float | None = column("price of the call, of which `cost.csv` has the sum")
    started_at: datetime | None = column("UTC time of the send")
