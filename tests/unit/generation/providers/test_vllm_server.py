"""The vLLM entry of studies/gateways.yaml on a real vLLM server, where one runs.

vLLM needs other versions of the libraries that this project pins, so no environment of its tests has it.
docs/gateways.md says when this ran last. Serve any chat model with at most a few thousand tokens, then:

    vllm serve MODEL --max-model-len 1024 --enable-prompt-tokens-details
    VLLM_BASE_URL=http://127.0.0.1:8000/v1 pytest tests/unit/generation/providers/test_vllm_server.py
"""

import asyncio
import json
import os
import urllib.request
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from gateway_entries import gateway_entries
from provider_cases import CONTEXTS, wire_of
from stream_contract import check_error, check_stream

from fieldwork.generation.providers.base import ModelInfo, RejectedError, Reply, Sampling
from fieldwork.generation.providers.openai import OpenAI
from fieldwork.generation.providers.registry import make_provider
from fieldwork.generation.reply_checks import text_characters
from fieldwork.records.puppets import Message

BASE_URL = os.environ.get("VLLM_BASE_URL", "")
PROSE = "The committee met again on Thursday to hear both sides. "

pytestmark = pytest.mark.skipif(not BASE_URL, reason="VLLM_BASE_URL names no running server")


@cache
def served() -> dict[str, Any]:
    """The first model of the server's list."""
    with urllib.request.urlopen(f"{BASE_URL}/models") as reply:
        first: dict[str, Any] = json.load(reply)["data"][0]
    return first


def provider_of(**changes: Any) -> OpenAI:
    entry = gateway_entries()["vllm"] | {"base_url": BASE_URL, "model": served()["id"], **changes}
    provider = make_provider(entry, Path())
    assert isinstance(provider, OpenAI)
    return provider


def ask(
    provider: OpenAI,
    context: Sequence[Message] = (),
    *,
    n: int = 1,
    max_tokens: int = 8,
    prompt: str = "Name five fruits.",
) -> list[Reply]:
    """Answers under seeds of a study, which are above 2³¹."""

    async def session() -> list[Reply]:
        try:
            wires = [
                wire_of(
                    provider,
                    context,
                    prompt=prompt,
                    sampling=Sampling(1.0, max_tokens, 2509 * 1_000_003 + seed),
                    context_id="c" * 64,
                )
                for seed in range(n)
            ]
            return [provider.read((await provider.send(wire.body())).raw) for wire in wires]
        finally:
            await provider.close()

    return asyncio.run(session())


@pytest.mark.parametrize("context", CONTEXTS)
def test_it_answers_after_every_context(context: str) -> None:
    (reply,) = ask(provider_of(), CONTEXTS[context])
    assert reply.defects == ()
    assert reply.returned_model == served()["id"]
    assert reply.usage.cache_read is not None


def test_a_seed_gives_its_answer_again() -> None:
    first, again = ask(provider_of(), n=4), ask(provider_of(), n=4)
    assert [reply.text for reply in first] == [reply.text for reply in again]
    assert len({reply.text for reply in first}) > 1


def test_further_fields_of_a_call_have_an_effect() -> None:
    best = provider_of(extra_body={**gateway_entries()["vllm"]["extra_body"], "top_k": 1})
    assert len({reply.text for reply in ask(best, n=4)}) == 1


def test_what_it_does_not_know_is_ignored() -> None:
    (reply,) = ask(provider_of(prefix_cache={"key": True}, extra_body={"no_such_field": 1}))
    assert reply.defects == ()


def test_a_field_of_another_kind_is_refused_by_name() -> None:
    with pytest.raises(RejectedError, match=r"^HTTP 400: .*top_k"):
        ask(provider_of(extra_body={"top_k": "many"}))


def test_a_prompt_beyond_the_window_is_refused_with_the_way_out() -> None:
    long = [Message("user", PROSE * (served()["max_model_len"] // 8))]
    with pytest.raises(RejectedError, match=r"lower conditions\.\*\.token_budget"):
        ask(provider_of(), long)


def test_tokens_are_far_from_the_ratio_that_tells_a_cut() -> None:
    context = [Message("user", PROSE * 12)]
    (reply,) = ask(provider_of(), context, max_tokens=1)
    prefix = provider_of().prefix(context)
    ratio = gateway_entries()["vllm"]["characters_per_token"]
    assert ratio / 2 < text_characters(prefix) / (reply.usage.input or 0) < ratio - 1


def test_letters_have_probabilities() -> None:
    question = "Is the sky blue?\nA. Yes\nB. No\n\nAnswer with only a single letter."
    (reply,) = ask(provider_of(top_logprobs=20), max_tokens=1, prompt=question)
    assert reply.option_probabilities is not None
    assert 0 < sum(one.probability for one in reply.option_probabilities) <= 1.0001


def test_a_stream_is_the_whole_answer() -> None:
    provider = provider_of()
    check_stream(provider, "Name five fruits.", 12)
    long = PROSE * (served()["max_model_len"] // 8)
    check_error(provider, long, RejectedError, r"lower conditions\.\*\.token_budget")


def test_its_list_of_models_is_read() -> None:
    provider = provider_of()

    async def session() -> list[ModelInfo] | None:
        try:
            return await provider.models()
        finally:
            await provider.close()

    assert ModelInfo(served()["id"]) in (asyncio.run(session()) or [])
