"""What the models behind a service share: settings, connections, and which names are theirs."""

import re
from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Generic, NamedTuple, TypeVar

from fieldwork.errors import StudyError
from fieldwork.generation.providers.http import Http, HttpSettings
from fieldwork.masking import environment_key, with_tokens
from fieldwork.sections.services import ServiceEntry

# the flex tier answers when it has room, which takes up to a quarter of an hour
FLEX_TIMEOUT_S = 900.0

_DATE = r"\d{4}-\d{2}-\d{2}|20\d{6}|(?:0[1-9]|1[0-2])[0-3]\d"
# first OpenAI's endings, such as 2024-07-18 or 0613; then Google's, such as 001
_SNAPSHOT = re.compile(rf"-(?:{_DATE}|0\d\d)")


E = TypeVar("E", bound=ServiceEntry)
E_co = TypeVar("E_co", bound=ServiceEntry, covariant=True)


class ServiceSettings(NamedTuple, Generic[E_co]):
    """A model of a service, and what the environment adds to its entry of `models`.

    Attributes:
        api_key: None for services that want none.
        headers: further ones of every call.
        secrets: values to mask, besides those in headers and in the proxy's address.
    """

    entry: E_co
    api_key: str | None = None
    headers: Mapping[str, str] = {}
    secrets: tuple[str, ...] = ()

    @property
    def is_flex(self) -> bool:
        """Whether calls ask for the cheaper and slower service tier."""
        return getattr(self.entry, "dispatch", "live") == "flex"

    @property
    def timeout_s(self) -> float:
        """Seconds that a call may take."""
        return max(self.entry.timeout_s, FLEX_TIMEOUT_S if self.is_flex else 0.0)


def settings_with_keys(entry: E) -> ServiceSettings[E]:
    """An entry with its key and its secret headers, which are in the environment.

    Raises:
        StudyError: one of them is not set.
    """
    secret_headers = {
        name: _from_environment(variable, f"models.*.headers_env.{name}", "remove the header")
        for name, variable in getattr(entry, "headers_env", {}).items()
    }
    variable = None if getattr(entry, "vertex", None) else entry.api_key_env
    way_out = "set api_key_env to null for a server that needs no key"
    return ServiceSettings(
        entry,
        variable and _from_environment(variable, "models.*.api_key_env", way_out),
        {**getattr(entry, "headers", {}), **secret_headers},
        tuple(with_tokens(secret_headers.values())),
    )


def _from_environment(variable: str, setting: str, way_out: str) -> str:
    value = environment_key(variable, setting)
    if value is None:
        raise StudyError(
            f"the environment variable {variable}, named by {setting}, is not set; set it, or {way_out}"
        )
    return value


class ServiceModel:
    """Base of providers that ask a service.

    Args:
        key_header: the header that carries the account's key.
    """

    def __init__(
        self, settings: ServiceSettings[ServiceEntry], endpoint: str, key_header: Mapping[str, str]
    ) -> None:
        entry = settings.entry
        self.endpoint = endpoint
        self.concurrency = entry.concurrency
        self.timeout_s: float | None = settings.timeout_s
        self.sends_temperature = entry.send_temperature
        self._names = (entry.model, *entry.accept_models)
        connection = HttpSettings(
            headers={**key_header, **settings.headers},
            secrets=(settings.api_key or "", *settings.secrets),
            proxy=entry.proxy,
            ca_file=entry.ca_file,
            timeout_s=settings.timeout_s,
            concurrency=entry.concurrency,
        )
        self._http = Http(connection, endpoint)

    def is_asked_for(self, returned_model: str) -> bool:
        """The model, a dated or numbered snapshot of it, or one of `accept_models`, also as globs."""
        return any(
            fnmatchcase(returned_model, name)
            or returned_model == name
            or (returned_model.startswith(name) and _SNAPSHOT.fullmatch(returned_model, len(name)))
            for name in self._names
        )

    def mask(self, text: str) -> str:
        """`text` without the key and the secrets in headers and in the proxy's address."""
        return self._http.mask(text)

    async def close(self) -> None:
        """Close the connections."""
        await self._http.close()
