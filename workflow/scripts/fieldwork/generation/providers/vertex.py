"""Gemini on Vertex AI: the token for calls to the models of a project."""

import asyncio
import threading
from collections.abc import Mapping
from typing import Any

from fieldwork.errors import StudyError
from fieldwork.generation.providers.base import TransientError
from fieldwork.masking import environment_key

_SCOPE = "https://www.googleapis.com/auth/cloud-platform"


class GoogleToken:
    """An OAuth token, renewed before it expires.

    Args:
        token_env: environment variable that holds a token; None takes it from google-auth.
    """

    def __init__(self, token_env: str | None) -> None:
        self._token_env = token_env
        self._credentials: Any = None
        self._renewing = threading.Lock()

    async def headers(self) -> Mapping[str, str]:
        """The header that carries the token.

        Raises:
            StudyError: there is no token.
            TransientError: Google's token service cannot be reached.
        """
        return {"Authorization": f"Bearer {await self._token()}"}

    async def _token(self) -> str:
        if self._token_env is not None:
            token = environment_key(self._token_env, "models.*.token_env")
            if token is None:
                raise StudyError(
                    f"the environment variable {self._token_env}, named by models.*.token_env, "
                    f"is not set; set it to a token, or remove token_env to use google-auth"
                )
            return token
        if self._credentials is None or not self._credentials.valid:
            await asyncio.to_thread(self._renew)
        return str(self._credentials.token)

    def _renew(self) -> None:
        import google.auth
        import google.auth.exceptions
        import google.auth.transport.requests

        try:
            with self._renewing:
                if self._credentials is None:
                    self._credentials, _ = google.auth.default(scopes=[_SCOPE])
                if not self._credentials.valid:
                    self._credentials.refresh(google.auth.transport.requests.Request())
        except google.auth.exceptions.TransportError as error:
            raise TransientError("Google's token service cannot be reached") from error
        except google.auth.exceptions.GoogleAuthError as error:
            raise StudyError(
                f"no Google Cloud credentials ({type(error).__name__}); run `gcloud auth "
                f"application-default login`, or set models.*.token_env to a variable with a token"
            ) from error
