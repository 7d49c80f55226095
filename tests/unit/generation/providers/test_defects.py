"""A good answer is kept whatever stands beside it, and its row says what is missing."""

import json
from collections.abc import Mapping
from typing import Any

import pytest
from provider_cases import make_gemini, make_openai

from fieldwork.generation.providers.base import Provider, Reply, TransientError, Usage
from fieldwork.generation.providers.batch_gemini import GeminiBatches
from fieldwork.generation.providers.batch_openai import OpenAIBatches

PROVIDERS: dict[str, Provider] = {"openai": make_openai(), "gemini": make_gemini()}
USAGE: dict[str, Mapping[str, Any]] = {
    "openai": {"prompt_tokens": 9, "completion_tokens": 3},
    "gemini": {"promptTokenCount": 9, "candidatesTokenCount": 3},
}
APIS = pytest.mark.parametrize("api", PROVIDERS)


def body(api: str, *, text: str = "The answer is B.", **fields: Any) -> bytes:
    """A sound reply, but for `usage` and `model`."""
    usage, model = fields.get("usage", USAGE[api]), fields.get("model", "gpt-test")
    if api == "openai":
        choice = {"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
        return json.dumps({"choices": [choice], "usage": usage, "model": model}).encode()
    candidate = {"content": {"parts": [{"text": text}]}, "finishReason": "STOP"}
    reply = {"candidates": [candidate], "usageMetadata": usage, "modelVersion": model}
    return json.dumps(reply).encode()


def by_batch(api: str, raw: bytes) -> tuple[bytes, Reply]:
    """A reply as a row of a batch's results brings it: its bytes, and what they say."""
    if api == "openai":
        line = b'{"custom_id":"a","response":{"status_code":200,"body":' + raw + b"}}"
        row = OpenAIBatches(make_openai().settings).row(line)
    else:
        row = GeminiBatches(make_gemini().settings).row(b'{"key":"a","response":' + raw + b"}")
    return row.raw, PROVIDERS[api].read(row.raw)


@pytest.mark.parametrize(
    ("prompt", "answer", "further", "expected"),
    [
        # reasoning beside the answer, where OpenAI counts it as part of it
        (100, 5, {"completion_tokens_details": {"reasoning_tokens": 300}}, (100, 305)),
        # cached tokens beside the prompt
        (10, 5, {"prompt_tokens_details": {"cached_tokens": 90}}, (100, 5)),
        (100, 5, {"total_tokens": 400}, (100, 300)),
        (100, 5, {"total_tokens": 50}, (100, 5)),
        (100, 5, {"prompt_tokens_details": [64]}, (100, 5)),
    ],
)
def test_of_tokens_that_contradict_each_other_the_dearer_count(
    prompt: int, answer: int, further: dict[str, Any], expected: tuple[int, int]
) -> None:
    usage = {"prompt_tokens": prompt, "completion_tokens": answer, **further}
    reply = PROVIDERS["openai"].read(body("openai", usage=usage))
    assert (reply.usage.input, reply.usage.output) == expected
    assert reply.defects == ("tokens",)
    googles = body("gemini", usage={**USAGE["gemini"], "totalTokenCount": 40})
    reply = PROVIDERS["gemini"].read(googles)
    assert (reply.usage.input, reply.usage.output, reply.defects) == (9, 31, ("tokens",))


@APIS
@pytest.mark.parametrize("usage", [(0, 0), (9, 0), (0, 3), (10**30, 3), ([9], 3)])
def test_a_text_without_tokens_has_an_unknown_cost(api: str, usage: tuple[Any, Any]) -> None:
    counts = dict(zip(USAGE[api], usage, strict=True))
    reply = PROVIDERS[api].read(body(api, usage=counts))
    assert (reply.text, reply.outcome, reply.defects) == ("The answer is B.", "ok", ("usage",))
    assert None in (reply.usage.input, reply.usage.output)


@APIS
@pytest.mark.parametrize("wrong", [b"\xe9", b"\xff\xfe", b"\xed\xa0\xbd", b"\xf0\x9f\x98"])
def test_bytes_that_are_no_utf8_cost_no_answer_and_are_kept(api: str, wrong: bytes) -> None:
    raw = body(api, text="caf@ is B and \ud83d").replace(b"@", wrong)
    kept, row = by_batch(api, raw)
    assert b"caf" + wrong in kept
    for reply in (row, PROVIDERS[api].read(raw)):
        assert (reply.text or "").startswith("caf\ufffd")
        assert (reply.text or "").endswith(" is B and \ufffd")
        assert (reply.outcome, reply.defects, reply.usage.input) == ("ok", ("encoding",), 9)
    # nor do bare control characters
    reply = PROVIDERS[api].read(body(api, text="a@b").replace(b"@", b"\x00\n"))
    assert (reply.text, reply.outcome, reply.defects) == ("a\0\nb", "ok", ("encoding",))


@APIS
@pytest.mark.parametrize("model", ["", 7, ["gpt"]])
def test_defects_add_up(api: str, model: Any) -> None:
    raw = body(api, text="caf@", usage=[], model=model).replace(b"@", b"\xe9")
    for reply in (by_batch(api, raw)[1], PROVIDERS[api].read(raw)):
        assert (reply.returned_model, reply.usage) == (None, Usage())
        assert reply.defects == ("encoding", "usage", "model")


@APIS
@pytest.mark.parametrize("raw", [b"[1, 2]", b'{"choices": 5}'])
def test_a_reply_of_another_shape_is_told_by_what_came(api: str, raw: bytes) -> None:
    with pytest.raises(TransientError) as caught:
        PROVIDERS[api].read(raw)
    assert str(caught.value).endswith(f": {raw.decode()}")
