"""What does a reader meet in answers? Their length, how hard they read, and what is laid out in them."""

from collections.abc import Iterator

from fieldwork.estimates.declaration import Measure, ReaderQuestion

_OF_ALL = {
    "words": "words, in scripts without spaces by length",
    "sentences": "sentences; an entry of a list ends one, a heading is none",
    "characters": "characters, reasoning left out",
    "emoji": "emoji and pictographs, a joined sequence counted once",
    "decorations": "lines of symbols alone, and symbols three times or more in a row",
    "capital_words": "words of four letters or more in capitals",
}
_OF_PROSE = {
    "reading_ease": "Flesch's reading ease of English prose",
    "grade": "Flesch-Kincaid grade of English prose",
}
_OF_MARKUP = {
    "list_items": "entries of lists",
    "list_depth": "how deep lists are nested",
    "tables": "tables of Markdown",
    "headings": "headings of Markdown",
    "bold_spans": "spans in bold type",
    "links": "links, bare ones included",
    "bare_links": "links whose words are their address",
    "images": "images of Markdown or HTML",
    "images_without_words": "images without a word of alternative text",
    "code_blocks": "fenced blocks of code",
}


def _measures() -> Iterator[Measure]:
    for absence, meanings in (
        ("has a text", _OF_ALL),
        ("has enough English prose", _OF_PROSE),
        ("keeps its markup, as people paste a page", _OF_MARKUP),
    ):
        for name, meaning in meanings.items():
            yield Measure(
                name=name,
                title=name.replace("_", " ").capitalize(),
                meaning=meaning,
                of=name,
                absence=absence,
                is_tested=name in ("words", "reading_ease"),
            )


QUESTION = ReaderQuestion(
    title="The form of answers",
    sentence="Are answers longer, or harder to read, with a user? Means over prompts of what a reader "
    "meets in them.",
    source="answers/forms",
    references=("baseline",),
    has_groups=True,
    measures=[*_measures()],
)
