"""Messages of the loopback server, through Anthropic's SDK."""

from typing import Any

import anthropic
import pytest
from provider_clients import KEY, LONG

from servers.provider import Chat, ModelSpec

MODEL = "claude-pro"
OLD = "2023-06-01"
MARK = {"type": "ephemeral"}
QUESTION: dict[str, Any] = {"role": "user", "content": "Why?"}


@pytest.fixture
def claude(server: Chat) -> anthropic.Anthropic:
    specs = (
        ModelSpec(MODEL, family="claude", reasoning=5),
        ModelSpec("claude-new", refuses=frozenset({"temperature"})),
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


REFUSALS: list[tuple[dict[str, Any], str]] = [
    ({"max_tokens": 0}, "max_tokens"),
    ({"messages": [{"role": "assistant", "content": "Hi"}, QUESTION]}, 'must use the "user" role'),
    ({"messages": [QUESTION, {"role": "assistant", "content": "Hi"}]}, "prefill"),
    ({"messages": [{"role": "system", "content": "Hi"}, QUESTION]}, "Unexpected role"),
    ({"messages": [{"role": "user", "content": " "}, QUESTION]}, "non-whitespace"),
    ({"messages": [context(cache_control={"type": "eternal"})]}, "cache_control"),
    ({"extra_body": {"seed": 1}}, "seed: Extra inputs"),
    ({"extra_body": {"temperature": 1.5}}, "temperature: range"),
    ({"model": "claude-new", "extra_body": {"temperature": 1.0}}, "deprecated for this model"),
    ({"thinking": {"type": "enabled", "budget_tokens": 2048}}, "must be greater than"),
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
