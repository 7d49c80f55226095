"""The entries of `models`, checked: what a schema cannot say of addresses and headers.

Read while Snakemake parses the workflow, so it imports no scientific package.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from fieldwork.errors import StudyError

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
    return model["provider"] == "local_chat" or bool(model.get("top_logprobs"))


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
