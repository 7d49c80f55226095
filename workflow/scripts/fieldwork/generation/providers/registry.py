"""The provider that an entry of `models` in the config names."""

from collections.abc import Callable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from fieldwork.errors import StudyError
from fieldwork.generation.providers.base import Provider
from fieldwork.generation.providers.batch_base import BatchClient
from fieldwork.generation.providers.jsontext import plain_numbers
from fieldwork.masking import environment_key, with_tokens

# the flex tier answers when it has room, which takes up to a quarter of an hour
FLEX_TIMEOUT_S = 900.0


def make_provider(model: Mapping[str, Any], vector_store: Path) -> Provider:
    """The provider of a model. Only the modules that it needs are imported.

    Args:
        model: entry of `models`, with defaults.
        vector_store: file in which encoders keep finished vectors.

    Raises:
        StudyError: the model's key is not in the environment, or a setting is not valid.
    """
    return MAKERS[model["provider"]](model, vector_store)


def make_batch_client(provider: Provider, folder: Path) -> BatchClient:
    """The client of a provider's batches.

    Args:
        folder: where the journal is; holds input files for a service that takes none.

    Raises:
        StudyError: the provider has none.
    """
    from fieldwork.generation.providers.anthropic import Anthropic
    from fieldwork.generation.providers.gemini import Gemini
    from fieldwork.generation.providers.openai import OpenAI

    if isinstance(provider, OpenAI):
        from fieldwork.generation.providers.batch_openai import OpenAIBatches

        return OpenAIBatches(provider.settings)
    if isinstance(provider, Gemini):
        from fieldwork.generation.providers.batch_gemini import GeminiBatches

        return GeminiBatches(provider.settings)
    if isinstance(provider, Anthropic):
        from fieldwork.generation.providers.batch_anthropic import AnthropicBatches

        return AnthropicBatches(provider.settings, folder)
    raise StudyError(f"{provider.endpoint} has no batches; set models.*.dispatch to live")


def _make_embedded(model: Mapping[str, Any], vector_store: Path) -> Provider:
    from fieldwork.encoder import Encoder, EncoderSettings
    from fieldwork.generation.providers import embedded
    from fieldwork.provenance import code_version

    encoder = Encoder(EncoderSettings(model["encoder"]), vector_store)
    settings = embedded.EmbeddedSettings(model["sharpness"], model["context_weight"])
    return embedded.EmbeddedModel(encoder, settings, code_version(Path(embedded.__file__)))


def _make_local_chat(model: Mapping[str, Any], vector_store: Path) -> Provider:  # noqa: ARG001
    from fieldwork.generation.chat import worker
    from fieldwork.generation.chat.sources import model_source
    from fieldwork.generation.providers.local_chat import ChatSettings, LocalChat
    from fieldwork.provenance import code_version

    decoding, n_workers = model["decoding"], model["workers"]
    settings = ChatSettings(
        decoding["grammar"],
        decoding["min_p"],
        model["choices"],
        None if n_workers == "auto" else n_workers,
    )
    # what is wrong with the weights is said before torch is loaded
    source = model_source(model)
    code = code_version(Path(worker.__file__))
    return LocalChat(source, settings, code)


def _make_openai(model: Mapping[str, Any], vector_store: Path) -> Provider:  # noqa: ARG001
    from fieldwork.generation.providers.openai import OpenAI, OpenAISettings
    from fieldwork.generation.providers.openai_stream import StreamedOpenAI

    kind = StreamedOpenAI if model.get("is_streamed") else OpenAI
    api = model.get("api") or {}
    cache = model.get("prefix_cache") or {}
    is_azure = api.get("kind") == "azure"
    if is_azure and not api.get("version"):
        raise StudyError(
            "models.*.api.version is missing: every call to Azure names the version of the interface; "
            "set it to a version such as 2024-10-21"
        )
    settings = _direct_settings(model, OpenAISettings)
    if is_azure:
        # Azure's pages show the address with and without this ending, which calls add
        settings["base_url"] = settings["base_url"].rstrip("/").removesuffix("/openai")
    return kind(
        OpenAISettings(
            **settings,
            **_common_settings(model),
            api_key=_key(model["api_key_env"]),
            azure_version=api["version"] if is_azure else None,
            cache_key=bool(cache.get("key")),
            cache_breakpoint=bool(cache.get("breakpoint")),
        )
    )


def _make_gemini(model: Mapping[str, Any], vector_store: Path) -> Provider:  # noqa: ARG001
    from fieldwork.generation.providers.gemini import GEMINI_URL, Gemini, GeminiSettings
    from fieldwork.generation.providers.vertex import VertexSettings

    vertex, settings = model.get("vertex"), _direct_settings(model, GeminiSettings)
    if vertex and (settings.get("base_url") or GEMINI_URL).rstrip("/") == GEMINI_URL:
        # that is the default for the Gemini API; the models of a project have another address
        settings["base_url"] = None
    if vertex and settings.get("api_version") == "v1beta":
        settings["api_version"] = "v1beta1"  # the same interface's name on Vertex AI
    if (model.get("prefix_cache") or {}).get("min_tokens"):
        settings["cache_min_tokens"] = model["prefix_cache"]["min_tokens"]
    return Gemini(
        GeminiSettings(
            **settings,
            **_common_settings(model),
            api_key=None if vertex else _key(model["api_key_env"]),
            vertex=VertexSettings(**vertex) if vertex else None,
        )
    )


def _make_anthropic(model: Mapping[str, Any], vector_store: Path) -> Provider:  # noqa: ARG001
    from fieldwork.generation.providers.anthropic import Anthropic, AnthropicSettings

    return Anthropic(
        AnthropicSettings(
            **_direct_settings(model, AnthropicSettings),
            **_common_settings(model),
            api_key=_key(model["api_key_env"]),
            cache_breakpoint=model.get("prefix_cache") is not None,
        )
    )


def _direct_settings(model: Mapping[str, Any], kind: type[Any]) -> dict[str, Any]:
    """The entry's settings that a provider takes as they are."""
    converted_names = {"vertex", "headers", "secrets", "accept_models", "timeout_s"}
    names = {field.name for field in fields(kind)} - converted_names
    return {name: plain_numbers(value) for name, value in model.items() if name in names}


def _common_settings(model: Mapping[str, Any]) -> dict[str, Any]:
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


def _key(variable: str | None) -> str | None:
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


MAKERS: Mapping[str, Callable[[Mapping[str, Any], Path], Provider]] = {
    "embedded": _make_embedded,
    "local_chat": _make_local_chat,
    "openai": _make_openai,
    "gemini": _make_gemini,
    "anthropic": _make_anthropic,
}
"""By the setting `provider` of a model."""
