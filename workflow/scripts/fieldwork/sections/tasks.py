"""Entries of `tasks`: questions from files, and questions that are put otherwise."""

from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag

from fieldwork.sections.base import (
    ColumnRoles,
    ConfigSection,
    Distinct,
    Line,
    RowRule,
    Text,
    Texts,
    unsaid,
)

ItemColumns = Annotated[
    dict[str, Any],
    ColumnRoles(
        "ItemColumns",
        Text,
        {
            "item_id": "A question's id.",
            "question": "The bare question.",
            "prompt": "The whole message that is sent.",
            "gold": "The right option.",
            "subject": "What the question is about.",
            "kind": "The kind of each question, where a file holds several.",
            "list_length": "How many options a list question asks for.",
            "reversed": "Yes where a scale is put the other way round.",
            "unit": "What a number counts or measures.",
            "lowest": "The least number that counts.",
            "highest": "The most that counts.",
        },
        options=Annotated[
            Text | Texts,
            Field(
                description="The options' columns in order, or the one that holds a list of them."
            ),
        ],
    ),
]


class ScaleForm(ConfigSection):
    """How the scales of kind scale look, where the rows do not say (docs/scales.md)."""

    labels: Distinct[Text] = Field(
        [], description="Labels of the points in order; empty where each row has its own."
    )
    missing_options: Distinct[Text] = Field(
        [],
        description=(
            "Options without a value, such as Don't know or Refused. They come after the points."
        ),
    )
    first: int = Field(1, ge=-10, le=10, description="Number of the first option.")
    marks: Literal["numbers", "letters"] = Field(
        "numbers", description="What stands before each option in the prompt."
    )
    order: Literal["ascending", "descending"] = Field(
        "ascending",
        description="Whether the lowest point comes first (ascending) or last (descending).",
    )


class NumberForm(ConfigSection):
    """What the answers of kind number are, where the rows do not say (docs/scales.md)."""

    unit: Text | None = Field(
        None, description="What is counted or measured, such as kg, % or $; null for nothing."
    )
    lowest: float | None = Field(None, description="The least that counts; null for no limit.")
    highest: float | None = Field(None, description="The most that counts; null for no limit.")


class ItemSource(ConfigSection):
    """Where items come from."""

    format: Literal["items", "mmlu", "ethics", "recording"] = Field(
        description=(
            "items (docs/own_data.md), mmlu (the original layout or the hub's), ethics, or recording, "
            "the questions that recorded answers come with (docs/recorded.md)."
        )
    )
    dataset: str = Field(
        description="Entry of `datasets`, or of `recordings` for format recording."
    )
    kind: Literal["list", "choice", "scale", "number", "text", "mixed"] = Field(
        "choice",
        description=(
            "Kind of the items, for formats items and recording. list asks for names, choice for a "
            "letter, scale for one of ordered points, number for a number, text for anything. mixed is "
            "a file of lists and choices with a column kind, in which an empty cell is a choice; in a "
            "recording, questions with options are choices, others lists."
        ),
    )
    subjects: list[str] = Field([], description="MMLU subjects or ETHICS subsets; empty for all.")
    item_ids: Distinct[str] = Field([], description="Items to keep, in this order; empty for all.")
    shots: int = Field(
        0,
        ge=0,
        le=100,
        description=(
            "Worked examples before an MMLU question, as HELM orders them; 0 for the bare question."
        ),
    )
    list_length: int | None = Field(
        None,
        ge=1,
        le=100,
        description=(
            "Options that each list question asks for, for format recording. Null reads the number from "
            "the prompt."
        ),
    )
    letter_instruction: bool = Field(
        True, description="HELM's line for instruction-tuned models, with shots."
    )
    candidates: str | None = Field(
        None, description="CSV of item_id, candidate; what an embedded model chooses from."
    )
    rows: RowRule = Field(
        {},
        description=(
            "Rows that are questions, by the values of columns, for formats items and recording. A list "
            "allows several; null is an empty cell."
        ),
    )
    columns: ItemColumns = Field(
        {},
        description="Columns whose names differ from those in docs/own_data.md, for format items.",
    )
    scale: ScaleForm = Field(default_factory=ScaleForm)
    number: NumberForm = Field(default_factory=NumberForm)
    gold: Literal["auto", "letter", "text", "from_0", "from_1"] = Field(
        "auto",
        description=(
            "What the column of the right option holds, for format items and recordings of format "
            "table. auto is its letter or its text. from_0 and from_1 are its number, counted from 0 or "
            "1."
        ),
    )


class _WorkedExamples(ConfigSection):
    """Worked examples around a question."""

    shots: int = Field(examples=[5], ge=1, le=100, description="Worked examples.")


class Wording(ConfigSection):
    """How questions are put otherwise."""

    typos: float = unsaid(
        le=1, gt=0, description="Share of letters that are hit by a slip on the keyboard."
    )
    misspellings: float = unsaid(
        le=1, gt=0, description="Share of the words with a common misspelling that are misspelt."
    )
    casual: Literal[True] = unsaid(
        description="Lower case, hardly any punctuation, words of chats."
    )
    fragment: Literal[True] = unsaid(
        description="Without politeness and without sentences that only lead to the question."
    )
    dialect: Text = unsaid(description="Dialect of the table whose features are put in.")
    scaffold: Literal["raw", "instruction", "think"] | _WorkedExamples = unsaid(
        description=(
            "What stands around a choice question. raw is question and options alone, instruction adds "
            "a request for a letter, think a request for steps, and shots that many worked examples of "
            "MMLU."
        )
    )
    translated: ItemSource = unsaid(
        description="Source of the same questions in another language, by the same item ids."
    )
    names: Text = unsaid(
        description="Group of the table whose names fill the slots of the questions."
    )
    table: Text | None = Field(
        None,
        description=(
            "CSV file of the kind's words, features or names; null for the one that comes with the "
            "workflow."
        ),
    )
    seed: int = Field(
        0, ge=0, le=4_294_967_295, description="Seed of what is drawn, for each question by itself."
    )


class _SourceTask(ConfigSection):
    """A set of questions that are read from files."""

    sources: list[ItemSource] = Field(
        min_length=1, description="Where the items come from, in order."
    )
    runs: int = Field(
        examples=[20],
        ge=1,
        le=1_000_000,
        description=(
            "Offline: how often each item is asked. With a context: how many puppets are asked each "
            "item."
        ),
    )
    max_tokens: int = Field(
        examples=[300], ge=1, le=1_000_000, description="Longest answer, in tokens."
    )
    leaderboard: Text | None = Field(
        None,
        description=(
            "CSV file of models and their scores on these questions (docs/own_data.md). Figure 3 shows "
            "it, and the table ranks has the places that the runs would take. null for none."
        ),
    )
    leaderboard_note: Line | None = Field(
        None,
        description=(
            "Sentence printed on figure 3 where the questions are not those of the leaderboard. The "
            "leaderboard then only gives the scale, and no places are computed."
        ),
    )


class _VariantTask(ConfigSection):
    """A task's questions, put otherwise."""

    of: str = Field(description="Task whose questions are put otherwise.")
    put: Wording = Field(description="How its questions are put (docs/practice.md).")
    runs: int = unsaid(
        ge=1,
        le=1_000_000,
        description="As for other tasks; that of the task in `of` where it is missing.",
    )
    max_tokens: int = unsaid(
        ge=1,
        le=1_000_000,
        description="As for other tasks; that of the task in `of` where it is missing.",
    )
    sources: list[Any] = unsaid(description="Filled in from the task in `of`.")
    leaderboard: Text | None = Field(
        None, description="As for other tasks. That of the task in `of` is not taken over."
    )
    leaderboard_note: Line | None = Field(None, description="As for other tasks.")


def _class_of_task(task: Any) -> str:
    fields = task if isinstance(task, dict) else getattr(task, "model_fields_set", ())
    return _VariantTask.__name__ if "of" in fields else _SourceTask.__name__


TaskEntry = Annotated[
    Annotated[_SourceTask, Tag(_SourceTask.__name__)]
    | Annotated[_VariantTask, Tag(_VariantTask.__name__)],
    Discriminator(_class_of_task),
]
