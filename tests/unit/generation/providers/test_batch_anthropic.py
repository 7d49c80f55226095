"""Anthropic's batches: their bodies against the official SDK's, and which batch is whose."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anthropic
import pytest
from batch_desk import SPEED, seen
from provider_cases import Recorder, Said, anthropic_settings

from fieldwork.errors import StudyError
from fieldwork.generation.providers.base import RejectedError, TransientError
from fieldwork.generation.providers.batch_anthropic import AnthropicBatches
from fieldwork.generation.providers.service import ServiceSettings
from fieldwork.sections.services import AnthropicEntry
from servers.provider import BatchRules, Chat, Fault, ModelSpec, serve_provider

KEY = "sk-ant-loopback-secret-1"
MODEL = "claude-x"
BATCHES = "/v1/messages/batches"
BODY = b'{"model":"claude-x","messages":[{"role":"user","content":"q"}],"max_tokens":8,"temperature":1}'


@pytest.fixture
def chat() -> Iterator[Chat]:
    specs = [ModelSpec(MODEL, family="claude")]
    with serve_provider(specs=specs, speed=SPEED, api_key=KEY) as served:
        yield served


def settings_for(url: str) -> ServiceSettings[AnthropicEntry]:
    return anthropic_settings(url, model=MODEL, api_key=KEY, timeout_s=5.0)


@pytest.fixture
def client(chat: Chat, tmp_path: Path) -> AnthropicBatches:
    return AnthropicBatches(settings_for(chat.anthropic_url), tmp_path)


def test_a_batch_is_the_one_the_official_sdk_makes(recorder: Recorder, tmp_path: Path) -> None:
    batch = {"id": "b1", "processing_status": "in_progress", "request_counts": {}}
    recorder.replies = [Said(batch), Said({"data": []}), Said(batch)]
    sdk = anthropic.Anthropic(
        api_key=KEY,
        base_url=recorder.url,
        max_retries=0,
        default_headers={"anthropic-version": "2023-06-01"},
    )
    requests: Any = [{"custom_id": name, "params": json.loads(BODY)} for name in ("a", "b")]
    sdk.messages.batches.create(requests=requests)
    client = AnthropicBatches(settings_for(recorder.url), tmp_path)
    path = tmp_path / "requests.jsonl"
    path.write_bytes(client.line("a", BODY) + client.line("b", BODY))
    assert client.create(client.upload(path), "run") == "b1"
    theirs, _, ours = recorder.calls
    assert ours.body == theirs.body
    assert (ours.method, ours.path) == (theirs.method, theirs.path) == ("POST", BATCHES)
    for header in ("anthropic-version", "content-type"):
        assert ours.headers[header] == theirs.headers[header]
    # so that a proxy need not wait for the end to know how long it is
    assert int(ours.headers["content-length"]) == len(ours.raw)


# --- which batch is whose ------------------------------------------------------------------------


def make_file(client: AnthropicBatches, folder: Path, *names: str) -> str:
    path = folder / f"{'-'.join(names)}.jsonl"
    path.write_bytes(b"".join(client.line(name, BODY) for name in names))
    return client.upload(path)


def make_stranger(client: AnthropicBatches, folder: Path, *names: str) -> str:
    """A batch of somebody else with the same account."""
    other = folder / "elsewhere"
    other.mkdir(exist_ok=True)
    stranger = AnthropicBatches(client._settings, other)
    return stranger.create(make_file(stranger, other, *names), "other run")


def create_and_forget(client: AnthropicBatches, chat: Chat, name: str) -> str:
    """Make a batch whose reply is lost; the id that the client does not get to know."""
    chat.faults.append(Fault(step="batches.create", status=500, body=b"{}", late=True))
    with pytest.raises(TransientError):
        client.create(name, "run")
    return list(chat.jobs)[-1]


def test_a_lost_batch_is_found_among_those_that_are_newer(
    client: AnthropicBatches, chat: Chat, tmp_path: Path
) -> None:
    make_stranger(client, tmp_path, "s1", "s2")
    batch_id = create_and_forget(client, chat, make_file(client, tmp_path, "a", "b"))
    make_stranger(client, tmp_path, "s1", "s2", "s3")
    assert client.find("run") == batch_id
    assert client.find("none") is None
    # a new process finds it too
    again = AnthropicBatches(client._settings, tmp_path)
    assert again.find("run") == batch_id


def test_results_tell_whose_a_batch_is(
    client: AnthropicBatches, chat: Chat, tmp_path: Path
) -> None:
    batch_id = create_and_forget(client, chat, make_file(client, tmp_path, "a", "b"))
    make_stranger(client, tmp_path, "s1", "s2")
    chat.clock.skip(10_000)
    assert client.find("run") == batch_id


def test_two_that_may_be_it_are_waited_for(
    client: AnthropicBatches, chat: Chat, tmp_path: Path
) -> None:
    chat.batch = BatchRules(running_s=80_000)
    create_and_forget(client, chat, make_file(client, tmp_path, "a", "b"))
    other_id = make_stranger(client, tmp_path, "s1", "s2")
    with pytest.raises(TransientError, match=f"{other_id}.*shows when they end"):
        client.find("run")


def test_a_batch_that_is_known_is_no_other_runs(
    client: AnthropicBatches, chat: Chat, tmp_path: Path
) -> None:
    earlier = make_file(client, tmp_path, "a", "b")
    later = make_file(client, tmp_path, "c", "d")
    # the list lags: the earlier batch is not in it when the later one is about to be made
    chat.batch = BatchRules(hidden_s=20_000, running_s=80_000)
    earlier_id = client.create(earlier, "earlier run")
    chat.faults.append(Fault(step="batches.create", status=500, body=b"{}"))
    with pytest.raises(TransientError):
        client.create(later, "run")
    chat.clock.skip(20_001)
    assert client.find("run") is None
    assert client.find("earlier run") == earlier_id


def test_the_list_is_read_page_by_page(
    client: AnthropicBatches, chat: Chat, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fieldwork.generation.providers.batch_anthropic._PAGE", 2)
    batch_id = create_and_forget(client, chat, make_file(client, tmp_path, "a"))
    for n in range(4):
        make_stranger(client, tmp_path, *(f"s{n}{m}" for m in range(2)))
    before = seen(chat, "GET", BATCHES)
    assert client.find("run") == batch_id
    assert seen(chat, "GET", BATCHES) - before == 3


def test_a_file_of_requests_is_kept_once_and_told_when_it_is_gone(
    client: AnthropicBatches, tmp_path: Path
) -> None:
    assert make_file(client, tmp_path, "a") == make_file(client, tmp_path, "a")
    with pytest.raises(RejectedError, match="is gone; run again"):
        client.create("none", "run")


def test_a_full_disk_does_not_hide_a_batch_that_was_made(
    client: AnthropicBatches, chat: Chat, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = make_file(client, tmp_path, "a")
    write, n_notes = client._write_note, 0

    def write_once(path: Path, note: Any) -> None:
        nonlocal n_notes
        n_notes += 1
        if n_notes > 1:
            raise StudyError("the disk is full")
        write(path, note)

    monkeypatch.setattr(client, "_write_note", write_once)
    assert client.create(name, "run") in chat.jobs


def test_a_note_that_is_damaged_is_told(client: AnthropicBatches, tmp_path: Path) -> None:
    (tmp_path / "x.note").write_bytes(b"{")
    with pytest.raises(StudyError, match="put a backup"):
        client.find("run")
