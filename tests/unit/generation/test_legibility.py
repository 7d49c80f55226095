"""A study whose answers cannot be read is no result: it stops early, and keeps what it paid for."""

import logging
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from senders import context_of, item_of, loopback_entry

from fieldwork.errors import StudyError
from fieldwork.generation.legibility import ENOUGH_ANSWERS, LegibilityRules
from fieldwork.generation.responses import generate
from fieldwork.generation.rows import GenerationArm
from fieldwork.generation.sending import open_sender
from fieldwork.records.generation import Request, Response
from fieldwork.records.tasks import Item
from servers.provider import FOREVER, Chat, Fault, ModelSpec, serve_provider

KEY = "sk-legibility-0123456789"
ARM = GenerationArm("m", "quiz", "history", temperature=1.0, max_tokens=16, seed=3)
CONCURRENCY = 8
ITEMS = {f"q{n:03}": item_of(f"q{n:03}", "choice") for n in range(300)}
ALL_UNREAD = "answers cannot be read"


def unread(response: Response, item: Item) -> str | None:
    """The reading of these tests: a text that holds B, or that refuses."""
    assert item.item_id == response.item_id
    if response.outcome in ("refused", "filtered") or "B" in (response.text or ""):
        return None
    return "no letter found" if response.text else "empty"


class Job:
    """An arm of one model, and its server; to questions that `texts` lacks it answers B."""

    def __init__(self, folder: Path, api: str, chat: Chat, texts: dict[str, str]) -> None:
        self.folder, self.chat, self.texts = folder, chat, texts
        batch = {"poll_s": 0.02, "max_requests": 60, "listing_lag_s": 0.1}
        url = chat.base_url if api == "openai" else chat.gemini_url
        model = {"provider": api, "model": f"{api}-x", "api_key_env": "LEGIBILITY_KEY"}
        self.entry = loopback_entry(
            url, **model, batch=batch, timeout_s=30.0, concurrency=CONCURRENCY
        )

    def run(self, n: int = 300, most: float = 0.2) -> int:
        """How many answers the job has in the end."""
        requests = [Request(item_id, "c-anna", "anna", 0) for item_id in list(ITEMS)[:n]]
        generation = {"attempts": 2, "budget_usd": None}
        stores = {"folder": self.folder, "vector_store": self.folder / "unused"}
        rules, contexts = LegibilityRules(unread, most), {"c-anna": context_of("anna")}
        with open_sender("m", self.entry, generation, {}, max_tokens=16, **stores) as sender:
            rows = generate(requests, ITEMS, contexts, sender=sender, arm=ARM, rules=rules)
            return len(list(rows))

    def n_asked(self) -> int:
        return sum(len(job.rows) for job in self.chat.jobs.values()) + sum(
            request.path.endswith(("/chat/completions", ":generateContent"))
            for request in self.chat.requests
        )


@pytest.fixture
def job(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> Iterator[Job]:
    monkeypatch.setenv("LEGIBILITY_KEY", KEY)
    monkeypatch.setattr("fieldwork.generation.batches.settling.SECONDS_BETWEEN_LISTINGS", 0.02)
    texts = dict[str, str]()

    def answer(body: Mapping[str, Any]) -> str:
        turns = body.get("messages") or body["contents"]
        question = turns[-1].get("content") or turns[-1]["parts"][0]["text"]
        return texts.get(question, texts.get("all", "B"))

    specs = [ModelSpec("openai-x"), ModelSpec("gemini-x", family="gemini")]
    with serve_provider(specs=specs, answer=answer, speed=5_000) as chat:
        yield Job(tmp_path, getattr(request, "param", "openai"), chat, texts)


BOTH = pytest.mark.parametrize("job", ["openai", "gemini"], indirect=True)


@BOTH
def test_a_study_of_which_nothing_can_be_read_stops_after_a_hundred_answers(job: Job) -> None:
    job.texts["all"] = f"Well,\nthat depends \x1b on {'you ' * 40} and {KEY}"
    with pytest.raises(StudyError) as caught:
        job.run()
    text = str(caught.value)
    assert text.startswith("m, quiz, history: 10")
    assert ALL_UNREAD in text
    assert "but generation.max_unreadable allows only 20%" in text
    assert text.count("“Well, that depends") == 3
    assert "tasks.quiz.max_tokens (16)" in text
    assert text.isprintable()
    assert max(map(len, text.split("; "))) < 300
    assert ENOUGH_ANSWERS <= job.n_asked() <= ENOUGH_ANSWERS + CONCURRENCY
    # raising the setting accepts them and asks the rest
    assert job.run(most=1.0) == job.n_asked() == 300
    with pytest.raises(StudyError, match="300 of 300 answers cannot be read"):
        job.run(most=0.99)
    assert job.n_asked() == 300


@pytest.mark.parametrize(
    ("n_unread", "n", "is_refused"),
    [(0, 30, False), (6, 30, False), (7, 30, True), (1, 1, True), (45, 300, False)],
)
def test_the_share_is_over_all_answers(n_unread: int, n: int, is_refused: bool, job: Job) -> None:
    # spread evenly, so that no hundred of them has more than its part
    job.texts |= {f"q{number * n // n_unread:03}": "Hm." for number in range(n_unread)}
    for _ in range(2):
        if is_refused:
            with pytest.raises(StudyError, match=f"{n_unread} of {n} {ALL_UNREAD}"):
                job.run(n)
        else:
            assert job.run(n) == n
        assert job.n_asked() == n


REFUSED = {"message": {"content": None, "refusal": "No."}}


@pytest.mark.parametrize("fault", [REFUSED, {"choice": {"finish_reason": "content_filter"}}])
def test_refusals_are_answers(fault: dict[str, Any], job: Job) -> None:
    job.chat.faults.append(Fault(**fault, times=FOREVER))
    assert job.run() == 300


@pytest.mark.parametrize(
    ("fault", "sentence"),
    [
        ({"choice": {"finish_reason": "length"}}, "3 of 60 answers are cut off"),
        ({"reply": {"model": ""}}, "3 of 60 replies do not name the model"),
        ({"reply": {"echo": f"Bearer {KEY}"}}, "3 of 60 replies repeat a key"),
    ],
)
def test_what_answers_lack_is_said_in_every_run(
    fault: dict[str, Any], sentence: str, job: Job, caplog: pytest.LogCaptureFixture
) -> None:
    job.chat.faults.append(Fault(**fault, skip=9, times=3))
    for _ in range(2):
        caplog.clear()
        with caplog.at_level(logging.WARNING, "fieldwork.generation"):
            assert job.run(60) == 60
        assert f"m, quiz, history: {sentence}" in caplog.text
    assert job.n_asked() == 60


@BOTH
def test_no_further_batch_is_made_where_the_answers_cannot_be_read(job: Job) -> None:
    """Batches of 60 requests, of which the provider takes one at a time."""
    job.texts["all"] = "Hm."
    job.entry["dispatch"] = "batch"
    job.entry["batch"]["max_tokens"] = 60 * 45
    for sentence in ("120 of 120 answers cannot be read", ALL_UNREAD):
        with pytest.raises(StudyError, match=sentence):
            job.run()
        assert job.n_asked() == 120
    assert job.run(most=1.0) == job.n_asked() == 300
