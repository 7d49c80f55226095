"""generateContent and explicit caches of the loopback server, through google-genai."""

import pytest
from google import genai
from google.genai import errors as google_errors
from google.genai import types as google_types
from provider_clients import LONG

from servers.provider import Chat

MODEL = "gemini-pro"


def test_an_answer_says_its_tokens_and_its_version(gemini: genai.Client) -> None:
    replies = [
        gemini.models.generate_content(
            model=MODEL,
            contents=LONG,
            config=google_types.GenerateContentConfig(system_instruction="Be brief.", seed=1),
        )
        for _ in range(2)
    ]
    assert len({reply.text for reply in replies}) == 2
    first, second = (reply.usage_metadata for reply in replies)
    assert first is not None
    assert second is not None
    # 9 bytes of instruction are 3 tokens
    assert first.prompt_token_count == 4000 + 4 + 3 + 4
    assert first.thoughts_token_count == 5
    assert first.total_token_count == 4011 + 2 + 5
    assert (first.cached_content_token_count, second.cached_content_token_count) == (None, 3968)
    assert replies[0].model_version == MODEL


def test_an_explicit_cache_is_read_until_it_ends_and_paid_by_the_hour(
    server: Chat, gemini: genai.Client
) -> None:
    held = gemini.caches.create(
        model=MODEL, config={"contents": LONG, "ttl": "600s", "display_name": "c"}
    )
    config = google_types.GenerateContentConfig(cached_content=held.name)

    def ask() -> google_types.GenerateContentResponseUsageMetadata:
        reply = gemini.models.generate_content(model=MODEL, contents="Why?", config=config)
        assert reply.usage_metadata is not None
        return reply.usage_metadata

    usage = ask()
    assert (usage.prompt_token_count, usage.cached_content_token_count) == (4009, 4004)
    server.clock.skip(500)
    assert held.name is not None
    gemini.caches.update(name=held.name, config={"ttl": "600s"})
    server.clock.skip(500)
    assert ask().cached_content_token_count == 4004
    server.clock.skip(101)
    with pytest.raises(google_errors.ClientError) as gone:
        ask()
    assert gone.value.code == 403
    # the cache is written at the full price and kept for 1,100 s
    assert server.bill.storage_usd == pytest.approx(4004 * 1100 / 3600 * 100 / 1e6, rel=1e-3)
    line = server.bill.lines[MODEL, "live"]
    usd = (4004 + 2 * 5) * 1.0 + 2 * 4004 * 0.1 + line.output * 5.0
    assert line.usd == pytest.approx(usd / 1e6)
