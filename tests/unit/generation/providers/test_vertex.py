"""Tokens for Vertex AI: taken once, renewed when they run out, and missing ones explained."""

import asyncio
from typing import Any

import google.auth
import pytest
from google.auth.exceptions import DefaultCredentialsError, RefreshError, TransportError

from fieldwork.errors import StudyError
from fieldwork.generation.providers.base import TransientError
from fieldwork.generation.providers.vertex import GoogleToken


class Credentials:
    """As google-auth's; `fails` is raised by the next refresh."""

    def __init__(self) -> None:
        self.valid, self.token, self.n_refreshed = False, "", 0
        self.fails: Exception | None = None

    def refresh(self, request: Any) -> None:  # noqa: ARG002
        if self.fails is not None:
            raise self.fails
        self.n_refreshed += 1
        self.valid, self.token = True, f"token-{self.n_refreshed}"


@pytest.fixture
def credentials(monkeypatch: pytest.MonkeyPatch) -> Credentials:
    given = Credentials()
    monkeypatch.setattr(google.auth, "default", lambda scopes: (given, "project"))  # noqa: ARG005
    return given


def test_a_token_serves_until_it_runs_out(credentials: Credentials) -> None:
    async def session(token: GoogleToken) -> list[Any]:
        return await asyncio.gather(*(token.headers() for _ in range(5)))

    token = GoogleToken(None)
    first = asyncio.run(session(token))
    assert first == [{"Authorization": "Bearer token-1"}] * 5
    credentials.valid = False
    assert asyncio.run(session(token)) == [{"Authorization": "Bearer token-2"}] * 5
    assert credentials.n_refreshed == 2


@pytest.mark.parametrize(
    ("fails", "expected"),
    [(TransportError("down"), TransientError), (RefreshError("revoked"), StudyError)],
)
def test_a_token_that_cannot_be_renewed(
    credentials: Credentials, fails: Exception, expected: type[Exception]
) -> None:
    credentials.fails = fails
    with pytest.raises(expected):
        asyncio.run(GoogleToken(None).headers())


def test_no_credentials_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(scopes: list[str]) -> None:  # noqa: ARG001
        raise DefaultCredentialsError("none")

    monkeypatch.setattr(google.auth, "default", nothing)
    with pytest.raises(StudyError, match=r"gcloud auth.*models\.\*\.token_env"):
        asyncio.run(GoogleToken(None).headers())


def test_a_token_of_the_environment_is_read_anew_each_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    token = GoogleToken("VERTEX_TOKEN")
    for value in ("a", "b\n"):
        monkeypatch.setenv("VERTEX_TOKEN", value)
        assert asyncio.run(token.headers()) == {"Authorization": f"Bearer {value.strip()}"}
