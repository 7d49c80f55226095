"""A good answer is kept whatever stands beside it, and its row says what is missing."""

import json
from collections.abc import Mapping
from typing import Any

import pytest
from provider_cases import make_openai

from fieldwork.generation.pricing import Price, cost_usd, price_of
from fieldwork.generation.providers.base import Provider, Reply, TransientError, Usage
from fieldwork.generation.providers.batch_gemini import GeminiBatches
from fieldwork.generation.providers.batch_openai import OpenAIBatches
from fieldwork.generation.providers.gemini import Gemini, GeminiSettings

GEMINI = GeminiSettings(model="gemini-x", base_url="http://127.0.0.1:9")
USAGE: dict[str, Mapping[str, Any]] = {
    "openai": {"prompt_tokens": 9, "completion_tokens": 3},
    "gemini": {"promptTokenCount": 9, "candidatesTokenCount": 3},
}


def provider(api: str) -> Provider:
    return make_openai() if api == "openai" else Gemini(GEMINI)


def body(api: str, *, text: str = "The answer is B.", **fields: Any) -> bytes:
    """A sound reply, but for `usage` and `model`."""
    usage, model = fields.get("usage", USAGE[api]), fields.get("model", "gpt-test")
    if api == "openai":
        choice = {"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
        return json.dumps({"choices": [choice], "usage": usage, "model": model}).encode()
    candidate = {"content": {"parts": [{"text": text}]}, "finishReason": "STOP"}
    reply = {"candidates": [candidate], "usageMetadata": usage, "modelVersion": model}
    return json.dumps(reply).encode()


def short_line(api: str, raw: bytes) -> bytes:
    """A reply as a line of a batch's results."""
    if api == "openai":
        return b'{"custom_id":"a","response":{"status_code":200,"body":' + raw + b"}}"
    return b'{"key":"a","response":' + raw + b"}"


def by_batch(api: str, raw: bytes) -> Reply:
    """The reply as a batch's row brings it."""
    client = OpenAIBatches(make_openai().settings) if api == "openai" else GeminiBatches(GEMINI)
    row = client.row(short_line(api, raw))
    client.close()
    return provider(api).read(row.raw)


APIS = pytest.mark.parametrize("api", ["openai", "gemini"])
READERS = pytest.mark.parametrize("read", [lambda api, raw: provider(api).read(raw), by_batch])


CONTRADICTIONS = {
    "reasoning beside the answer, in the total": (
        {
            "prompt_tokens": 100,
            "completion_tokens": 5,
            "total_tokens": 405,
            "completion_tokens_details": {"reasoning_tokens": 300},
        },
        (100, 305),
    ),
    "reasoning beside the answer": (
        {
            "prompt_tokens": 100,
            "completion_tokens": 5,
            "completion_tokens_details": {"reasoning_tokens": 300},
        },
        (100, 305),
    ),
    "cached beside the prompt": (
        {
            "prompt_tokens": 10,
            "completion_tokens": 5,
            "prompt_tokens_details": {"cached_tokens": 90},
        },
        (100, 5),
    ),
    "more in all": (
        {"prompt_tokens": 100, "completion_tokens": 5, "total_tokens": 400},
        (100, 300),
    ),
    "less in all": ({"prompt_tokens": 100, "completion_tokens": 5, "total_tokens": 50}, (100, 5)),
}


@pytest.mark.parametrize("name", CONTRADICTIONS)
def test_of_tokens_that_contradict_each_other_the_dearer_count(name: str) -> None:
    usage, (n_input, n_output) = CONTRADICTIONS[name]
    reply = make_openai().read(body("openai", usage=usage))
    assert (reply.usage.input, reply.usage.output) == (n_input, n_output)
    assert reply.defects == ("tokens",)


def test_the_total_of_gemini_counts_too() -> None:
    usage = {"promptTokenCount": 9, "candidatesTokenCount": 3, "totalTokenCount": 40}
    reply = Gemini(GEMINI).read(body("gemini", usage=usage))
    assert (reply.usage.input, reply.usage.output, reply.defects) == (9, 31, ("tokens",))


@pytest.mark.parametrize("usage", [(0, 0), (9, 0), (0, 3)])
@APIS
def test_a_text_without_tokens_has_an_unknown_cost(api: str, usage: tuple[int, int]) -> None:
    counts = dict(zip(USAGE[api], usage, strict=True))
    reply = provider(api).read(body(api, usage=counts))
    assert (reply.usage, reply.defects) == (Usage(), ("usage",))


@APIS
@READERS
def test_a_sound_reply_has_no_defect(api: str, read: Any) -> None:
    assert read(api, body(api)).defects == ()


@APIS
@READERS
@pytest.mark.parametrize("wrong", [b"\xe9", b"\xff\xfe", b"\xed\xa0\xbd", b"\xf0\x9f\x98"])
def test_bytes_that_are_no_utf8_cost_no_answer(api: str, read: Any, wrong: bytes) -> None:
    raw = body(api, text="caf@ is B and \ud83d").replace(b"@", wrong)
    reply = read(api, raw)
    assert reply.outcome == "ok"
    assert reply.text.startswith("caf\ufffd")
    assert reply.text.endswith(" is B and \ufffd")
    assert reply.defects == ("encoding",)
    assert reply.usage[0] == 9


@APIS
def test_a_batch_keeps_such_bytes_as_they_came(api: str) -> None:
    raw = body(api, text="caf@").replace(b"@", b"\xe9")
    client = OpenAIBatches(make_openai().settings)
    row = (client if api == "openai" else GeminiBatches(GEMINI)).row(short_line(api, raw))
    assert b"caf\xe9" in row.raw


@APIS
def test_a_bare_control_character_costs_no_answer(api: str) -> None:
    reply = provider(api).read(body(api, text="a@b").replace(b"@", b"\x00\n"))
    assert (reply.text, reply.outcome, reply.defects) == ("a\0\nb", "ok", ("encoding",))


ODD_USAGE: list[Any] = [
    None,
    [],
    [1],
    "nine",
    7,
    True,
    {},
    {"prompt_tokens": "many", "promptTokenCount": "many"},
    {"prompt_tokens": [9], "promptTokenCount": {"n": 9}},
    {"prompt_tokens": -1, "completion_tokens": 3, "promptTokenCount": -1},
    {"prompt_tokens": 10**30, "completion_tokens": 3, "promptTokenCount": 10**30},
]


@APIS
@READERS
@pytest.mark.parametrize("usage", ODD_USAGE, ids=str)
def test_a_usage_of_an_odd_type_costs_no_answer(api: str, read: Any, usage: Any) -> None:
    reply = read(api, body(api, usage=usage))
    assert (reply.text, reply.outcome) == ("The answer is B.", "ok")
    assert reply.defects == ("usage",)
    assert cost_usd(reply.usage, dear(), "live") is None


def dear() -> Price:
    entry = {"input": 1.0, "output": 2.0, "as_of": "2026-11-01", "source": "the test"}
    price = price_of({"m": entry}, "m")
    assert price is not None
    return price


def test_odd_details_leave_the_tokens_that_are_told() -> None:
    usage = {**USAGE["openai"], "prompt_tokens_details": [64]}
    reply = make_openai().read(body("openai", usage=usage))
    assert reply.usage == Usage(input=9, output=3)
    assert reply.defects == ("tokens",)


@APIS
@READERS
@pytest.mark.parametrize("model", [None, "", 7, ["gpt"]])
def test_a_reply_that_names_no_model_says_so(api: str, read: Any, model: Any) -> None:
    reply = read(api, body(api, model=model))
    assert (reply.returned_model, reply.outcome) == (None, "ok")
    assert reply.defects == ("model",)


@APIS
def test_defects_add_up(api: str) -> None:
    raw = body(api, text="caf@", usage=[], model="").replace(b"@", b"\xe9")
    assert provider(api).read(raw).defects == ("encoding", "usage", "model")


def test_feedback_of_an_odd_type_costs_no_answer() -> None:
    raw = json.loads(body("gemini")) | {"promptFeedback": "fine"}
    assert provider("gemini").read(json.dumps(raw).encode()).outcome == "ok"


@pytest.mark.parametrize("raw", [b"[1, 2]", b"null", b"5", b'{"choices": 5}', b'{"choices": [5]}'])
@APIS
def test_a_reply_of_another_shape_is_told_by_what_came(api: str, raw: bytes) -> None:
    with pytest.raises(TransientError) as caught:
        provider(api).read(raw)
    assert str(caught.value).endswith(f": {raw.decode()}")
