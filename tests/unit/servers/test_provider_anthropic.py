"""Messages, models and batches of the loopback server, through Anthropic's SDK."""

import json
from typing import Any

import anthropic
import pytest
from provider_clients import KEY, LONG, QUICK_S

from servers.faults import anthropic_error
from servers.provider import Chat, Fault, ModelSpec, Quota, rerouted

MODEL = "claude-pro"
OLD = "2023-06-01"
MARK = {"type": "ephemeral"}
QUESTION: dict[str, Any] = {"role": "user", "content": "Why?"}


@pytest.fixture
def claude(server: Chat) -> anthropic.Anthropic:
    specs = (
        ModelSpec(MODEL, family="claude", reasoning=5, shutdown_date="2099-01-01"),
        ModelSpec("claude-dated-20260101", family="claude"),
        ModelSpec("claude-new", refuses=frozenset({"temperature"})),
        ModelSpec("claude-tight", quota=Quota(requests_per_minute=2)),
    )
    server.specs.update({spec.id: spec for spec in specs})
    server.bill.prices = {MODEL: {"input": 1.0, "output": 5.0}}
    return client(server)


def client(server: Chat, version: str = OLD, key: str = KEY) -> anthropic.Anthropic:
    headers = {"anthropic-version": version}
    return anthropic.Anthropic(
        api_key=key, base_url=server.anthropic_url, max_retries=0, default_headers=headers
    )


def ask(claude: anthropic.Anthropic, **changes: Any) -> Any:
    body: dict[str, Any] = {"model": MODEL, "max_tokens": 64, "messages": [QUESTION], **changes}
    return claude.messages.create(**body)


def context(text: str = LONG, **more: Any) -> dict[str, Any]:
    block = {"type": "text", "text": text, "cache_control": MARK, **more}
    return {"role": "user", "content": [block]}


def test_an_answer_says_its_tokens_and_its_model(claude: anthropic.Anthropic) -> None:
    first, second = (ask(claude, system="Be brief.") for _ in range(2))
    assert [block.type for block in first.content] == ["thinking", "text"]
    assert first.content[1].text != second.content[1].text
    assert (first.model, first.stop_reason) == (MODEL, "end_turn")
    # 9 bytes of system text are 3 tokens, and four bytes of the question one
    assert first.usage.input_tokens == 4 + 3 + 4 + 1
    assert first.usage.output_tokens_details.thinking_tokens == 5


def test_a_context_is_cached_up_to_its_breakpoint(
    server: Chat, claude: anthropic.Anthropic
) -> None:
    usages = [ask(claude, messages=[context(), QUESTION]).usage for _ in range(2)]
    read = [usage.cache_read_input_tokens for usage in usages]
    written = [usage.cache_creation_input_tokens for usage in usages]
    assert (read, written) == ([0, 4004], [4004, 0])
    assert [usage.input_tokens for usage in usages] == [5, 5]
    line = server.bill.lines[MODEL, "live"]
    usd = 2 * 5 * 1.0 + 4004 * 1.25 + 4004 * 0.1 + line.output * 5.0
    assert line.usd == pytest.approx(usd / 1e6)
    server.clock.skip(301)
    assert ask(claude, messages=[context(), QUESTION]).usage.cache_read_input_tokens == 0


def test_what_has_no_breakpoint_or_is_too_short_is_not_cached(claude: anthropic.Anthropic) -> None:
    plain = [{"role": "user", "content": LONG}, QUESTION]
    for messages in (plain, [context("short"), QUESTION]):
        for _ in range(2):
            usage = ask(claude, messages=messages).usage
            assert (usage.cache_read_input_tokens, usage.cache_creation_input_tokens) == (0, 0)


REFUSALS: list[tuple[dict[str, Any], str]] = [
    ({"max_tokens": 0}, "max_tokens"),
    ({"messages": []}, "at least one message"),
    ({"messages": [{"role": "assistant", "content": "Hi"}, QUESTION]}, 'must use the "user" role'),
    ({"messages": [QUESTION, {"role": "assistant", "content": "Hi"}]}, "prefill"),
    ({"messages": [{"role": "system", "content": "Hi"}, QUESTION]}, "Unexpected role"),
    ({"messages": [{"role": "user", "content": " "}, QUESTION]}, "non-whitespace"),
    ({"messages": [{**QUESTION, "name": "x"}]}, "a role and a content"),
    ({"messages": [context(cache_control={"type": "eternal"})]}, "cache_control"),
    ({"messages": [context()] * 5}, "A maximum of 4 blocks"),
    ({"system": ""}, "non-whitespace"),
    ({"extra_body": {"seed": 1}}, "seed: Extra inputs"),
    ({"extra_body": {"temperature": 1.5}}, "temperature: range"),
    ({"model": "claude-new", "extra_body": {"temperature": 1.0}}, "deprecated for this model"),
    ({"thinking": {"type": "enabled", "budget_tokens": 10}}, "1024"),
    ({"thinking": {"type": "enabled", "budget_tokens": 2048}}, "must be greater than"),
    ({"thinking": {"type": "often"}}, "thinking"),
    ({"output_config": {"effort": "none"}}, "effort"),
]


@pytest.mark.parametrize(("changes", "told"), REFUSALS, ids=[told for _, told in REFUSALS])
def test_what_the_interface_refuses(
    claude: anthropic.Anthropic, changes: dict[str, Any], told: str
) -> None:
    with pytest.raises(anthropic.BadRequestError, match=told) as caught:
        ask(claude, **changes)
    assert caught.value.type == "invalid_request_error"


def test_versions_and_keys(server: Chat, claude: anthropic.Anthropic) -> None:
    temperature = {"temperature": 1.0}
    assert ask(claude, extra_body=temperature).stop_reason == "end_turn"
    with pytest.raises(anthropic.BadRequestError, match="temperature: Extra inputs"):
        ask(client(server, "2026-10-21"), extra_body=temperature)
    with pytest.raises(anthropic.BadRequestError, match="is not a valid version"):
        ask(client(server, "2024-01-01"))
    with pytest.raises(anthropic.BadRequestError, match="header is required"):
        ask(claude, extra_headers={"anthropic-version": anthropic.Omit()})
    server.api_key = KEY
    with pytest.raises(anthropic.AuthenticationError):
        ask(client(server, key="another"))
    assert ask(claude).stop_reason == "end_turn"


def test_limits_are_told_and_kept(claude: anthropic.Anthropic) -> None:
    raw = claude.messages.with_raw_response.create(
        model="claude-tight", max_tokens=8, messages=[QUESTION]
    )
    assert raw.headers["anthropic-ratelimit-requests-limit"] == "2"
    assert raw.headers["anthropic-ratelimit-requests-remaining"] == "1"
    assert raw.headers["anthropic-ratelimit-requests-reset"].endswith("Z")
    ask(claude, model="claude-tight")
    with pytest.raises(anthropic.RateLimitError) as caught:
        ask(claude, model="claude-tight")
    assert 25 <= int(caught.value.response.headers["retry-after"]) <= 30


def test_errors_and_other_models(server: Chat, claude: anthropic.Anthropic) -> None:
    busy = anthropic_error("Overloaded", "overloaded_error")
    server.faults += [Fault(status=529, body=busy), rerouted("claude-other")]
    with pytest.raises(anthropic.OverloadedError):
        ask(claude)
    assert ask(claude).model == "claude-other"
    with pytest.raises(anthropic.NotFoundError):
        ask(claude, model="nobody")
    server.credit_usd = 0.0
    with pytest.raises(anthropic.BadRequestError, match="credit balance is too low"):
        ask(claude)


def test_models_come_in_pages(server: Chat, claude: anthropic.Anthropic) -> None:
    found = list(claude.models.list(limit=2))
    assert [model.id for model in found] == list(server.specs)
    assert str(claude.models.retrieve(MODEL).retires_at)[:10] == "2099-01-01"
    assert claude.models.retrieve("claude-dated").id == "claude-dated-20260101"
    with pytest.raises(anthropic.NotFoundError):
        claude.models.retrieve("nobody")


def params(**changes: Any) -> Any:
    return {"model": MODEL, "max_tokens": 8, "messages": [QUESTION], **changes}


def test_a_batch_goes_its_way(server: Chat, claude: anthropic.Anthropic) -> None:
    requests: Any = [
        {"custom_id": "sound", "params": params()},
        {"custom_id": "wrong", "params": params(max_tokens=0)},
    ]
    made = claude.messages.batches.create(requests=requests)
    assert (made.processing_status, made.request_counts.processing) == ("in_progress", 2)
    with pytest.raises(anthropic.AnthropicError, match="Has it finished"):
        claude.messages.batches.results(made.id)
    server.clock.skip(QUICK_S)
    ended = claude.messages.batches.retrieve(made.id)
    assert ended.processing_status == "ended"
    counts = ended.request_counts
    assert (counts.succeeded, counts.errored, counts.processing) == (1, 1, 0)
    results = {row.custom_id: row.result for row in claude.messages.batches.results(made.id)}
    assert results["sound"].type == "succeeded"
    assert results["sound"].message.usage.service_tier == "batch"
    assert results["wrong"].type == "errored"
    assert results["wrong"].error.error.type == "invalid_request_error"
    assert [batch.id for batch in claude.messages.batches.list(limit=1)] == [made.id]
    claude.messages.batches.delete(made.id)
    with pytest.raises(anthropic.NotFoundError):
        claude.messages.batches.retrieve(made.id)


def test_a_batch_is_canceled(server: Chat, claude: anthropic.Anthropic) -> None:
    requests: Any = [{"custom_id": f"r{n}", "params": params()} for n in range(4)]
    made = claude.messages.batches.create(requests=requests)
    server.clock.skip(6.0)
    assert claude.messages.batches.cancel(made.id).processing_status == "canceling"
    server.clock.skip(QUICK_S)
    counts = claude.messages.batches.retrieve(made.id).request_counts
    assert (counts.succeeded, counts.canceled) == (2, 2)


WRONG_BATCHES: list[tuple[list[Any], str]] = [
    ([], "requests"),
    ([{"custom_id": "a b", "params": params()}], "match the pattern"),
    ([{"custom_id": "a" * 65, "params": params()}], "match the pattern"),
    ([{"custom_id": "a", "params": params()}] * 2, "is not unique"),
    ([{"custom_id": "a"}], "are required"),
]


@pytest.mark.parametrize(("requests", "told"), WRONG_BATCHES)
def test_batches_that_are_refused(
    claude: anthropic.Anthropic, requests: list[Any], told: str
) -> None:
    with pytest.raises(anthropic.BadRequestError, match=told):
        claude.messages.batches.create(requests=requests)


def test_a_batch_that_is_too_large_is_refused(server: Chat, claude: anthropic.Anthropic) -> None:
    server.batch.max_bytes = len(json.dumps(params()))
    with pytest.raises(anthropic.APIStatusError) as caught:
        claude.messages.batches.create(requests=[{"custom_id": "a", "params": params()}])
    assert caught.value.status_code == 413
