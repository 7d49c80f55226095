"""Rows of the tables of parsed answers, and why an answer has no reading."""

from collections.abc import Mapping
from typing import Literal

from fieldwork.records.columns import Name, column, table
from fieldwork.records.generation import OptionProbability, Outcome
from fieldwork.records.shared import AnswerRow
from fieldwork.records.tasks import ItemKind

REFUSAL = "refused"
EMPTY = "empty"
NO_LIST = "no list found"
NO_LETTER = "no letter found"
NO_POINT = "no point of the scale found"
NO_NUMBER = "no number found"
SEVERAL_NUMBERS = "several numbers"
OUT_OF_RANGE = "outside the limits"
OTHER_UNIT = "another unit"
RANGE = "a range"
AMBIGUITY = "ambiguous"
NO_ANSWER = "a person finds no answer"

OUTCOME_REASONS: Mapping[Outcome, str] = {
    "refused": REFUSAL,
    "filtered": "filtered by the provider",
    "empty": EMPTY,
    "failed": "failed",
}
"""Outcomes of a call that leave nothing to read."""

REFUSALS = frozenset({REFUSAL, OUTCOME_REASONS["filtered"]})
"""Reasons for which an answer has nothing to count in it although it is one."""


UNKNOWN = "unknown"
"""The answer category of a response whose letter cannot be read."""

Reader = Literal[
    "correction",
    "bare letter",
    "stated letter",
    "lone letter",
    "marked option",
    "verdict",
    "marked line",
    "conclusion",
    "aside",
    "option text",
    "only letter",
    "bare number",
    "stated point",
    "range",
    "opening number",
    "stated number",
    "worked-out number",
    "only number",
    "first number",
    "last number",
    "numbered list",
    "table",
    "bulleted list",
    "headings",
    "JSON",
    "one name",
    "numbers in a line",
    "bare lines",
    "commas",
]
"""What can read a reply: a person's correction, or a reader of letters, points, numbers or lists."""


@table(
    "answers/answers.parquet", "model, task, condition, item_id, puppet_id NULLS FIRST, replicate"
)
class Answer(AnswerRow):
    """A parsed answer."""

    kind: ItemKind = column("kind of the item")
    outcome: Outcome = column("outcome of the response")
    raw_items: list[str] | None = column(
        "list: options as written, NULL where none can be read", holds="words of answers"
    )
    items: list[str] | None = column(
        "list: canonical options that count: no repeats, in order, as many as asked for",
        holds="words of answers",
    )
    letter_strict: Name | None = column("choice: HELM's reading, NULL where it finds no letter")
    letter: Name | None = column(
        "choice: the flexible reading, NULL where it finds no letter; scale: letter of the option"
    )
    reason: Name | None = column("why nothing could be read, NULL where something was")
    n_asked: int | None = column(
        "list: options that the prompt asks for, NULL without a number", default=None
    )
    n_items: int | None = column(
        "list: distinct options it named, before those beyond the number asked for were left out",
        default=None,
    )
    option_probabilities: list[OptionProbability] | None = column(
        "choice: probability of each letter, in all 1; list: of each candidate to be named first, as the "
        "model spells it; NULL where the model does not state them, or letters have less than 0.9 of it",
        default=None,
        holds="words of answers",
    )
    read_by: Reader | None = column(
        "reader that read it, such as `stated letter`, `numbered list`, `only number` or `correction`; "
        "NULL where nothing was read",
        default=None,
    )
    correction: Name | None = column(
        "SHA-256 of the reply, where a person's correction set the reading (`parsing.overrides`); NULL "
        "where the parser did",
        default=None,
    )
    value: float | None = column(
        "scale: value of the point, turned round for a reversed item; number: the number; NULL for none",
        default=None,
    )
    is_counted: bool | None = column(
        "whether it counts where answers have to be independent: of a user's answers to the item the "
        "first (of lists the first with an option, of numbers the first that is one), and each without a "
        "user",
        default=None,
    )
    letter_share: float | None = column(
        "choice: probability of the letters together, before they are brought to 1; the rest are other "
        "words; NULL where the answer states none",
        default=None,
    )
    unlisted_share: float | None = column(
        "choice: probability left for letters that the answer does not list, as servers list only the "
        "likeliest tokens; 0 where it lists all, NULL where it states none",
        default=None,
    )
    is_value_counted: bool | None = column(
        "scale, number: whether it counts in means, medians and differences of values: of a user's "
        "answers to the item the first with a value, and each without a user",
        default=None,
    )


@table("answers/items.csv", name="merged_items")
class MergedItem:
    """How one written option became a canonical one."""

    task: Name = column("task")
    item_id: Name = column("the item")
    raw: str = column("option as written", holds="words of answers")
    canonical: str = column("name it is counted under", holds="words of answers")
    rule: Name = column("`override`, `alias`, `exact` or `near`: what decided")
    n: int = column("times it was written so")
