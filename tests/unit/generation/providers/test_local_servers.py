"""The provider `openai` against the servers that people run themselves: llama.cpp's, and vLLM's.

What other tests ask of the loopback server holds here too, or the loopback server is kinder than a real
one. llama.cpp's server is started here. vLLM needs other versions of the libraries that this project
pins, so no environment of its tests has it: it is asked where one runs. Serve any chat model with at
most a few thousand tokens, then:

    vllm serve MODEL --max-model-len 1024 --enable-prompt-tokens-details
    VLLM_BASE_URL=http://127.0.0.1:8000/v1 pytest tests/unit/generation/providers/test_local_servers.py
"""

import json
import os
import threading
import urllib.request
from collections.abc import Iterator, Sequence
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from gateway_entries import gateway_entries
from provider_cases import CONTEXTS, closing_after, models_of, send, wire_of
from senders import ask_of, sender_of, settle_asks
from stream_contract import check_error, check_stream

from fieldwork.errors import StudyError
from fieldwork.generation.engine import AnswerTally
from fieldwork.generation.ledger import open_ledger
from fieldwork.generation.preflight import check_model
from fieldwork.generation.providers.base import (
    ModelInfo,
    RejectedError,
    Reply,
    Sampling,
    TransientError,
)
from fieldwork.generation.providers.openai import OpenAI
from fieldwork.generation.providers.registry import make_provider
from fieldwork.generation.reply_checks import text_characters
from fieldwork.records.puppets import Message
from servers.llama import WINDOW, LlamaServer, serve_llama, weights

VLLM = os.environ.get("VLLM_BASE_URL", "")
FRUITS = "Name five fruits."
PROSE = "The committee met again on Thursday to hear both sides. "
TOO_LONG = r"lower conditions\.\*\.token_budget"


class LocalServer(NamedTuple):
    """A running server, and its entry in studies/gateways.yaml."""

    entry: str
    base_url: str
    model: str
    window: int

    def provider(self, **changes: Any) -> OpenAI:
        settings = {"base_url": self.base_url, "model": self.model, "timeout_s": 60}
        entry = gateway_entries()[self.entry] | settings | changes
        provider = make_provider(entry, Path())
        assert isinstance(provider, OpenAI)
        return provider

    def draw(
        self,
        n: int,
        prompt: str = FRUITS,
        max_tokens: int = 8,
        *,
        context: Any = (),
        **changes: Any,
    ) -> list[Reply]:
        """Answers under seeds of a study, which are above 2³¹."""
        provider = self.provider(**changes)

        async def session() -> list[Reply]:
            replies = []
            for seed in range(n):
                sampling = Sampling(1.0, max_tokens, 2509 * 1_000_003 + seed)
                wire = wire_of(provider, context, prompt=prompt, sampling=sampling)
                replies.append(provider.read((await provider.send(wire.body())).raw))
            return replies

        return closing_after(provider, session())

    def further_fields(self, **fields: Any) -> dict[str, Any]:
        """Those of the entry, and others."""
        return {"extra_body": {**gateway_entries()[self.entry]["extra_body"], **fields}}


@pytest.fixture(scope="module")
def llama() -> Iterator[LlamaServer]:
    with serve_llama() as server:
        yield server


def at(running: LlamaServer) -> LocalServer:
    return LocalServer("llama_cpp", running.base_url, "smollm2", WINDOW)


@pytest.fixture(params=["llama_cpp", "vllm"])
def server(request: pytest.FixtureRequest) -> LocalServer:
    if request.param == "llama_cpp":
        return at(request.getfixturevalue("llama"))
    if not VLLM:
        pytest.skip("VLLM_BASE_URL names no running server")
    with urllib.request.urlopen(f"{VLLM}/models") as reply:
        first: dict[str, Any] = json.load(reply)["data"][0]
    return LocalServer("vllm", VLLM, first["id"], first["max_model_len"])


@pytest.mark.parametrize("context", CONTEXTS)
def test_a_real_server_answers_after_every_context(server: LocalServer, context: str) -> None:
    (reply,) = server.draw(1, context=CONTEXTS[context])
    assert reply.outcome in ("ok", "truncated", "empty")
    # no field of the reply is missing: model, tokens and whole text
    assert reply.defects == ()
    assert reply.returned_model == server.model
    assert reply.usage.cache_read is not None
    assert models_of(server.provider()) == [ModelInfo(server.model)]


def test_an_answer_that_was_cut_says_so(server: LocalServer) -> None:
    (cut,) = server.draw(1, max_tokens=5)
    assert (cut.outcome, cut.finish_reason, cut.usage.output) == ("truncated", "length", 5)
    (whole,) = server.draw(1, prompt="Say yes.", max_tokens=200)
    assert (whole.outcome, whole.finish_reason) == ("ok", "stop")


def test_a_seed_gives_its_answer_again_and_another_seed_another(server: LocalServer) -> None:
    first, again = ([reply.text for reply in server.draw(4)] for _ in range(2))
    assert first == again
    assert len(set(first)) > 1


def test_further_fields_of_a_call_have_an_effect(server: LocalServer) -> None:
    """The best token alone is one answer under any seed; the whole distribution is many."""
    assert len({reply.text for reply in server.draw(4, **server.further_fields(top_k=1))}) == 1
    with pytest.raises(RejectedError, match=r"^HTTP 400: .*top_k"):
        server.draw(1, **server.further_fields(top_k="many"))


def test_a_prompt_beyond_the_window_is_rejected_with_the_way_out(server: LocalServer) -> None:
    with pytest.raises(RejectedError, match=TOO_LONG) as caught:
        server.draw(1, context=[Message("user", PROSE * (server.window // 8))])
    assert "\n" not in str(caught.value)


def test_a_real_models_tokens_are_far_from_the_ratio_that_tells_a_cut(server: LocalServer) -> None:
    ratio = gateway_entries()[server.entry]["characters_per_token"]
    context = [Message("user", PROSE * 12)]
    (reply,) = server.draw(1, context=context, max_tokens=1)
    prefix = server.provider().prefix(context)
    # short, as a processor reads slowly; so the check itself would let it pass
    characters_per_token = text_characters(prefix) / (reply.usage.input or 0)
    assert ratio / 2 < characters_per_token < ratio - 1


def test_a_stream_keeps_the_contract_of_the_loopback_server(server: LocalServer) -> None:
    provider = server.provider()
    assert check_stream(provider, FRUITS, 12) > 0
    check_stream(provider, "Say yes.", 200)
    check_error(provider, PROSE * (server.window // 8), RejectedError, TOO_LONG)


QUESTION = (
    "Which planet is known as the Red Planet?\nA. Venus\nB. Mars\nC. Jupiter\nD. Saturn\n\n"
    "Answer with only a single letter."
)


def test_stated_probabilities_are_those_that_letters_are_drawn_with(server: LocalServer) -> None:
    replies = server.draw(120, prompt=QUESTION, max_tokens=1, top_logprobs=20)
    assert all(reply.option_probabilities for reply in replies)
    stated = replies[0].option_probabilities or []
    assert 0 < sum(one.probability for one in stated) <= 1.0001
    for letter, share in ((one.option, one.probability) for one in stated):
        drawn = sum((reply.text or "").strip() == letter for reply in replies) / len(replies)
        assert drawn == pytest.approx(share, abs=4 * (share * (1 - share) / 120) ** 0.5 + 0.01)


def settled(server: LocalServer, path: Path, prompts: Sequence[str]) -> AnswerTally:
    with open_ledger(path) as ledger:
        sender = sender_of(server.provider(), ledger, attempts=3, ceiling=2)
        asks = [ask_of(prompt, temperature=0.0, max_tokens=8) for prompt in prompts]
        return settle_asks(asks, sender)


def answers(server: LocalServer, path: Path, keys: Sequence[bytes]) -> list[Reply]:
    with open_ledger(path) as ledger:
        entries = {entry.key: entry for entry in ledger.entries(list(keys))}
    return [server.provider().read(entries[key].raw) for key in keys]


def test_a_model_without_an_alias_is_named_before_its_answers_count(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with serve_llama(alias=None) as running:
        provider, entry = at(running).provider(), {"model": "smollm2", "api_key_env": None}
        look = check_model(provider, entry, estimate_s=1.0, today=date(2026, 1, 1))
        closing_after(provider, look)
        assert "it lists" in caplog.messages[0]
        assert weights().name in caplog.messages[0]
        with pytest.raises(StudyError, match=r"or add .*\.gguf to models\.\*\.accept_models"):
            settled(at(running), tmp_path / "ledger.sqlite", ["Say yes."])


def test_two_jobs_at_once_get_their_own_answers(llama: LlamaServer, tmp_path: Path) -> None:
    """Prompts differ in length, so that the tokens counted show whose answer came."""
    server = at(llama)
    prompts = {
        name: [f"Say {name} {'again ' * n}." for n in range(4)] for name in ("yes", "nonsense")
    }
    tallies: dict[str, AnswerTally] = {}

    def job(name: str) -> None:
        tallies[name] = settled(server, tmp_path / f"{name}.sqlite", prompts[name])

    threads = [threading.Thread(target=job, args=(name,)) for name in prompts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for name in prompts:
        tally = tallies[name]
        assert (tally.n_asked, sum(tally.failures.values())) == (4, 0)
        replies = answers(server, tmp_path / f"{name}.sqlite", tally.keys)
        alone = [server.draw(1, prompt=p, max_tokens=1)[0].usage.input for p in prompts[name]]
        assert [reply.usage.input for reply in replies] == alone


def test_a_server_that_was_killed_and_is_back_answers_the_rest(
    llama: LlamaServer, tmp_path: Path
) -> None:
    prompts, path = [f"Count to {n}." for n in range(12)], tmp_path / "killed.sqlite"
    server = at(llama)
    settled(server, path, prompts[:6])
    llama.kill()
    try:
        with pytest.raises(TransientError):
            send(server.provider())
    finally:
        llama.start()
    tally = settled(server, path, prompts)
    assert (tally.n_asked, sum(tally.failures.values())) == (6, 0)
    assert all(reply.text for reply in answers(server, path, tally.keys))
