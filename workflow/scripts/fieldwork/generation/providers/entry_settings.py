"""What an entry of `models` says of the provider of a service, as its settings take it."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from fieldwork.errors import StudyError
from fieldwork.generation.providers.jsontext import plain_numbers
from fieldwork.masking import environment_key, with_tokens

# the flex tier answers when it has room, which takes up to a quarter of an hour
FLEX_TIMEOUT_S = 900.0


def direct_settings(model: Mapping[str, Any], kind: type[Any]) -> dict[str, Any]:
    """The entry's settings that a provider takes as they are."""
    converted_names = {"vertex", "headers", "secrets", "accept_models", "timeout_s"}
    names = {field.name for field in fields(kind)} - converted_names
    return {name: plain_numbers(value) for name, value in model.items() if name in names}


def common_settings(model: Mapping[str, Any]) -> dict[str, Any]:
    """What every provider of a service takes: headers, names that answer, time to wait."""
    flex = model.get("dispatch") == "flex"
    timeout_s = float(model.get("timeout_s", 120))
    secret = _secret_headers(model)
    return {
        "headers": {**(model.get("headers") or {}), **secret},
        "secrets": tuple(with_tokens(secret.values())),
        "accept_models": tuple(model.get("accept_models") or ()),
        "timeout_s": max(timeout_s, FLEX_TIMEOUT_S) if flex else timeout_s,
        "flex": flex,
    }


def _secret_headers(model: Mapping[str, Any]) -> dict[str, str]:
    """The headers whose values are in the environment."""
    return {
        name: _from_environment(variable, f"models.*.headers_env.{name}", "remove the header")
        for name, variable in (model.get("headers_env") or {}).items()
    }


def api_key(variable: str | None) -> str | None:
    """The key in a variable of the environment; None where none is named.

    Raises:
        StudyError: it is not set.
    """
    if variable is None:
        return None
    way_out = "set api_key_env to null for a server that needs no key"
    return _from_environment(variable, "models.*.api_key_env", way_out)


def _from_environment(variable: str, setting: str, way_out: str) -> str:
    value = environment_key(variable, setting)
    if value is None:
        raise StudyError(
            f"the environment variable {variable}, named by {setting}, is not set; set it, or {way_out}"
        )
    return value
