"""The provider `openai` against llama.cpp's own server and a real chat model, as a user would run it.

What other tests ask of the loopback server holds here too, or the loopback server is kinder than a real
one.
"""

import asyncio
import threading
from collections.abc import Iterator, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from gateway_entries import gateway_entries
from provider_cases import CONTEXTS, item, make_openai, send, wire_of
from stream_contract import check_error, check_stream

from fieldwork.errors import StudyError
from fieldwork.generation.accounts import Account
from fieldwork.generation.agenda import Ask, ContextGroup
from fieldwork.generation.engine import AnswerTally, settle
from fieldwork.generation.ledger import open_ledger
from fieldwork.generation.limits import Limits
from fieldwork.generation.preflight import check_model
from fieldwork.generation.providers.base import (
    Exchange,
    RejectedError,
    Reply,
    Sampling,
    TransientError,
    Wire,
)
from fieldwork.generation.providers.openai import OpenAI
from fieldwork.generation.providers.registry import make_provider
from fieldwork.generation.reply_checks import text_characters
from fieldwork.generation.sending import Sender
from fieldwork.records.puppets import Message
from servers.llama import WINDOW, LlamaServer, serve_llama, weights

FRUITS = "Name five fruits."


@pytest.fixture(scope="module")
def llama() -> Iterator[LlamaServer]:
    with serve_llama() as server:
        yield server


def provider_of(server: LlamaServer) -> OpenAI:
    return make_openai(
        server.base_url, model="smollm2", api_key=None, send_seed=True, timeout_s=60.0
    )


def exchange(
    server: LlamaServer,
    context: Sequence[Message] = (),
    *,
    prompt: str = FRUITS,
    temperature: float = 1.0,
    seed: int = 1,
    max_tokens: int = 24,
) -> Exchange:
    provider = provider_of(server)
    question = provider.question(item(prompt), Sampling(temperature, max_tokens, seed))
    wire = Wire(provider.prefix(context), question)
    return send(provider, wire)


def ask(server: LlamaServer, context: Sequence[Message] = (), **changes: object) -> Reply:
    return provider_of(server).read(exchange(server, context, **changes).raw)  # type: ignore[arg-type]


@pytest.mark.parametrize("context", CONTEXTS)
def test_a_real_server_answers_after_every_context(llama: LlamaServer, context: str) -> None:
    sent = exchange(llama, CONTEXTS[context], max_tokens=8)
    reply = provider_of(llama).read(sent.raw)
    assert reply.outcome in ("ok", "truncated", "empty")
    assert sent.latency_s is not None
    # no field of the reply is missing: model, tokens and whole text
    assert reply.defects == ()
    assert reply.returned_model
    assert provider_of(llama).is_asked_for(reply.returned_model)


def test_an_answer_that_was_cut_says_so(llama: LlamaServer) -> None:
    cut = ask(llama, temperature=0, max_tokens=5)
    assert (cut.outcome, cut.finish_reason, cut.usage.output) == ("truncated", "length", 5)
    whole = ask(llama, prompt="Say yes.", temperature=0, max_tokens=200)
    assert (whole.outcome, whole.finish_reason) == ("ok", "stop")


def test_a_seed_gives_its_answer_again_and_another_seed_another(llama: LlamaServer) -> None:
    first, again, *rest = (ask(llama, seed=seed).text for seed in (7, 7, 8, 9))
    assert first == again
    assert len({first, *rest}) > 1
    assert ask(llama, temperature=0, seed=1).text == ask(llama, temperature=0, seed=2).text


def test_a_prompt_beyond_the_window_is_rejected_with_the_way_out(llama: LlamaServer) -> None:
    with pytest.raises(RejectedError, match=r"lower conditions\.\*\.token_budget") as caught:
        exchange(llama, [Message("user", "word " * WINDOW)])
    assert "\n" not in str(caught.value)


def test_a_stream_of_a_real_server_keeps_the_contract_of_the_loopback_server(
    llama: LlamaServer,
) -> None:
    provider = provider_of(llama)
    assert check_stream(provider, FRUITS, 12) > 0
    check_stream(provider, "Say yes.", 200)
    check_error(provider, "word " * WINDOW, RejectedError, r"lower conditions\.\*\.token_budget")


def look(server: LlamaServer) -> None:
    provider = provider_of(server)

    async def check() -> None:
        try:
            entry = {"model": "smollm2", "api_key_env": None}
            await check_model(provider, entry, estimate_s=1.0, today=date(2026, 1, 1))
        finally:
            await provider.close()

    asyncio.run(check())


def test_a_model_without_an_alias_is_named_before_its_answers_count(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with serve_llama(alias=None) as server:
        look(server)
        assert "it lists" in caplog.messages[0]
        assert weights().name in caplog.messages[0]
        with pytest.raises(StudyError, match=r"or add .*\.gguf to models\.\*\.accept_models"):
            settled(server, tmp_path / "ledger.sqlite", ["Say yes."])


def settled(server: LlamaServer, path: Path, prompts: Sequence[str]) -> AnswerTally:
    with open_ledger(path) as ledger:
        sender = Sender(
            provider=provider_of(server),
            ledger=ledger,
            limits=Limits(ceiling=2, requests_per_minute=None, tokens_per_minute=None),
            account=Account(None, "live", 8),
            attempts=3,
        )
        asks = [Ask(item(prompt), Sampling(0.0, 8, 0), 0) for prompt in prompts]
        return settle([ContextGroup(None, (), asks)], sender, total=len(asks))


def answers(server: LlamaServer, path: Path, keys: Sequence[bytes]) -> list[Reply]:
    with open_ledger(path) as ledger:
        entries = {entry.key: entry for entry in ledger.entries(list(keys))}
    return [provider_of(server).read(entries[key].raw) for key in keys]


def test_two_jobs_at_once_get_their_own_answers(llama: LlamaServer, tmp_path: Path) -> None:
    """Prompts differ in length, so that the tokens counted show whose answer came."""
    prompts = {
        name: [f"Say {name} {'again ' * n}." for n in range(4)] for name in ("yes", "nonsense")
    }
    tallies: dict[str, AnswerTally] = {}

    def job(name: str) -> None:
        tallies[name] = settled(llama, tmp_path / f"{name}.sqlite", prompts[name])

    threads = [threading.Thread(target=job, args=(name,)) for name in prompts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for name, tally in tallies.items():
        assert (tally.n_asked, sum(tally.failures.values())) == (4, 0)
        replies = answers(llama, tmp_path / f"{name}.sqlite", tally.keys)
        tokens = [reply.usage.input or 0 for reply in replies]
        alone = [ask(llama, prompt=p, max_tokens=1).usage.input for p in prompts[name]]
        assert tokens == alone
    assert len(tallies) == 2


def test_a_server_that_was_killed_and_is_back_answers_the_rest(
    llama: LlamaServer, tmp_path: Path
) -> None:
    prompts, path = [f"Count to {n}." for n in range(12)], tmp_path / "killed.sqlite"
    settled(llama, path, prompts[:6])
    llama.kill()
    try:
        with pytest.raises(TransientError):
            exchange(llama)
    finally:
        llama.start()
    tally = settled(llama, path, prompts)
    assert (tally.n_asked, sum(tally.failures.values())) == (6, 0)
    assert all(reply.text for reply in answers(llama, path, tally.keys))


# --- the entry of studies/gateways.yaml ---------------------------------------------------------------


def draw(server: LlamaServer, n: int, **extra_body: Any) -> list[Reply]:
    """Answers to one question under different seeds; `extra_body` stands over the entry's."""
    entry = gateway_entries()["llama_cpp"]
    settings = {"base_url": server.base_url, "model": "smollm2", "timeout_s": 60}
    fields = {"extra_body": {**entry["extra_body"], **extra_body}}
    provider = make_provider(entry | settings | fields, Path())

    async def session() -> list[Reply]:
        try:
            wires = [
                wire_of(provider, prompt=FRUITS, sampling=Sampling(1.0, 8, n)) for n in range(n)
            ]
            return [provider.read((await provider.send(wire.body())).raw) for wire in wires]
        finally:
            await provider.close()

    return asyncio.run(session())


def test_further_fields_of_a_call_have_an_effect(llama: LlamaServer) -> None:
    """The best token alone is one answer under any seed; the whole distribution is many."""
    assert len({reply.text for reply in draw(llama, 6, top_k=1)}) == 1
    assert len({reply.text for reply in draw(llama, 6)}) > 1


def test_a_real_models_tokens_are_far_from_the_ratio_that_tells_a_cut(llama: LlamaServer) -> None:
    ratio = gateway_entries()["llama_cpp"]["characters_per_token"]
    context = [Message("user", "The committee met again on Thursday to hear both sides. " * 12)]
    reply = ask(llama, context, max_tokens=1)
    prefix = provider_of(llama).prefix(context)
    # short, as a processor reads slowly; so the check itself would let it pass
    characters_per_token = text_characters(prefix) / (reply.usage.input or 0)
    assert ratio / 2 < characters_per_token < ratio - 1


# --- probabilities ------------------------------------------------------------------------------------

QUESTION = (
    "Which planet is known as the Red Planet?\nA. Venus\nB. Mars\nC. Jupiter\nD. Saturn\n\n"
    "Answer with only a single letter."
)


def test_stated_probabilities_are_those_that_letters_are_drawn_with(llama: LlamaServer) -> None:
    provider = make_openai(
        llama.base_url,
        model="smollm2",
        api_key=None,
        send_seed=True,
        timeout_s=60.0,
        top_logprobs=20,
    )

    async def draw(n: int) -> list[Reply]:
        try:
            bodies = [
                Wire(provider.prefix([]), provider.question(item(QUESTION), Sampling(1.0, 1, seed)))
                for seed in range(n)
            ]
            return [provider.read((await provider.send(body.body())).raw) for body in bodies]
        finally:
            await provider.close()

    replies = asyncio.run(draw(120))
    stated = replies[0].option_probabilities
    assert stated is not None
    assert all(reply.option_probabilities for reply in replies)
    assert 0 < sum(one.probability for one in stated) <= 1.0001
    for letter, share in ((one.option, one.probability) for one in stated):
        drawn = sum((reply.text or "").strip() == letter for reply in replies) / len(replies)
        assert drawn == pytest.approx(share, abs=4 * (share * (1 - share) / 120) ** 0.5 + 0.01)
