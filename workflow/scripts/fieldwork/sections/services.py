"""Entries of `models` that are asked over the network, a class for each provider."""

from typing import Annotated, Any, Literal

from pydantic import Field

from fieldwork.sections.base import (
    Address,
    ConfigSection,
    Day,
    HeaderName,
    HeaderValue,
    VariableName,
)
from fieldwork.sections.model_entry import ModelEntry

KeyVariable = Annotated[
    VariableName | None,
    Field(
        description=(
            "Environment variable that holds the key, written in capital letters, digits and "
            "underscores, never the key itself; null for servers without keys."
        )
    ),
]
SendTemperature = Annotated[bool, Field(description="False for models that refuse a temperature.")]
SendSeed = Annotated[bool, Field(description="Send a seed that differs between replicates.")]
TopLogprobs = Annotated[
    int,
    Field(
        ge=0,
        le=20,
        description=(
            "Alternatives to ask for beside each token of an answer to a choice item (20 are usual), 0 "
            "for none. They give the probability of each letter from one call (docs/models.md). Not "
            "every model and server has them."
        ),
    ),
]
Headers = Annotated[
    dict[HeaderName, HeaderValue],
    Field(description="Further headers of every call; no secrets, as the config is published."),
]
SecretHeaders = Annotated[
    dict[HeaderName, VariableName],
    Field(
        description=(
            "Headers whose values are secrets, by the environment variables that hold them, written in "
            "capital letters, digits and underscores."
        ),
    ),
]
Dispatch = Annotated[
    Literal["live", "flex", "batch"],
    Field(
        description=(
            "How calls are sent, each alone (live), cheaper and slower (flex), or as files (batch)."
        ),
    ),
]


class _CacheEntry(ConfigSection):
    """A provider's cache of what calls begin with."""

    min_tokens: int = Field(
        1024, ge=0, le=10_000_000, description="Shortest prefix that is cached, in tokens."
    )
    ttl_s: float = Field(
        300, le=604_800, gt=0, description="Seconds a cached prefix lives after its last use."
    )


class BatchEntry(ConfigSection):
    """How batches are split and polled, where dispatch is batch."""

    max_requests: int = Field(
        50_000,
        ge=1,
        le=1_000_000,
        description="Most requests in a file; OpenAI takes 50,000, Anthropic 100,000.",
    )
    max_bytes: int = Field(
        200_000_000,
        ge=1,
        le=2_000_000_000,
        description="Largest file; OpenAI takes 200 MB, Anthropic 256 MB, Gemini 2 GB.",
    )
    max_tokens: int | None = Field(
        None,
        ge=1,
        description=(
            "Tokens that may be enqueued at once, as the account's limits say; null for no limit."
        ),
    )
    listing_lag_s: float = Field(
        120,
        ge=0,
        le=3600,
        description="Seconds by which the provider's list of batches may be outdated.",
    )
    poll_s: float = Field(
        60, le=3600, gt=0, description="Seconds between two queries for the state of a batch."
    )


class _RemoteEntry(ModelEntry):
    """A model that is asked over the network."""

    timeout_s: float = Field(
        120, le=86_400, gt=0, description="Seconds one call may take, a day at most."
    )
    concurrency: int = Field(
        16,
        ge=1,
        le=1000,
        description="Calls at the same time. A process can hold some thousand connections open.",
    )
    requests_per_minute: float | None = Field(
        None,
        gt=0,
        description=(
            "Calls a minute that the account may make. Null if only the server's replies tell."
        ),
    )
    tokens_per_minute: float | None = Field(
        None,
        gt=0,
        description="Tokens a minute that the account may use, answers included. Null as above.",
    )
    proxy: Address | None = Field(
        None,
        description=(
            "Address of a proxy without name and password; null takes the environment's (HTTPS_PROXY), "
            "which may hold them."
        ),
    )
    ca_file: str | None = Field(
        None, description="PEM file of certificate authorities to trust besides the usual ones."
    )
    batch: BatchEntry = Field(default_factory=BatchEntry)
    accept_models: list[str] = Field(
        [],
        description=(
            "Returned model ids that count as this model, besides it and its dated snapshots. Globs are "
            "allowed."
        ),
    )
    shutdown: Day | None = Field(
        None,
        description=(
            "First day on which the provider no longer serves the model, where it is known."
        ),
    )
    allow_shutdown: bool = Field(
        False,
        description="Call the model even if it is shut down before the estimated end of the run.",
    )
    successors: list[str] = Field(
        [], description="Models to suggest when this one is no longer served."
    )


class _InterfaceFlavour(ConfigSection):
    """Flavour of the interface."""

    kind: Literal["openai", "azure"] = Field(
        "openai", description="openai, or azure for a deployment on Azure OpenAI."
    )
    version: str | None = Field(None, description="Azure's api-version; null elsewhere.")

    @property
    def is_azure(self) -> bool:
        return self.kind == "azure"


class KeyedCache(_CacheEntry):
    """The provider's prompt cache; null for a server without one."""

    key: bool = Field(True, description="Send a prompt_cache_key for each context.")
    breakpoint: bool = Field(
        False, description="Mark the end of a context, for models that want an explicit breakpoint."
    )
    requests_per_minute: float | None = Field(
        15,
        gt=0,
        description=(
            "Calls a minute one context bears before some miss the cache; null for no limit."
        ),
    )


class OpenAIEntry(_RemoteEntry):
    """A model behind the interface of OpenAI."""

    provider: Literal["openai"] = Field(description="What kind of interface it has.")
    model: str = Field(examples=["gpt-4.1-mini"], description="Id the server knows.")
    base_url: Address = Field(
        examples=["https://api.openai.com/v1"],
        description=(
            "Address up to and including /v1; for Azure, the address of the resource. Without name, "
            "password or query."
        ),
    )
    api_key_env: KeyVariable = "OPENAI_API_KEY"
    token_limit_field: Literal["max_tokens", "max_completion_tokens"] = Field(
        "max_tokens",
        description="Field for max_tokens; newer OpenAI models want max_completion_tokens.",
    )
    send_temperature: SendTemperature = True
    send_seed: SendSeed = False
    seed_field: Literal["seed", "random_seed"] = Field(
        "seed", description="Field for the seed; Mistral wants random_seed."
    )
    extra_body: dict[Any, Any] = Field(
        {},
        description=(
            "Further fields of every call, as the server names them (docs/gateways.md), such as top_k, "
            "or provider for OpenRouter. They can change answers: after a change everything is asked "
            "again. No secrets, as the config is published."
        ),
    )
    characters_per_token: float | None = Field(
        6,
        ge=1,
        le=1000,
        description=(
            "Most characters of a prompt that one token can stand for. A reply that states fewer tokens "
            "than that comes from a server that cut the prompt: its request fails, and the server's "
            "window must be longer. null for a server that does not count all tokens of a prompt."
        ),
    )
    top_logprobs: TopLogprobs = 0
    first_token_sample: int = Field(
        0,
        ge=0,
        le=10_000,
        description=(
            "Calls for each task and condition that are sent once more, as streams and one at a time, "
            "to learn when the first text comes; 0 for none. They are paid for, and kept like all "
            "others."
        ),
    )
    api: _InterfaceFlavour = Field(default_factory=_InterfaceFlavour)
    headers: Headers = Field({})
    headers_env: SecretHeaders = Field({})
    prefix_cache: KeyedCache | None = Field(default_factory=KeyedCache)
    dispatch: Dispatch = "live"


class _VertexEntry(ConfigSection):
    """Vertex AI instead of the Gemini API; null for the Gemini API."""

    project: str = Field(examples=["my-project"], description="Google Cloud project.")
    location: str = Field(examples=["global"], description="Region, or global.")

    @property
    def host(self) -> str:
        """The address of the location's service."""
        region = "" if self.location == "global" else f"{self.location}-"
        return f"https://{region}aiplatform.googleapis.com"

    @property
    def parent(self) -> str:
        """The path that all resources of the project begin with."""
        return f"projects/{self.project}/locations/{self.location}"


class ImplicitCache(_CacheEntry):
    """The service's implicit cache, for the order of calls and the plan; null for none."""

    requests_per_minute: float | None = Field(
        None,
        gt=0,
        description=(
            "Calls a minute after one context, above which some miss the cache. Null for no limit."
        ),
    )


class GeminiEntry(_RemoteEntry):
    """A model of Google, on Gemini or Vertex."""

    provider: Literal["gemini"] = Field(description="What kind of interface it has.")
    model: str = Field(
        examples=["gemini-2.5-flash"], description="Id the service knows, such as gemini-2.5-flash."
    )
    base_url: Address = Field(
        "https://generativelanguage.googleapis.com",
        description="Address of the service, without the version, a name, a password or a query.",
    )
    api_version: str = Field("v1beta", description="Version of the interface.")
    api_key_env: KeyVariable = "GEMINI_API_KEY"
    vertex: _VertexEntry | None = None
    token_env: VariableName | None = Field(
        None,
        description=(
            "Environment variable with an OAuth token for Vertex, in capital letters, digits and "
            "underscores; null asks google-auth for one."
        ),
    )
    send_temperature: SendTemperature = True
    send_seed: SendSeed = False
    top_logprobs: TopLogprobs = 0
    thinking_budget: int | None = Field(
        None,
        ge=-1,
        le=1_000_000,
        description=(
            "Tokens of hidden reasoning: 0 for none, -1 for no limit, null for the model's default."
        ),
    )
    safety: dict[str, str] | None = Field(
        None,
        description=(
            "Threshold for each harm category, as the service names them; null for its defaults."
        ),
    )
    explicit_cache: bool = Field(
        False,
        description=(
            "Store each context with the service before its questions; storage is billed by time."
        ),
    )
    cache_ttl_s: float = Field(
        3600,
        le=604_800,
        gt=0,
        description=(
            "Seconds an explicitly stored context lives, a week at most; storage is billed by time."
        ),
    )
    prefix_cache: ImplicitCache | None = Field(default_factory=ImplicitCache)
    dispatch: Dispatch = "live"


class MarkedCache(_CacheEntry):
    """Marks the end of each context, up to which the service caches; writing costs a quarter more.

    Null marks nothing and caches nothing.
    """

    requests_per_minute: float | None = Field(
        None, gt=0, description="Calls a minute after one context, for the pace; null for no limit."
    )


class AnthropicEntry(_RemoteEntry):
    """A model of Anthropic."""

    provider: Literal["anthropic"] = Field(description="What kind of interface it has.")
    model: str = Field(
        examples=["claude-haiku-4-5-20251001"],
        description="Id the service knows, such as claude-haiku-4-5-20251001.",
    )
    base_url: Address = Field(
        "https://api.anthropic.com",
        description="Address of the service, without /v1, a name, a password or a query.",
    )
    api_version: str = Field(
        "2023-06-01",
        pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}\Z",
        description=(
            "Version of the interface, the header anthropic-version. 2026-10-21 takes no temperature of "
            "any model. Part of what an answer is known by."
        ),
    )
    api_key_env: KeyVariable = "ANTHROPIC_API_KEY"
    send_temperature: bool = Field(
        True,
        description="False for models that refuse a temperature, as all since Claude Opus 4.7 do.",
    )
    thinking: (
        Literal["adaptive", "disabled", "between_tools"]
        | Annotated[int, Field(ge=1024, le=1_000_000)]
        | None
    ) = Field(
        None,
        description=(
            "Hidden reasoning: adaptive, disabled or between_tools, or its most tokens for models that "
            "take a number. Null leaves it to the model. The service refuses what the model does not "
            "know."
        ),
    )
    effort: Literal["low", "medium", "high", "xhigh", "max"] | None = Field(
        None,
        description=(
            "How hard the model tries, for models that know it; null leaves it to the model."
        ),
    )
    headers: Headers = Field({})
    headers_env: SecretHeaders = Field({})
    prefix_cache: MarkedCache | None = Field(default_factory=MarkedCache)
    dispatch: Literal["live", "batch"] = Field(
        "live", description="How calls are sent, each alone (live) or many in one (batch)."
    )


ServiceEntry = OpenAIEntry | GeminiEntry | AnthropicEntry
