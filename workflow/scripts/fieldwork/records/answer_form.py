"""Rows of the tables of the form of answers: what a screen reader or a tired reader meets."""

from typing import Literal

from fieldwork.records.columns import column, table
from fieldwork.records.shared import ConditionEstimate

FormMeasure = Literal[
    "words",
    "sentences",
    "characters",
    "reading_ease",
    "grade",
    "list_items",
    "list_depth",
    "tables",
    "headings",
    "emoji",
    "decorations",
    "bold_spans",
    "capital_words",
    "links",
    "bare_links",
    "images",
    "images_without_words",
    "code_blocks",
]


@table(
    "answers/forms/{model}/{task}/{condition}.parquet",
    "model, task, condition, item_id, puppet_id NULLS FIRST, replicate",
)
class FormReading:
    """The form of an answer that has a text."""

    model: str = column("model name in the config")
    task: str = column("task")
    condition: str = column("condition; `field` for real users")
    item_id: str = column("the item")
    puppet_id: str | None = column("the puppet or participant, NULL offline")
    replicate: int = column("repeat index")
    is_truncated: bool = column("it is cut off, so that it would be longer")
    characters: int = column("characters of the answer, reasoning left out")
    words: int = column("words, in scripts without spaces by length")
    sentences: int = column("sentences; an entry of a list ends one, a heading is none")
    is_english: bool = column("its prose is English, by its letters and its function words")
    reading_ease: float | None = column("Flesch's reading ease of its prose, NULL with a reason")
    grade: float | None = column("Flesch-Kincaid grade of its prose, NULL with a reason")
    reason: str | None = column("why there are no indices of readability")
    emoji: int = column("emoji and pictographs, a joined sequence counted once")
    decorations: int = column("lines of symbols alone, and symbols three times or more in a row")
    capital_words: int = column("words of four letters or more in capitals")
    list_items: int | None = column(
        "entries of lists; NULL, as all below, for real users: a pasted page keeps no markup"
    )
    list_depth: int | None = column("how deep lists are nested: 1 for a plain list, 0 without one")
    tables: int | None = column("tables of Markdown")
    headings: int | None = column("headings of Markdown")
    bold_spans: int | None = column("spans in bold type")
    links: int | None = column("links, bare ones included")
    bare_links: int | None = column("links whose words are their address")
    images: int | None = column("images of Markdown or HTML")
    images_without_words: int | None = column("of these, images without a word of alternative text")
    code_blocks: int | None = column("fenced blocks of code")


@table(
    "metrics/answer_form.parquet",
    'model, task, condition, variable NULLS FIRST, "group" NULLS FIRST, measure',
)
class AnswerForm(ConditionEstimate):
    """What a reader meets in the answers of a condition, or of a group of participants."""

    variable: str | None = column("the variable that defines the groups, NULL for everyone")
    group: str | None = column("the group of participants, NULL for everyone")
    measure: FormMeasure = column("a column of `answers/forms`")
    mean: float | None = column("mean over answers, each item alike; NULL with a reason")
    ci_low: float | None = column("lower end of its 95 % interval over units")
    ci_high: float | None = column("upper end of its 95 % interval over units")
    versus: str = column("what it is compared with: the baseline's name, or `other groups`")
    difference: float | None = column("mean - the mean of `versus`, on items that both answer")
    difference_low: float | None = column("lower end of its 95 % interval")
    difference_high: float | None = column("upper end of its 95 % interval")
    p_value: float | None = column(
        "test that the difference is 0, two-sided; for `words` and `reading_ease` alone"
    )
    p_holm: float | None = column("`p_value` corrected over all tests of the table (Holm)")
    n_answers: int = column("answers behind the mean, the first of each user to an item")
    n_units: int = column("users behind them; without users as many as `n_answers`")
    n_items: int = column("their items")
    n_without: int = column("further answers without a value, as those too short for an index")
    n_truncated: int = column("answers cut off, whose length is a lower bound")
    unit: str = column("unit of resampling: `puppet` or `response`")
    reason: str | None = column("why something is NULL")
