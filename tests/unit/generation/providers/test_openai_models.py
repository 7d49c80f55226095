"""Which models an OpenAI-compatible server offers, and which of them counts as the one asked for."""

from datetime import date

import pytest
from provider_cases import KEY, Recorder, Said, make_openai, models_of

from fieldwork.errors import StudyError
from fieldwork.generation.providers.base import ModelInfo, RejectedError, TransientError


def test_the_list_of_models(recorder: Recorder) -> None:
    entries = [
        {"id": "a", "shutdown_date": "2027-01-14"},
        {"id": "b", "shutdown_date": None},
        {"id": "c"},
        {"id": "d", "shutdown_date": "2027-01-14T00:00:00Z"},
        {"id": "e", "shutdown_date": "one day"},
    ]
    recorder.replies = [Said({"object": "list", "data": entries})]
    day = date(2027, 1, 14)
    expected = [("a", day), ("b", None), ("c", None), ("d", day), ("e", None)]
    assert models_of(make_openai(f"{recorder.url}/v1/")) == [
        ModelInfo(*entry) for entry in expected
    ]
    (call,) = recorder.calls
    assert (call.method, call.path) == ("GET", "/v1/models")
    assert call.headers["authorization"] == f"Bearer {KEY}"


def test_a_bare_list_is_a_list_too(recorder: Recorder) -> None:
    recorder.replies = [Said([{"id": "a"}, {"id": "b", "expiration_date": "2027-01-14"}])]
    expected = [ModelInfo("a"), ModelInfo("b", date(2027, 1, 14))]
    assert models_of(make_openai(recorder.url)) == expected


@pytest.mark.parametrize("status", [404, 405, 501])
def test_a_server_without_a_list(recorder: Recorder, status: int) -> None:
    recorder.replies = [Said(b"nothing here", status)]
    assert models_of(make_openai(recorder.url)) is None


def test_azure_has_no_list_of_deployments() -> None:
    assert models_of(make_openai(azure_version="2024-10-21")) is None


@pytest.mark.parametrize(
    ("said", "error"),
    [
        (Said(b"{}", 401), StudyError),
        # a key that may ask a model need not be allowed to list them
        (Said(b'{"error": {"message": "missing scope"}}', 403), RejectedError),
        (Said(b"{}", 500), TransientError),
        (Said(b"<html>"), TransientError),
        (Said({"data": None}), TransientError),
        (Said({"data": [{"name": "no id"}]}), TransientError),
    ],
)
def test_a_list_that_cannot_be_had(recorder: Recorder, said: Said, error: type[Exception]) -> None:
    recorder.replies = [said]
    with pytest.raises(error):
        models_of(make_openai(recorder.url))
