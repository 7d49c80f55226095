"""How models are asked, what that costs, and how answers are read."""

from typing import Literal

from pydantic import Field

from fieldwork.sections.base import ConfigSection, Day, Text, unsaid


class GenerationSection(ConfigSection):
    """How models are called."""

    attempts: int = Field(
        5,
        ge=1,
        le=100,
        description=(
            "Tries of a request in one run before it counts as failed. Each may be billed. Before the "
            "first answer of a job, throttled requests are tried for up to two minutes instead."
        ),
    )
    budget_usd: float | None = Field(
        None,
        ge=0,
        le=1_000_000_000,
        description="US dollars that all jobs of the study together may spend; null for no limit.",
    )
    max_unreadable: float = Field(
        0.2,
        ge=0,
        le=1,
        description=(
            "Highest share of unreadable answers of a model to a task under a condition, 0 to 1. An "
            "answer is unreadable if it is cut off, empty, or has no letter or list. Refusals are "
            "answers and do not count. A job that exceeds the share stops after a hundred answers and "
            "keeps them; a smaller job is checked at its end. 1 accepts every answer."
        ),
    )


class PriceEntry(ConfigSection):
    """Prices of a model."""

    as_of: Day = Field(examples=["2026-11-01"], description="Day the price was read.")
    source: Text = Field(
        examples=["https://openai.com/api/pricing"], description="Where it was read."
    )
    input: float = Field(
        examples=[0.4], ge=0, le=1_000_000, description="US dollars for a million input tokens."
    )
    cached: float | None = Field(
        None,
        ge=0,
        le=1_000_000,
        description=(
            "The same for input read from the provider's cache; null where it costs as input does."
        ),
    )
    cache_write: float | None = Field(
        None,
        ge=0,
        le=1_000_000,
        description="The same for input written to the cache; null where it costs as input does.",
    )
    cache_storage: float | None = Field(
        None,
        ge=0,
        le=1_000_000,
        description=(
            "The same for an hour of storing contexts with the provider (explicit_cache). Null if "
            "unknown; then the plan leaves it out."
        ),
    )
    output: float = Field(
        examples=[1.6], ge=0, le=1_000_000, description="The same for output, reasoning included."
    )
    batch: float = Field(0.5, ge=0, le=10, description="Factor on every price in a batch.")
    flex: float = Field(0.5, ge=0, le=10, description="Factor on every price of flex calls.")


class _TaskSize(ConfigSection):
    """Items and tokens assumed for one task."""

    items: int = unsaid(ge=1, le=1_000_000, description="Items of this task.")
    question_tokens: int = unsaid(
        ge=1, le=10_000_000, description="Tokens of one of its questions."
    )


class PlanSection(ConfigSection):
    """How `snakemake plan` estimates what a study will cost before anything is sent."""

    tables: Literal["auto", "build", "assume"] = Field(
        "auto",
        description=(
            "What the plan counts from. auto uses tables that exist or can be made from files on this "
            "machine, and assumptions for the rest; it downloads nothing. build makes every table "
            "first, downloads included. assume never makes one."
        ),
    )
    latency_s: float = Field(
        2, le=86_400, gt=0, description="Seconds one call is assumed to take; a day at most."
    )
    conversation_tokens: int = Field(
        1870,
        ge=0,
        le=10_000_000,
        description="Tokens assumed for one conversation of a history that is not on this machine.",
    )
    profile_tokens: int = Field(
        120, ge=0, le=10_000_000, description="Tokens assumed for one profile."
    )
    memory_tokens: int = Field(
        400,
        ge=0,
        le=10_000_000,
        description="Tokens assumed for the attributes of a memory, until conversations were read.",
    )
    items: int = Field(
        100, ge=1, le=1_000_000, description="Items assumed for a task that is not on this machine."
    )
    question_tokens: int = Field(
        120, ge=1, le=10_000_000, description="Tokens assumed for one question."
    )
    tasks: dict[str, _TaskSize] = Field({}, description="The same two numbers for single tasks.")
    list_tokens: int = Field(
        150,
        ge=1,
        le=1_000_000,
        description="Tokens assumed for an answer to a list item, until there are answers.",
    )
    choice_tokens: int = Field(
        2,
        ge=1,
        le=1_000_000,
        description="Tokens assumed for an answer to a choice item, until there are answers.",
    )


class ValueRules(ConfigSection):
    """What counts where a reply gives no one value."""

    ranges: Literal["left_out", "middle"] = Field(
        "left_out",
        description=(
            "What a range such as 10 to 20 is, for kinds scale and number: its middle, or left_out, an "
            "answer without a value."
        ),
    )
    several_numbers: Literal["left_out", "first", "last"] = Field(
        "left_out",
        description=(
            "Which number counts where an answer of kind number holds several and states none as the "
            "answer: the first, the last, or left_out for none."
        ),
    )


class NameRules(ConfigSection):
    """How spellings become names of options."""

    cut_lists: bool = Field(
        True,
        description=(
            "Whether only the first options of a list count, as many as the prompt asks for. Longer "
            "lists would look more varied than they are."
        ),
    )
    near_duplicates: float = Field(
        92,
        ge=50,
        le=100,
        description=(
            "Similarity, 0 to 100, from which two spellings count as the same option. 100 turns it off."
        ),
    )


class ParsingSection(ValueRules, NameRules):
    """How answers are read."""

    aliases: str | None = Field(
        "resources/tasks/aliases.csv",
        description=(
            "CSV of task, item_id, written, canonical; an empty item_id holds for all items."
        ),
    )
    overrides: str | list[str] | None = Field(
        None,
        description=(
            "CSV, or a list of CSV files, in which a person corrects how answers are read: an edited "
            "results/{study}/answers/items.csv renames options, and corrections.csv of the study's page "
            "sets the reading of replies. It wins over all else."
        ),
    )
