"""Rows of the table of the form of answers: what a screen reader or a tired reader meets."""

from fieldwork.records.columns import Name, column, table


@table(
    "answers/forms/{model}/{task}/{condition}.parquet",
    "model, task, condition, item_id, puppet_id NULLS FIRST, replicate",
)
class FormReading:
    """The form of an answer that has a text."""

    model: Name = column("model name in the config")
    task: Name = column("task")
    condition: Name = column("condition; `field` for real users")
    item_id: Name = column("the item")
    puppet_id: Name | None = column("the puppet or participant, NULL offline")
    replicate: int = column("repeat index")
    is_truncated: bool = column("it is cut off, so that it would be longer")
    characters: int = column("characters of the answer, reasoning left out")
    words: int = column("words, in scripts without spaces by length")
    sentences: int = column("sentences; an entry of a list ends one, a heading is none")
    is_english: bool = column("its prose is English, by its letters and its function words")
    reading_ease: float | None = column("Flesch's reading ease of its prose, NULL with a reason")
    grade: float | None = column("Flesch-Kincaid grade of its prose, NULL with a reason")
    reason: Name | None = column("why there are no indices of readability")
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
