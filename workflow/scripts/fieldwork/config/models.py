"""The entries of `models`, checked: what a schema cannot say of addresses and headers.

Read while Snakemake parses the workflow, so it imports no scientific package.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

from fieldwork.errors import StudyError
from fieldwork.masking import is_secret_header
from fieldwork.waves import present

Config = dict[str, Any]

LOCAL_PROVIDERS = frozenset({"embedded", "local_chat"})
"""Providers that answer on this machine: their calls cost nothing and need no look-up."""

# that a job reserves where models.*.workers is auto; Snakemake takes no more than its --cores
CORES_OF_A_CHAT_MODEL = 8


def is_local(model: Mapping[str, Any]) -> bool:
    """Whether an entry of `models` answers on this machine."""
    return model["provider"] in LOCAL_PROVIDERS


def provider_modules(providers: Iterable[str]) -> list[str]:
    """The modules that make providers, which are imported by name, as paths without ending."""
    folder = "fieldwork/generation/providers/makers"
    return [f"{folder}/{name}" for name in sorted({*providers} - {"recorded"})]


def is_recorded(model: Mapping[str, Any]) -> bool:
    """Whether the answers of an entry of `models` were collected elsewhere: it is never asked."""
    return bool(model["provider"] == "recorded")


def states_probabilities(model: Mapping[str, Any]) -> bool:
    """Whether the answers of an entry of `models` to choices carry the probability of each option."""
    return model.get("choices") == "likelihood" or bool(model.get("top_logprobs"))


def answer_threads(model: Mapping[str, Any]) -> int:
    """Cores of a job that asks a model: one for each process of a local chat model, else one."""
    if model["provider"] != "local_chat":
        return 1
    return CORES_OF_A_CHAT_MODEL if model["workers"] == "auto" else int(model["workers"])


def require_keys(config: Config, models: Iterable[str], environment: Mapping[str, str]) -> None:
    """Refuse to begin where a model is to be asked whose key is not there.

    Raises:
        StudyError: names the settings of all such models.
    """
    variables = {name: config["models"][name].get("api_key_env") for name in sorted(models)}
    missing = {name: v for name, v in variables.items() if v and not environment.get(v, "").strip()}
    if missing:
        settings = "; ".join(
            f"models.{name}.api_key_env names {variable}" for name, variable in missing.items()
        )
        variables_missing = " and ".join(dict.fromkeys(missing.values()))
        raise StudyError(
            f"the environment has no {variables_missing} ({settings}): enter `export "
            f"{next(iter(missing.values()))}=` with your key behind it, or select other models in "
            "study.models; nothing was run"
        )


_LIST_FORMS = {
    "none": "lists are free text",
    "five_lines": "lists are numbered lines",
    "candidates": "lists name given candidates only",
}
_CHOICE_FORMS = {
    "letter": "choices are a letter that it writes",
    "likelihood": "choices are drawn by their likelihood",
}


def held_form(model: Mapping[str, Any]) -> str | None:
    """How the answers of a local chat model are held to a form; None for models that are not."""
    if model["provider"] != "local_chat":
        return None
    decoding = model["decoding"]
    forms = [_LIST_FORMS[decoding["grammar"]], _CHOICE_FORMS[model["choices"]]]
    forms += [f"min-p {decoding['min_p']:g}"] if decoding["min_p"] else []
    return f"{model['label']}: {', '.join(forms)}"


def broken_models(config: Config) -> Iterator[str]:
    if config["study"]["probabilities"] == "instead":
        for name in config["study"]["models"]:
            model = config["models"][name]
            if not (states_probabilities(model) or is_recorded(model)):
                yield (
                    f"study.probabilities: instead needs answers with the probabilities of options, and "
                    f"{name} states none; set models.{name}.top_logprobs, or choices: likelihood for a "
                    f"chat model on this machine, or study.probabilities to beside"
                )
    for name, model in config["models"].items():
        for setting in ("base_url", "proxy"):
            if model.get(setting) and not _has_host(model[setting]):
                yield (
                    f"models.{name}.{setting}: not a valid URL; write the host, and a port only if it is "
                    f"not the usual one"
                )
        yield from _secret_headers(name, model.get("headers") or {})
        yield from _broken_fields(name, model.get("extra_body") or {})
    # a day more, as it may be tomorrow already where the price was read
    today = present().date()
    latest = (today + timedelta(days=1)).isoformat()
    for name, price in config["prices"].items():
        if price["as_of"] > latest:
            yield (
                f"prices.{name}.as_of: {price['as_of']} is in the future (today is {today} on this "
                f"machine); write the day on which you read the price"
            )


_WRITTEN_FIELDS: Mapping[str, str] = {
    "model": "models.*.model",
    "messages": "conditions and tasks",
    "max_tokens": "tasks.*.max_tokens",
    "max_completion_tokens": "tasks.*.max_tokens",
    "temperature": "conditions.*.temperature",
    "seed": "models.*.send_seed",
    "random_seed": "models.*.send_seed",
    "logprobs": "models.*.top_logprobs",
    "top_logprobs": "models.*.top_logprobs",
    "n": "conditions.*.replicates",
    "stream": "models.*.first_token_sample",
    "stream_options": "models.*.first_token_sample",
    "service_tier": "models.*.dispatch",
    "prompt_cache_key": "models.*.prefix_cache",
    "prompt_cache_options": "models.*.prefix_cache",
}
"""Fields of a call, and the settings that write them."""


def _broken_fields(model: str, fields: Mapping[str, Any]) -> Iterator[str]:
    setting = f"models.{model}.extra_body"
    for field in fields:
        if field in _WRITTEN_FIELDS:
            yield f"{setting}.{field}: take it out; {_WRITTEN_FIELDS[field]} writes this field"
    try:
        json.dumps(fields, sort_keys=True)
    except (TypeError, ValueError) as error:
        yield f"{setting}: cannot be written as JSON ({error}); write names and dates in quotes"


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
