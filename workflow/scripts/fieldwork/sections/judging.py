"""Judgements of people and models, and where they come from."""

from typing import Annotated, Any, Literal, Required

from pydantic import BeforeValidator, Field

from fieldwork.sections.base import (
    ColumnRoles,
    ConfigSection,
    Distinct,
    Name,
    Option,
    RowRule,
    Selection,
    Text,
    Texts,
)


class _ScaleMeaning(ConfigSection):
    """What every scale says beside its options."""

    level: Literal["nominal", "ordinal", "interval"] = Field(
        "nominal",
        description=(
            "nominal where options have no order, ordinal where they have one, interval where the steps "
            "between them count as equal."
        ),
    )
    labels: dict[str, Text] = Field(
        {}, description="What raters read in place of an option, by the option."
    )
    penalty: float = Field(
        0.2,
        ge=0,
        le=1,
        description=(
            "How much oftener than a person a model may be the worse match of other people and still "
            "stand in for one. The test's authors take 0.2 for experts, 0.15 for skilled people and 0.1 "
            "for crowd workers."
        ),
    )


class _ScaleEntry(_ScaleMeaning):
    """What raters could answer on one scale."""

    options: Distinct[Option] = Field(
        min_length=2,
        description=(
            'The answers, from the lowest to the highest where they have an order. Quote "Yes" and '
            '"No", which YAML takes for true and false.'
        ),
    )
    readings: dict[str, Option] = Field(
        {}, description="Other spellings of options, each with the option that it means."
    )
    accepted: Distinct[Option] = Field(
        [], description="Options that say yes, such as that an attribute is right or matters."
    )
    prefers_a: Distinct[Option] = Field(
        [], description="Where two answers are compared, the options that say the first is better."
    )
    prefers_b: Distinct[Option] = Field(
        [], description="Where two answers are compared, the options that say the second is better."
    )


OptionText = Annotated[str, BeforeValidator(str)]
"""An option as files and tables have it, where YAML may have a number."""


class Scale(_ScaleMeaning):
    """An entry of judging.scales with its name, its options as texts."""

    name: str
    options: list[OptionText]
    readings: dict[str, OptionText] = Field({})
    accepted: list[OptionText] = Field([])
    prefers_a: list[OptionText] = Field([])
    prefers_b: list[OptionText] = Field([])

    @property
    def is_ordered(self) -> bool:
        return self.level != "nominal"

    @property
    def has_sides(self) -> bool:
        """Whether its options prefer one of two answers; reasons and ratings are of no side."""
        return bool(self.prefers_a or self.prefers_b)

    def label(self, option: str) -> str:
        """What raters read in place of an option."""
        return self.labels.get(option, option)

    def mirror(self, option: str) -> str:
        """The option that says the same once two sides are exchanged."""
        return self.options[len(self.options) - 1 - self.options.index(option)]

    def worth(self, option: str) -> float:
        """What an option is worth: its number where every option is one, else its place from 1."""
        try:
            numbers = [float(text) for text in self.options]
        except ValueError:
            return float(self.options.index(option) + 1)
        return numbers[self.options.index(option)]

    def number(self, option: str | None) -> float | None:
        """What an answer is worth; None without one, and where options have no order."""
        return self.worth(option) if option is not None and self.is_ordered else None


class _SecondScale(ConfigSection):
    """A second scale, which is asked after some options; null for none."""

    scale: str = Field(description="The second scale.")
    after: list[Option] = Field(
        min_length=1, description="Options of the first scale after which it is asked."
    )


class _UnitEntry(ConfigSection):
    """What raters are given from this study, of one kind."""

    of: Literal["attributes", "relevance", "answers", "pairs", "mentions"] = Field(
        description=(
            "attributes of users; relevance of each attribute to each question; answers; pairs of "
            "answers under two conditions; mentions, an answer beside the same one that first names an "
            "attribute."
        )
    )
    scale: str = Field(description="Scale of judging.scales on which they are judged.")
    why: _SecondScale | None = None
    question: Text | None = Field(
        None, description="What raters are asked; null takes the question of the page's texts."
    )
    n: int | None = Field(
        None,
        ge=1,
        le=1_000_000,
        description="How many units are drawn, users taken in turn; null for all.",
    )
    group: Text | None = Field(
        None,
        description=(
            "The part of the units that these are, such as real or synthetic; null for none."
        ),
    )
    model: str | None = Field(
        None, description="Whose answers are judged; null takes the first of study.models."
    )
    conditions: Distinct[str] = Field(
        [], description="Whose answers are judged; of pairs two, of which the second is side b."
    )
    tasks: Selection | None = Field(
        None, description="Tasks whose questions count; null for all of study.tasks."
    )


class _JudgesSection(ConfigSection):
    """Models that judge the units; null for none."""

    models: Selection = Field(description="Entries of `models`.")
    units: Selection | None = Field(
        None, description="Entries of judging.units that they judge; null for all."
    )
    temperature: float = Field(0, ge=0, le=2, description="Sampling temperature of the judgements.")
    repeats: int = Field(
        1, ge=1, le=1000, description="How often a unit is judged, pairs so often in each order."
    )
    max_tokens: int = Field(5, ge=1, le=1_000_000, description="Longest answer, in tokens.")
    prompts: dict[str, Text] = Field(
        {},
        description=(
            "Files with the question to the judges, by the entry of judging.units; those that are not "
            "named come with the project (docs/judging.md)."
        ),
    )


class UnitSharing(ConfigSection):
    """How units are allotted to raters."""

    raters: int = Field(6, ge=1, le=1000, description="People who judge.")
    overlap: float = Field(
        0.2,
        ge=0.1,
        le=1,
        description="Share of the units that several raters judge, who are set beside each other.",
    )
    shared_by: int = Field(2, ge=2, le=1000, description="How many raters judge such a unit.")
    repeated: float = Field(
        0.05,
        ge=0,
        le=0.5,
        description=(
            "Share of a rater's units that come twice, unannounced, so that raters are set beside "
            "themselves."
        ),
    )


class _ReviewKitSection(UnitSharing):
    """The page, spreadsheets and Label Studio files that `snakemake review_kit` writes."""

    consent: Text = Field(
        "resources/review_kit/consent.md",
        description="File with the text that raters agree to, Markdown.",
    )
    texts: Text = Field(
        "resources/review_kit/texts_en.yaml",
        description="File with all other texts of the page, such as a translation.",
    )


class _RaterKindNames(ConfigSection):
    """What columns.rater_kind calls people and models."""

    person: list[str] = Field(["person"], description="What people are called.")
    model: list[str] = Field(["model"], description="What models are called.")


JudgementColumns = Annotated[
    dict[str, Any],
    ColumnRoles(
        "JudgementColumns",
        Text | None,
        {
            "rater_kind": "Whether a person or a model judged.",
            "scale": "The scale.",
            "group": "A part of the units, such as real or synthetic.",
            "author_a": "Who wrote it, or the first of two.",
            "author_b": "Who wrote the second of two.",
            "characters_a": "Length of the text, or of the first of two.",
            "characters_b": "Length of the second of two.",
            "first_side": "Which of two was shown first: a, b or the kit's code.",
            "seconds": "Time that the judgement took.",
            "note": "What the rater wrote.",
            "position": (
                "The rater's place in the kit. Rows of a rater and unit at one place are copies, "
                "and count once; a file may lack the column."
            ),
            "kit": "The kit that the place is of; a file may lack it.",
        },
        unit=Required[Annotated[Text | Texts | None, Field(description="What is judged.")]],
        rater=Required[Annotated[Text, Field(description="Who judged.", examples=["rater"])]],
        value=Required[Annotated[Text, Field(description="The answer.", examples=["answer"])]],
        user=Annotated[Text | Texts | None, Field(description="The user whom the unit is about.")],
        item=Annotated[Text | Texts | None, Field(description="The question that it is about.")],
    ),
]


class _JudgementSource(ConfigSection):
    """Files of judgements, a judgement a row."""

    path: Text = Field(
        examples=["resources/judging/answers.csv"],
        description="A file, a folder or a pattern; CSV, Excel, Parquet or JSON.",
    )
    scale: str | None = Field(
        None, description="The scale of all rows; null where columns.scale names it."
    )
    rater_kind: Literal["person", "model"] | None = Field(
        None, description="What all raters are; null where columns.rater_kind says it."
    )
    kinds: _RaterKindNames = Field(default_factory=_RaterKindNames)
    units: Literal["described", "given"] = Field(
        "described",
        description=(
            "described where columns say what a unit is, given where they are units of judging.units "
            "and columns.unit holds their codes."
        ),
    )
    sides: Literal["fixed", "shown"] = Field(
        "fixed",
        description=(
            "fixed where an answer means sides a and b whatever was shown first, shown where it means "
            "the first and the second as the rater saw them. Scales without prefers_a have no sides."
        ),
    )
    rows: RowRule = Field({}, description="Rows that count, by the values of columns.")
    columns: JudgementColumns = Field(
        description=(
            "Columns by what they hold. Several columns of a unit, an item or a user are joined with a "
            "slash."
        )
    )


class JudgingSection(ConfigSection):
    """Judgements of people and models on attributes, answers or anything else: read from files,
    collected by a page, or made by models (docs/judging.md). Null for none.
    """

    key_file: Text = Field(
        "resources/judging/key",
        description=(
            "Key of the pseudonyms that stand for raters; it is made where there is none. Keep it: "
            "another key gives other pseudonyms."
        ),
    )
    scales: dict[Name, _ScaleEntry] = Field(
        min_length=1, description="What raters could answer, by name."
    )
    units: dict[Name, _UnitEntry] = Field(
        {}, description="What raters are given from this study, by name."
    )
    groups: Text | None = Field(
        None,
        description=(
            "CSV of user_id and group, such as real and synthetic users; units of these users are in "
            "that group and not in the one of their entry. Null for none."
        ),
    )
    judges: _JudgesSection | None = None
    learn: Distinct[str] = Field(
        [],
        description=(
            "Entries of judging.units of which it is learnt what raters would say, tested on other "
            "users: attributes, relevance or pairs."
        ),
    )
    kit: _ReviewKitSection = Field(default_factory=_ReviewKitSection)
    sources: dict[Name, _JudgementSource] = Field(
        {}, description="Files of judgements, a judgement a row, by name."
    )
