"""What a study is about: what it selects, its comparisons, and conditions beside one another or anew."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, ValidationInfo
from pydantic_core import PydanticCustomError

from fieldwork.sections.base import ConfigSection, Name, Selection, Text

TESTED = (
    "share_who",
    "share_user",
    "share_context",
    "distance",
    "option_share",
    "entropy_bits",
    "score",
    "score_spread",
    "value",
    "novelty",
    "categories",
    "variant_accuracy",
    "variant_flips",
    "group_gap",
    "group_option",
    "practice_order",
    "group_difference",
    "field_order",
    "field_heterogeneity",
    "field_distance",
    "field_value",
    "field_place",
)
"""What is tested beside the measures that are declared."""


def _require_measure(name: str, info: ValidationInfo) -> str:
    """Refuse what is neither tested nor among the declared measures of the context, if any."""
    measures = (*TESTED, *(one for one in info.context or () if one not in TESTED))
    if info.context is not None and name not in measures:
        raise PydanticCustomError(
            "measure",
            "{name} is not one of {measures}",
            {"name": repr(name), "measures": repr([*measures])},
        )
    return name


class PrimaryEntry(ConfigSection):
    """A comparison that the study is about."""

    measure: Annotated[str, AfterValidator(_require_measure)] = Field(
        json_schema_extra={"examples": [*TESTED]},
        description="What is tested (docs/methods.md#claims).",
    )
    models: Selection | None = Field(None, description="Models of the study; null for all.")
    tasks: Selection | None = Field(None, description="Tasks of the study; null for all.")
    conditions: Selection | None = Field(
        None, description="Conditions of the study, or field; null for all simulated users."
    )
    items: Selection | None = Field(
        None, description="Items of the tasks, by item_id; null for all."
    )
    options: Selection | None = Field(
        None, description="Canonical options or letters, for option_share; null for all."
    )


def _first_comparisons() -> list[PrimaryEntry]:
    return [PrimaryEntry(measure=name) for name in ("share_who", "entropy_bits", "score")]


class StudySection(ConfigSection):
    """What is selected from the registries, and the seed of every draw."""

    name: Name = Field(
        examples=["my_study"],
        description=(
            "Name of the study and of its folder in results/: letters, digits, dot, dash and "
            "underscore."
        ),
    )
    question: str | None = Field(
        None,
        min_length=1,
        max_length=200,
        description=(
            'What the study asks, in one sentence; findings and page begin with it. null for "Does it '
            'matter who asks?" where conditions bring a user.'
        ),
    )
    seed: int = Field(
        examples=[1],
        ge=0,
        le=2_147_483_647,
        description=(
            "Seed of every random draw. The same seed gives the same puppets, requests and intervals. "
            "Models get seeds made from it, so it may not be larger than their interfaces allow."
        ),
    )
    corpus: str = Field(
        examples=["sample"], description="Entry of `corpora` that histories come from."
    )
    key_file: Text = Field(
        "resources/pseudonyms/key",
        description=(
            "Secret key of the pseudonyms that stand for users and conversations (docs/own_data.md). It "
            "is made where there is none. Keep it with the files: another key gives other pseudonyms, "
            "and draws other users."
        ),
    )
    models: Selection = Field(description="Entries of `models` to ask.")
    conditions: Selection = Field(
        description="Entries of `conditions` to use, in the order in which figures show them."
    )
    tasks: Selection = Field(description="Entries of `tasks` to ask.")
    probabilities: Literal["beside", "instead"] = Field(
        "beside",
        description=(
            "Where answers state the probabilities of options: `beside` asks as often as `runs` and "
            "`replicates` say, so that measures of drawn answers stand beside them; `instead` asks a "
            "choice once after each context, and twice without a user. All models of the study have to "
            "state them (docs/models.md). Scales are asked as before."
        ),
    )
    primary: list[PrimaryEntry] = Field(
        default_factory=_first_comparisons,
        description=(
            "The few comparisons the study is about, one family of tests over the whole study. "
            "Everything else is secondary. An entry is a measure with, where wanted, the models, tasks, "
            "conditions, items and options that it is about; without them it is about all simulated "
            "users."
        ),
    )


class ArmsSection(ConfigSection):
    """A figure that compares conditions, results/{study}/figures/{figure}, with tests between them
    (results/{study}/metrics/arm_tests). Null for none.
    """

    figure: Name = Field(
        examples=["arms"],
        description="Name of the figure, and of its files: letters, digits, dot, dash and underscore.",
    )
    x: Literal["condition", "conversations"] = Field(
        "condition",
        description=(
            "What the axis shows. condition shows names and tests each pair. conversations shows how "
            "many a puppet is to bring, 0 offline, and tests the trend within puppets."
        ),
    )
    conditions: Selection | None = Field(
        None, description="Conditions in their order; null for all that the study selects."
    )


class WavesSection(ConfigSection):
    """Asks conditions anew in every week, month or day in which the study is run
    (docs/practice.md). Each wave becomes a condition. Null for none.
    """

    of: Selection = Field(
        description="Conditions that are asked anew, in place of which their waves stand."
    )
    every: Literal["day", "week", "month"] = Field(
        "week", description="How long a wave lasts, in UTC."
    )
