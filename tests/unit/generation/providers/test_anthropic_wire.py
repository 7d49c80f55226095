"""Messages as sent: our bytes say what the official SDK's say, and breakpoints change nothing else."""

import json
from collections.abc import Sequence
from typing import Any

import anthropic
import pytest
from provider_cases import CONTEXTS, KEY, Recorder, Said, make_anthropic, models_of, send, wire_of

from fieldwork.errors import StudyError
from fieldwork.generation.providers.anthropic import FIRST_TURN, LAST_VERSION_WITH_TEMPERATURE
from fieldwork.generation.providers.base import ModelInfo, TransientError
from fieldwork.records.puppets import Message

MODEL = "claude-x"
VERSION = "2026-10-21"
ANSWER = Said({"content": [], "model": MODEL, "usage": {"input_tokens": 1, "output_tokens": 1}})
MARK = {"type": "ephemeral"}


def sdk(recorder: Recorder, version: str = LAST_VERSION_WITH_TEMPERATURE) -> anthropic.Anthropic:
    headers = {"anthropic-version": version}
    place = {"base_url": recorder.url, "max_retries": 0}
    return anthropic.Anthropic(api_key=KEY, default_headers=headers, **place)  # type: ignore[arg-type]


def expected(context: Sequence[Message]) -> dict[str, Any]:
    """What a context is to the SDK: its system text, and its turns with the question after them."""
    messages = [m for m in context if m.content.strip()]
    system = "\n\n".join(m.content for m in messages if m.role == "system")
    turns = [{"role": m.role, "content": m.content} for m in messages if m.role != "system"]
    if turns and turns[0]["role"] == "assistant":
        turns.insert(0, {"role": "user", "content": FIRST_TURN})
    turns.append({"role": "user", "content": "Which one?"})
    return {"messages": turns, **({"system": system} if system else {})}


def assert_equal_calls(
    recorder: Recorder, context: Sequence[Message], theirs: dict[str, Any], **changes: Any
) -> None:
    """Ours, and the SDK's with `theirs`."""
    recorder.replies = [ANSWER]
    client = sdk(recorder, changes.get("api_version", LAST_VERSION_WITH_TEMPERATURE))
    client.messages.create(model=MODEL, max_tokens=16, **theirs)
    provider = make_anthropic(recorder.url, **changes)
    send(provider, wire_of(provider, context, context_id="c"))
    first, second = recorder.calls
    assert first.body == second.body
    assert (first.method, first.path) == (second.method, second.path) == ("POST", "/v1/messages")
    for header in ("anthropic-version", "content-type"):
        assert first.headers[header] == second.headers[header]
    # the interface takes both
    assert first.headers["authorization"] == f"Bearer {KEY}"
    assert second.headers["x-api-key"] == KEY


# from its version 2 on the SDK has no argument for what the newest interface refuses
USUAL: dict[str, Any] = {"extra_body": {"temperature": 1.0}}
COOL = {"send_temperature": False}
BETWEEN, BUDGET = {"type": "between_tools"}, {"type": "enabled", "budget_tokens": 1024}
OPTIONS: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({}, USUAL),
    ({**COOL, "api_version": VERSION}, {}),
    ({**COOL, "thinking": "adaptive"}, {"thinking": {"type": "adaptive"}}),
    (
        {**COOL, "thinking": "between_tools", "effort": "low"},
        {"thinking": BETWEEN, "output_config": {"effort": "low"}},
    ),
    ({**COOL, "thinking": 1024}, {"thinking": BUDGET}),
]
STARTS_WITH_ANSWER = [Message("assistant", "Hello, I am here."), Message("user", "Hi")]
ALL_CONTEXTS = {**CONTEXTS, "starts with an answer": STARTS_WITH_ANSWER}
CALLS = [(CONTEXTS["history"], *options) for options in OPTIONS]
CALLS += [(context, *OPTIONS[0]) for context in ALL_CONTEXTS.values()]


@pytest.mark.parametrize(("context", "changes", "options"), CALLS)
def test_the_call_is_the_one_the_official_sdk_makes(
    recorder: Recorder, changes: dict[str, Any], options: dict[str, Any], context: list[Message]
) -> None:
    assert_equal_calls(recorder, context, {**expected(context), **options}, **changes)


@pytest.mark.parametrize("context", ALL_CONTEXTS.values(), ids=ALL_CONTEXTS)
def test_a_breakpoint_ends_the_context_and_changes_nothing_else(
    recorder: Recorder, context: list[Message]
) -> None:
    marked = expected(context)
    if len(marked["messages"]) > 1:
        last = marked["messages"][-2]
        last["content"] = [{"type": "text", "text": last["content"], "cache_control": MARK}]
    elif "system" in marked:
        marked["system"] = [{"type": "text", "text": marked["system"], "cache_control": MARK}]
    assert_equal_calls(recorder, context, {**marked, **USUAL}, cache_breakpoint=True)


def test_breakpoints_are_no_part_of_the_key() -> None:
    plain, marked = make_anthropic(), make_anthropic(cache_breakpoint=True)
    assert plain.endpoint == marked.endpoint
    for context in CONTEXTS.values():
        wires = [wire_of(provider, context, context_id="c") for provider in (plain, marked)]
        assert wires[0] == wires[1]
        assert json.loads(plain.wire(wires[0].body())) == json.loads(wires[0].body())


def test_the_version_is_part_of_the_endpoint_and_no_part_of_the_address(
    recorder: Recorder,
) -> None:
    old, new = make_anthropic(), make_anthropic(send_temperature=False, api_version=VERSION)
    assert old.endpoint == "http://127.0.0.1:9/v1/messages#2023-06-01"
    assert new.endpoint != old.endpoint
    recorder.replies = [ANSWER]
    send(make_anthropic(f"{recorder.url}/"))
    assert recorder.calls[0].path == "/v1/messages"


def test_a_version_without_temperatures_is_refused_with_a_way_out() -> None:
    with pytest.raises(StudyError, match=r"send_temperature to false, or api_version to 2023"):
        make_anthropic(api_version=VERSION)


# --- models


def listed(*names: str, more: bool = False, **entry: Any) -> Said:
    models = [{"id": name, **entry} for name in names]
    return Said({"data": models, "has_more": more, "last_id": names[-1] if names else None})


def test_the_list_of_models_is_read_page_by_page_as_the_sdk_reads_it(recorder: Recorder) -> None:
    recorder.replies = [listed("claude-a", more=True), listed("claude-x")] * 2
    theirs = [model.id for model in sdk(recorder).models.list(limit=1000)]
    ours = models_of(make_anthropic(recorder.url))
    assert ours == [ModelInfo("claude-a"), ModelInfo("claude-x")]
    assert theirs == [model.id for model in ours]
    paths = [call.path for call in recorder.calls]
    assert paths[:2] == paths[2:]


def test_a_name_that_is_not_in_the_list_is_looked_up(recorder: Recorder) -> None:
    dated = Said({"id": "claude-x-20260101", "retires_at": "2099-01-01T00:00:00Z"})
    recorder.replies = [listed("claude-x-20260101"), dated]
    found = models_of(make_anthropic(recorder.url)) or []
    assert [model.id for model in found] == ["claude-x-20260101", "claude-x"]
    assert str(found[1].shutdown) == "2099-01-01"
    # unknown, or a server that looks up no name
    for status in (404, 405):
        recorder.replies = [listed("claude-a"), Said({"error": {}}, status)]
        assert models_of(make_anthropic(recorder.url)) == [ModelInfo("claude-a")]
    # what cannot be looked up now is not taken for unknown
    recorder.replies = [listed("claude-x-20260101"), Said({"error": {}}, 529)]
    with pytest.raises(TransientError):
        models_of(make_anthropic(recorder.url))


@pytest.mark.parametrize(
    ("retires_at", "shutdown"),
    [("2099-01-01T00:00:00Z", "2099-01-01"), ("2020-01-01T00:00:00Z", "None")],
)
def test_a_day_of_retirement_counts_until_it_is_over(
    recorder: Recorder, retires_at: str, shutdown: str
) -> None:
    recorder.replies = [listed("claude-x", retires_at=retires_at)]
    (model,) = models_of(make_anthropic(recorder.url)) or []
    assert str(model.shutdown) == shutdown
