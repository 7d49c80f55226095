"""The entries of `models`, checked: what a schema cannot say of addresses and headers, and no secrets.

A config is published with the results, and Snakemake keeps it beside them: keys and passwords live in the
environment alone. Read while Snakemake parses the workflow, so it imports no scientific package.
"""

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

from fieldwork.masking import environment_secrets, has_key_form, is_secret_header, without_keys

Config = dict[str, Any]

SHORTEST_SECRET = 12
"""Letters of a variable's value that are no setting's by chance."""


def secrets_in(config: Config) -> Iterator[str]:
    """Settings that hold a key, a sentence each; the key is not in it."""
    known = [secret for secret in environment_secrets() if len(secret) >= SHORTEST_SECRET]
    for setting, text in _texts(config):
        if has_key_form(text) or any(secret in text for secret in known):
            yield (
                f"{without_keys(setting)}: a key or a password stands here, and a config is published "
                f"with the results; take it out, set it in the environment, and name that variable in "
                f"models.*.api_key_env (or token_env, headers_env)"
            )


def _texts(value: Any, where: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield where, value
    pairs = value.items() if isinstance(value, dict) else ()
    for key, inner in [*pairs, *(enumerate(value) if isinstance(value, list) else ())]:
        setting = f"{where}.{key}" if where else str(key)
        if isinstance(key, str):
            yield setting, key
        yield from _texts(inner, setting)


def broken_models(config: Config) -> Iterator[str]:
    """What is wrong with entries of `models`, a sentence each."""
    for name, model in config["models"].items():
        for setting in ("base_url", "proxy"):
            if model.get(setting) and not _has_host(model[setting]):
                yield (
                    f"models.{name}.{setting}: it names no host, or a port that there is none of; "
                    f"correct it"
                )
        yield from _secret_headers(name, model.get("headers") or {})


def _has_host(address: str) -> bool:
    try:
        parts = urlsplit(address)
        return bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def _secret_headers(model: str, headers: Mapping[str, str]) -> Iterator[str]:
    for header in headers:
        if is_secret_header(header):
            yield (
                f"models.{model}.headers.{header}: a header of this name holds a secret, and a config "
                f"is published with the results; set it in the environment, and write models.{model}."
                f"headers_env: {{{header}: NAME_OF_THE_VARIABLE}}"
            )
