"""Files of conversations, of other data and of recorded answers, and what is made of them."""

from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from fieldwork.sections.base import (
    ColumnRoles,
    ConfigSection,
    Day,
    Distinct,
    RowRule,
    Text,
    Texts,
    unsaid,
)


class _FileLocation(ConfigSection):
    """Files on this machine (`path`), or files of a Hugging Face repository at a pinned revision."""

    path: Text | None = unsaid(description="File, folder or glob; wins over `repo`.")
    repo: str = unsaid(
        description="Repository on the hub, or on the mirror that HF_ENDPOINT names."
    )
    revision: str = unsaid(description="Commit of the repository.")
    files: list[str] = unsaid(description="Files of the repository, as glob patterns.")
    license: Text | None = Field(
        None,
        description=(
            "Licence of the files, best by its SPDX id such as CC-BY-4.0. It decides whether their "
            "texts are in an archive of the study (docs/archive.md). Null where nobody knows it."
        ),
    )

    @model_validator(mode="after")
    def _require_place(self) -> Self:
        wants = ({"path"}, {"repo", "revision", "files"})
        if not any(names <= self.model_fields_set for names in wants):
            raise PydanticCustomError(
                "place",
                "'path' is a required property (or repo, revision and files); add the line `path: "
                "resources/my_data.jsonl` there, with the file, folder or pattern that you have",
            )
        return self


class DatasetEntry(_FileLocation):
    """Other data, such as a persona source or a benchmark."""


class FiltersSection(ConfigSection):
    """Which conversations of a corpus are used. funnel.csv counts what each filter leaves."""

    min_user_turns: int = Field(5, ge=1, le=100_000, description="Fewest messages by the user.")
    languages: list[str] = Field(
        [], description="Languages as the corpus names them; empty for all."
    )
    exclude_toxic: bool = Field(
        True, description="Leave out conversations the corpus flags as toxic."
    )
    exclude_redacted: bool = Field(
        True, description="Leave out conversations from which personal data was removed."
    )
    models: list[str] = Field(
        [], description="Models that answered, as glob patterns; empty for all."
    )
    started_after: Day | None = Field(None, description="First day, ISO date; null for no limit.")
    started_before: Day | None = Field(
        None, description="First day after the range, ISO date; null for no limit."
    )
    max_tokens: int | None = Field(
        None,
        ge=1,
        le=10_000_000,
        description=(
            "Longest conversation, in estimated tokens; null for no limit. A history that does not fit "
            "`token_budget` is left out of a context, and leaves it empty where it was the only one."
        ),
    )


class _CorpusFilters(FiltersSection):
    """Settings of `filters` that differ for this corpus."""

    fills: ClassVar[bool] = False


CorpusColumns = Annotated[
    dict[str, Any],
    ColumnRoles(
        "CorpusColumns",
        Text | None,
        {
            "conversation": "The conversation's id.",
            "user": "Who the user is; without it each conversation is a user.",
            "messages": "The list of messages, where a row is a conversation.",
            "role": "Who speaks.",
            "text": "Text of the message.",
            "prompt": "What the user says, where a row is an exchange.",
            "prompt_input": "What the prompt is about; it is put below it.",
            "response": "What the assistant answers to `prompt`.",
            "time": "Time of the message.",
            "order": "Place in the conversation, a number.",
            "message": "The message's id.",
            "parent": "The message that it follows; the path to the last one is the conversation.",
            "leaf": "The last message of the path; without it the latest.",
            "plain_text": "Text of a message whose `text` has none.",
            "model": "Model that answered.",
            "language": "The language, for `filters.languages`.",
            "toxic": "A flag, for `filters.exclude_toxic`.",
            "redacted": "A flag, for `filters.exclude_redacted`.",
        },
    ),
]


class CorpusEntry(_FileLocation):
    """A corpus of conversations."""

    format: (
        Literal["messages", "chatgpt", "wildchat", "wildchat_4_8m", "lmsys", "oasst2"] | None
    ) = Field(
        None,
        description=(
            "Format of the files (docs/own_data.md). messages is a table or JSON of conversations or of "
            "messages; chatgpt is an export. Null recognises the format, and the log says which one."
        ),
    )
    ids: Literal["secret", "public"] = Field(
        "secret",
        description=(
            "secret makes pseudonyms with study.key_file. public makes them with a key that everybody "
            "has, so that the same seed draws the same users everywhere; it is for published corpora, "
            "whose ids name nobody."
        ),
    )
    columns: CorpusColumns = Field(
        {},
        description=(
            "Columns of files of format messages, by what they hold. A column that is not named here is "
            "recognised by its name. Null means that the file has none."
        ),
    )
    roles: dict[str, Literal["user", "assistant", "system"] | None] = Field(
        {},
        description=(
            "The role that each speaker's name in the files stands for, where the name is not a usual "
            "one. Null leaves the messages out."
        ),
    )
    filters: _CorpusFilters = unsaid()


RecordingColumns = Annotated[
    dict[str, Any],
    ColumnRoles(
        "RecordingColumns",
        Text | None,
        {
            "answer": "Text of the answer.",
            "question": "The bare question.",
            "prompt": "The whole message that was sent.",
            "options": "The list of options.",
            "gold": "The right option; of a table as `gold` of the task's source says.",
            "subject": "What the question is about.",
            "model": "Model that answered.",
            "user": "Who was before the question; each value is a puppet.",
            "replicate": "What tells repeats of an item and user apart.",
            "error": "Why a call failed; empty where it did not.",
            "finish_reason": "Why the answer ended.",
            "returned_model": "Model that the provider named.",
            "temperature": "Sampling temperature.",
            "input_tokens": "Tokens of the prompt.",
            "cached_tokens": "Of these, read from a cache.",
            "output_tokens": "Tokens of the answer.",
            "reasoning_tokens": "Of these, hidden reasoning.",
            "latency_s": "Seconds that the call took.",
            "started_at": "Time of the call, ISO or seconds since 1970.",
        },
        item=Annotated[
            Text | Texts | None,
            Field(description="The item's id; several columns are joined with a slash."),
        ],
    ),
]


class RecordingForm(ConfigSection):
    """How files of answers are read."""

    format: Literal["table", "inspect", "lm_eval", "helm", "every_eval_ever"] = Field(
        description=(
            "Format of the files. table is CSV, Excel, JSON Lines or Parquet with an answer a row; the "
            "others are logs of Inspect, samples of lm-evaluation-harness, scenario states of HELM, and "
            "instance files of every_eval_ever."
        )
    )
    columns: RecordingColumns = Field(
        {},
        description=(
            "Columns by what they hold, or paths such as metadata.user in logs. For a table all that it "
            "has; for logs those that differ from the usual ones. Null takes one away."
        ),
    )
    rows: RowRule = Field(
        {},
        description=(
            "Rows that count, by the values of columns. A list allows several; null is an empty cell."
        ),
    )
    blank_users: Distinct[str] = Field(
        [],
        description=(
            "Values of the user that stand for a call without a user; an empty one always does."
        ),
    )
    options: Distinct[Text] = Field(
        [],
        description=(
            "Options of every choice question where the files do not name them, in letter order. Quote "
            '"Yes" and "No", which YAML takes for true and false.'
        ),
    )


class RecordingEntry(_FileLocation, RecordingForm):
    """Answers that were collected elsewhere."""

    conditions: dict[str, RowRule] = Field(
        {},
        description=(
            "Rows of each condition, as in rows. A condition that is not named has all rows without a "
            "user (context none), or with one (context recorded)."
        ),
    )
    tasks: dict[str, RowRule] = Field(
        {},
        description=(
            "Rows of each task, as in rows. A task that is not named has the rows of its items."
        ),
    )
    ids: Literal["secret", "public"] = Field(
        "secret",
        description=(
            "secret makes pseudonyms of users with study.key_file. public keeps the names of the files, "
            "for personas that are nobody."
        ),
    )
    match: Literal["id", "question"] = Field(
        "id",
        description=(
            "How answers are matched to items of other files. id takes equal ids. question takes the "
            "question's text, or a prompt that holds it."
        ),
    )
    wording: Literal["same", "any"] = Field(
        "same",
        description=(
            "same refuses answers to a prompt of another wording than the study's. any counts them, "
            "with a warning."
        ),
    )


class EmbeddingSection(ConfigSection):
    """How conversations become vectors, for the condition context `rag`."""

    model: str = Field(
        "all-MiniLM-L6-v2",
        description=(
            "Sentence-transformers name or folder; all-MiniLM-L6-v2 comes with the environment."
        ),
    )
    text: Literal["user_turns", "first_user_turn", "all_turns"] = Field(
        "user_turns", description="Which text of a conversation is embedded."
    )
    precision: Literal["fp32", "bf16", "auto"] = Field(
        "fp32",
        description=(
            "fp32, or bf16 where the processor or GPU multiplies bfloat16; elsewhere bf16 is slow. auto "
            "tries both once and takes the faster one for the whole study; resources/precision/ keeps "
            "which."
        ),
    )
    batch_size: int = Field(
        1,
        ge=1,
        le=4096,
        description=(
            "Texts encoded together. More than 1 can be faster and changes the last bits of a vector."
        ),
    )
    device: str | None = Field(
        None, description="Torch device such as cuda or cpu; null takes a GPU where there is one."
    )
    shards: int = Field(
        2,
        ge=1,
        le=64,
        description=(
            "Jobs that embed the corpus in parallel. Changing the number computes nothing again."
        ),
    )
    threads: int = Field(
        1,
        ge=1,
        le=1024,
        description=(
            "Processor threads of a job that encodes or searches. Another number changes the last bits "
            "of a vector."
        ),
    )


class _TextColumn(ConfigSection):
    """Where the texts of a part of a profile stand."""

    dataset: str = Field(description="Entry of `datasets`.")
    column: Text | None = Field(
        None,
        description=(
            "Column or key with the text. Each entry of a list counts. Null for a text file with one "
            "text a line, or a table of one column."
        ),
    )


class ProfilesSection(ConfigSection):
    """How profile puppets are made."""

    personas: _TextColumn = Field(description="Persona descriptions; each profile has one.")
    sentences: _TextColumn = Field(description="Profile sentences.")
    sentences_per_profile: int = Field(
        5, ge=0, le=1000, description="Sentences in a profile, none twice."
    )
    template: str = Field(
        "resources/templates/profile.txt", description="Text file with $persona and $sentences."
    )
