"""Answers of real users, and the survey that collects them."""

from typing import Annotated, Literal

from pydantic import Field

from fieldwork.sections.base import (
    Address,
    ConfigSection,
    Distinct,
    Name,
    OsfNode,
    RowRule,
    Selection,
    Text,
    Words,
)


class StorageProject(ConfigSection):
    """A project of OSF."""

    node: OsfNode = Field(
        examples=["abc12"], description="Id of the project, what follows osf.io/ in its address."
    )
    url: Address = Field("https://api.osf.io/v2", description="Address of OSF's API v2.")


class _FieldStorage(StorageProject):
    """OSF project whose files are the answers; null where path is given."""

    files: list[str] | None = Field(
        None,
        min_length=1,
        description=(
            "Files to fetch, as globs over paths in its OSF Storage; null for all that can be read."
        ),
    )


class _FieldColumnNames(ConfigSection):
    """The columns, by their names in the files."""

    participant: str = Field(
        examples=["participant_id"], description="Participant's id; only its keyed hash is kept."
    )
    platform: Text | None = Field(None, description="What the participant used; null for none.")
    model: Text | None = Field(
        None, description="Model that answered; null takes the platform, or the study's only model."
    )
    prompt: Text | None = Field(None, description="long: which prompt was answered.")
    answer: Text | None = Field(None, description="long: the answer.")
    position: Text | None = Field(
        None,
        description=(
            "Position of the prompt in the participant's order, from 1. In a wide file it is that "
            "order: item ids or columns, separated by | or a comma. Null for none."
        ),
    )
    groups: dict[Name, Text] = Field(
        {}, description="Columns that define groups of participants, by the name of the variable."
    )


class FieldSection(ConfigSection):
    """Real users' answers and how to read them (docs/field.md), condition `field`; null for none."""

    path: str | None = Field(
        None,
        description=(
            "File, folder or glob of CSV, TSV, Excel (.xlsx) or Parquet; null where osf is given."
        ),
    )
    osf: _FieldStorage | None = None
    layout: Literal["wide", "long"] = Field(
        description=(
            "wide has a row for each participant and a column for each prompt; long has a row for each "
            "answer."
        )
    )
    columns: _FieldColumnNames
    prompts: dict[str, Text] = Field(
        {},
        description=(
            "Prompts by item_id (or task/item_id), each with its column (wide) or its value in the "
            "prompt column (long, where item ids need no entry)."
        ),
    )
    skip_prompts: list[str] = Field(
        [], description="long: values of the prompt column whose rows are left out."
    )
    rows: RowRule = Field(
        {},
        description=(
            "Values that a row must have to be read, by column, such as the answer that gives consent. "
            "A file without the column is read whole. Of other rows nothing is kept."
        ),
    )
    models: dict[str, str | None] = Field(
        {},
        description=(
            "Values of the model (or platform) column and the model that each stands for. Null leaves "
            "its rows out."
        ),
    )
    exclude: Distinct[str] | None = Field(
        None,
        description=(
            "Checks whose flagged answers are left out (docs/field.md). Null for its default checks."
        ),
    )
    key_file: str = Field(
        "resources/field/key",
        description=(
            "File with the secret key of the participants' hashes. It is made if it does not exist. "
            "Keep it secret."
        ),
    )


class _GroupQuestion(ConfigSection):
    """A question about the participant, which defines groups."""

    question: Words = Field(description="The question.")
    options: Distinct[Words] = Field(
        min_length=2, description='Its answers; "prefer not to say" is added.'
    )


VariableLabel = Annotated[str, Field(pattern="^[A-Za-z][A-Za-z0-9_]{0,39}$")]


def _shipped_groups() -> dict[str, _GroupQuestion]:
    options = ["Black woman", "Black man", "White woman", "White man", "None of these"]
    return {"group": _GroupQuestion(question="Which of these describes you?", options=options)}


class FieldKitSection(ConfigSection):
    """The survey that `snakemake field_kit` writes for a field study (docs/field.md)."""

    tasks: Selection | None = Field(
        None,
        description=(
            "Tasks whose prompts participants send; null for those of figures 1 and 2, a whole "
            "benchmark only where there is nothing else."
        ),
    )
    repeats: int = Field(
        1,
        ge=1,
        le=10,
        description=(
            "How often a participant sends each prompt, each time in a new chat, on the survey page."
        ),
    )
    platforms: dict[str, Words] = Field(
        {},
        description=(
            "The name under which participants know a model, by its name in `models`. Default: its "
            "label."
        ),
    )
    groups: dict[VariableLabel, _GroupQuestion] = Field(
        default_factory=_shipped_groups,
        description=(
            "Questions about the participant, by the name of the variable that defines groups. "
            "Participants may skip each. An empty mapping asks none."
        ),
    )
    consent: str = Field(
        "resources/field_kit/consent.md",
        description=(
            "Text shown before the first question. The shipped file is a template that you must "
            "replace."
        ),
    )
    texts: str = Field(
        "resources/field_kit/texts_en.yaml",
        description="YAML file with the words of the page, for another language.",
    )
