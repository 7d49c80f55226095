"""Every row that passes between two stages: one frozen dataclass a table, one line a column.

The dataclasses are the only declaration of the tables. `fieldwork.tables` derives the Parquet schema
from them and checks each table against it on write; `docs/data.md` is generated from the same lines.
"""

from dataclasses import MISSING, dataclass, field
from datetime import datetime
from typing import Any, Literal

ItemKind = Literal["list", "choice"]
Outcome = Literal["ok", "truncated", "refused", "filtered", "empty", "failed"]

Defect = Literal["encoding", "usage", "model", "secret"]

OUTCOMES: tuple[Outcome, ...] = ("ok", "truncated", "refused", "filtered", "empty", "failed")

REFUSALS = frozenset({"refused", "filtered by the provider"})
"""Reasons for which an answer has nothing to count in it although it is one."""
MOST_REQUESTS = 50_000_000
"""Of a study: at ten a second they take two months, and a table of them fits no usual machine."""

UNKNOWN = "unknown"
"""The answer category of a response whose letter cannot be read."""


def column(meaning: str, default: Any = MISSING) -> Any:
    """Declare a column: `meaning` is its entry in the data dictionary."""
    return field(default=default, metadata={"meaning": meaning})


@dataclass(frozen=True, slots=True)
class Message:
    """One chat message."""

    role: str = column("`system`, `user` or `assistant`")
    content: str = column("the text, unchanged")


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation that passed the filters: `corpus/{corpus}/conversations.parquet`."""

    conversation_id: str = column("unique in the corpus; stable when other rows are added")
    user_id: str = column("hash that groups the conversations of one user")
    started_at: datetime | None = column("UTC time of the conversation, NULL where unknown")
    language: str | None = column("language as the corpus labels it")
    model: str | None = column("model that answered, NULL where the corpus has none")
    n_user_turns: int = column("messages with role `user`")
    n_tokens: int = column("estimated tokens of all messages (docs/methods.md)")
    messages: list[Message] = column("the conversation in order")


@dataclass(frozen=True, slots=True)
class FunnelStep:
    """What one filter let through: `corpus/{corpus}/funnel.csv`."""

    step: int = column("order of the filter, from 0 (rows read)")
    filter: str = column("name of the setting")
    setting: str = column("its value")
    rows_in: int = column("conversations before the filter")
    rows_out: int = column("conversations after the filter")
    users_out: int = column("distinct users after the filter")


@dataclass(frozen=True, slots=True)
class ConversationText:
    """What of a conversation is embedded: `embeddings/{corpus}/texts/{shard}.parquet`."""

    conversation_id: str = column("the conversation")
    text: str = column("the text, by the setting `embedding.text`")


@dataclass(frozen=True, slots=True)
class ConversationVector:
    """The embedding of a conversation: `embeddings/{corpus}/shards/{shard}.parquet`."""

    conversation_id: str = column("the conversation")
    text_sha256: str = column("hash of the text that was embedded")
    vector: bytes = column("unit vector, little-endian float32: `numpy.frombuffer(vector, '<f4')`")


@dataclass(frozen=True, slots=True)
class Profile:
    """A profile puppet: `personas/profiles.parquet`."""

    puppet_id: str = column("`profile-000000` and on")
    persona: str = column("persona description")
    sentences: list[str] = column("profile sentences, none twice within a profile")
    text: str = column("the rendered template: what the model is told")


@dataclass(frozen=True, slots=True)
class Item:
    """A question: `tasks/{task}.parquet`."""

    item_id: str = column("unique within the task")
    kind: ItemKind = column("`list` (name some options) or `choice` (pick a letter)")
    question: str = column("the bare question: what retrieval searches with")
    prompt: str = column("the whole final user message, shots and instruction included")
    choices: list[str] = column("choice: option texts in letter order; list: candidate answers")
    gold: str | None = column("letter of the correct choice, NULL where there is none")
    subject: str | None = column("MMLU subject, ETHICS subset or recommendation domain")
    provenance: str = column("data set, file and row the item comes from")
    list_length: int | None = column(
        "list: options asked for, as the source says; NULL: the prompt's own number", default=None
    )


@dataclass(frozen=True, slots=True)
class Context:
    """What a puppet brings along: `contexts/{task}/{condition}.parquet`."""

    context_id: str = column("sha256 of the messages: equal contexts have equal ids")
    puppet_id: str = column("the puppet")
    item_id: str | None = column("the item it was made for, NULL where one serves all items")
    conversation_ids: list[str] = column("conversations used, in the order of the messages")
    messages: list[Message] = column("what is prepended to the question")
    n_tokens: int = column("estimated tokens of the messages")
    n_dropped: int = column("whole conversations left out to keep within the token budget")


@dataclass(frozen=True, slots=True)
class Request:
    """A question to be asked: `requests/{task}/{condition}.parquet`."""

    item_id: str = column("the item")
    context_id: str | None = column("the context, NULL offline")
    puppet_id: str | None = column("the puppet, NULL offline")
    replicate: int = column("repeat index of the same item and context, from 0")


@dataclass(frozen=True, slots=True)
class Response:
    """An answer as it arrived: `responses/{model}/{task}/{condition}.parquet`."""

    model: str = column("model name in the config")
    task: str = column("task")
    condition: str = column("condition")
    item_id: str = column("the item")
    context_id: str | None = column("the context, NULL offline")
    puppet_id: str | None = column("the puppet, NULL offline")
    replicate: int = column("repeat index")
    ledger_key: str = column("key of the raw reply in `resources/ledger/{model}.sqlite`")
    text: str | None = column("the answer's text, NULL where there was none")
    outcome: Outcome = column("ok, truncated, refused, filtered, empty or failed")
    finish_reason: str | None = column("as the provider said it")
    returned_model: str | None = column("model the provider says answered")
    fingerprint: str | None = column("system fingerprint or model version")
    input_tokens: int | None = column("tokens of the prompt, as billed")
    cached_tokens: int | None = column("of these, read from the provider's prefix cache")
    cache_write_tokens: int | None = column("of these, written to the cache")
    output_tokens: int | None = column("tokens of the answer, as billed")
    reasoning_tokens: int | None = column("of these, hidden reasoning")
    cost_usd: float | None = column("price of the call, NULL without a price or without its tokens")
    latency_s: float | None = column("seconds from send to last byte, NULL for embedded")
    attempts: int = column("sends it took")
    started_at: datetime | None = column("UTC time of the send, NULL for embedded")
    dispatch: str = column("how it was sent, `live`, `flex` or `batch`: decides the price")
    service_tier: str | None = column("tier as the provider names it, NULL where it does not")
    request_id: str | None = column("the provider's name for the call, NULL where it gives none")
    temperature_sent: bool = column("false where the model refuses a temperature and none was sent")
    price_as_of: str | None = column("day the price behind `cost_usd` was read, ISO date")
    defects: list[str] = column(
        "what is wrong with the reply beside its answer: `encoding` (bytes that are no text are shown "
        "as U+FFFD), `usage` (tokens and cost are not told), `model` (it names no model), `secret` (the "
        "server repeated a key or a password, which is masked)"
    )


@dataclass(frozen=True, slots=True)
class Answer:
    """A parsed answer: `answers/answers.parquet`."""

    model: str = column("model name in the config")
    task: str = column("task")
    condition: str = column("condition; `field` for real users")
    item_id: str = column("the item")
    puppet_id: str | None = column("the puppet or participant, NULL offline")
    replicate: int = column("repeat index")
    kind: ItemKind = column("kind of the item")
    outcome: Outcome = column("outcome of the response")
    raw_items: list[str] | None = column("list: options as written, NULL where none can be read")
    items: list[str] | None = column("list: canonical options, repeats removed, in order")
    letter_strict: str | None = column("choice: HELM's reading, NULL where it finds no letter")
    letter: str | None = column("choice: the flexible reading, NULL where it finds no letter")
    reason: str | None = column("why nothing could be read, NULL where something was")


@dataclass(frozen=True, slots=True)
class MergedItem:
    """How one written option became a canonical one: `answers/items.csv`."""

    task: str = column("task")
    item_id: str = column("the item")
    raw: str = column("option as written")
    canonical: str = column("name it is counted under")
    rule: str = column("`override`, `alias`, `exact` or `near`: what decided")
    n: int = column("times it was written so")


@dataclass(frozen=True, slots=True)
class Heterogeneity:
    """How varied the answers to a list item are: `metrics/heterogeneity`."""

    model: str = column("model")
    task: str = column("task")
    condition: str = column("condition")
    item_id: str = column("the item")
    metric: str = column("what is estimated (docs/methods.md)")
    estimate: float | None = column("value at `n_equal` responses, NULL with a reason")
    ci_low: float | None = column("lower end of the 95 % interval")
    ci_high: float | None = column("upper end of the 95 % interval")
    n_responses: int = column("responses that gave an option, one a puppet")
    n_equal: int = column("responses every condition is rarefied to, for this model and item")
    n_unread: int = column("responses left out because nothing could be read")
    unit: str = column("unit of resampling")
    reason: str | None = column("why there is no estimate")


@dataclass(frozen=True, slots=True)
class ItemShare:
    """Share of responses that name an option: `metrics/item_shares`."""

    model: str = column("model")
    task: str = column("task")
    condition: str = column("condition")
    item_id: str = column("the item")
    answer: str = column("canonical option")
    n_named: int = column("responses that name it")
    n_responses: int = column("responses that gave an option, one a puppet")
    share: float = column("n_named / n_responses")
    ci_low: float = column("lower end of the 95 % Wilson interval")
    ci_high: float = column("upper end of the 95 % Wilson interval")


@dataclass(frozen=True, slots=True)
class AnswerShare:
    """Distribution of letters on a choice item: `metrics/distributions`."""

    model: str = column("model")
    task: str = column("task")
    condition: str = column("condition")
    item_id: str = column("the item")
    answer: str = column("letter, or `unknown`")
    is_correct: bool = column("the letter is the gold one")
    n_answers: int = column("responses with this answer")
    n_responses: int = column("all responses to the item")
    share: float = column("n_answers / n_responses; each puppet alike if some answer more often")
    ci_low: float = column("lower end of the 95 % Wilson interval")
    ci_high: float = column("upper end of the 95 % Wilson interval")


@dataclass(frozen=True, slots=True)
class RunAccuracy:
    """Score of one run over a choice task: `metrics/accuracy_runs`."""

    model: str = column("model")
    task: str = column("task")
    condition: str = column("condition")
    run: int = column("run index, from 0")
    puppet_id: str | None = column("the puppet that was the user of the run, NULL offline")
    replicate: int = column("repeat index of the run")
    em_strict: float = column("macro mean over subjects of HELM's exact match")
    em_flexible: float = column("the same with the flexible letter")
    format_failure: float = column("share of answers in which HELM's reading finds no letter")
    n_items: int = column("items answered in the run")
    n_subjects: int = column("subjects averaged over")
    is_counted: bool = column(
        "complete, and the first such run of its puppet; each offline rerun; none of an arm of which "
        "no answer can be read"
    )


@dataclass(frozen=True, slots=True)
class Accuracy:
    """Spread of the scores over runs: `metrics/accuracy`."""

    model: str = column("model")
    task: str = column("task")
    condition: str = column("condition")
    metric: str = column("`em_strict`, `em_flexible` or `format_failure`")
    mean: float | None = column("mean over the counted runs, one a unit; NULL with a reason")
    minimum: float | None = column("lowest counted run")
    maximum: float | None = column("highest counted run")
    ci_low: float | None = column("lower end of the 95 % interval of the mean over units")
    ci_high: float | None = column("upper end of the 95 % interval of the mean over units")
    n_runs: int = column("counted runs")
    n_items: int = column("items in a run")
    unit: str = column("what one run is: `rerun` or `puppet`")
    reason: str | None = column("why there is no estimate, spread or interval")


@dataclass(frozen=True, slots=True)
class VarianceShare:
    """Where the variance of answers comes from: `metrics/variance`."""

    model: str = column("model")
    task: str = column("task")
    condition: str = column("condition")
    kind: ItemKind = column("kind of the items")
    share_who: float | None = column(
        "var_who / var_answers, the headline number; NULL with a reason"
    )
    ci_low: float | None = column("lower end of the 95 % interval over puppets")
    ci_high: float | None = column("upper end of the 95 % interval over puppets")
    p_value: float | None = column("chance of as large a share if it did not matter who asks")
    p_holm: float | None = column("`p_value` corrected over the conditions of the task (Holm)")
    var_prompt: float | None = column("variance between prompts, NULL where there is one")
    var_who: float | None = column("variance between puppets within a prompt; can fall below 0")
    var_rerun: float | None = column("variance between answers of one puppet to one prompt")
    var_answers: float | None = column("var_who + var_rerun: variance of answers to one prompt")
    over_baseline: float | None = column("1 - (var_rerun of the baseline) / var_answers")
    n_items: int = column("items with an answer")
    n_puppets: int = column("puppets with an answer")
    n_repeated: int = column("pairs of puppet and item with two answers or more")
    n_responses: int = column("answers")
    n_unread: int = column("answers that cannot be read: `unknown` for letters, left out for lists")
    unit: str = column("unit of resampling")
    reason: str | None = column("why there is no share, or no interval")


@dataclass(frozen=True, slots=True)
class Comparison:
    """How far a condition's answers to an item are from the baseline's: `metrics/comparisons`."""

    model: str = column("model")
    task: str = column("task")
    condition: str = column("condition")
    baseline: str = column("the condition compared with")
    item_id: str = column("the item")
    metric: str = column("`js_bits` (Jensen-Shannon divergence) or `total_variation`")
    distance: float | None = column(
        "between the shares of `n_equal` answers each, NULL with a reason"
    )
    expected_same: float | None = column("the same if both answered alike: chance alone")
    excess: float | None = column("distance - expected_same")
    p_value: float | None = column("permutation test that both answer alike")
    p_holm: float | None = column("`p_value` corrected over the items of the task (Holm)")
    n_permutations: int | None = column("random permutations, 0 where all were counted out")
    n_units: int = column("independent answers of the condition")
    n_units_baseline: int = column("independent answers of the baseline")
    n_equal: int = column("answers each condition is brought to, for this model and item")
    n_unread: int = column("answers that cannot be read: `unknown` for letters, left out for lists")
    n_unread_baseline: int = column("the same of the baseline")
    unit: str = column("what is permuted: `puppet` or `response`")
    reason: str | None = column("why there is no distance")
