"""Captions show the notes of a study as they are: no markup, no included file, no link that runs."""

from html import unescape
from pathlib import Path
from types import SimpleNamespace

from docutils.core import publish_parts
from jinja2 import Environment, StrictUndefined

from fieldwork.measures import questions

CAPTIONS = sorted((Path(__file__).resolve().parents[2] / "workflow" / "report").glob("*.rst"))
NOTES = [
    "Embedded model, a sentence-encoder baseline and not a chat model",
    ".. include:: /etc/hostname",
    ".. raw:: html",
    "`here <javascript:run>`_ and **bold** |x| [1]_ <img src=x onerror=run> \\ {{ 7 * 7 }}",
    "https://example.org/a_b",
]


def body(caption: Path, note: str) -> str:
    """The caption as Snakemake's report makes it."""
    sentences = {question.title: question.sentence for question in questions().values()}
    params = SimpleNamespace(
        drawing=SimpleNamespace(note=note),
        note=note,
        leaderboard=note,
        leaderboard_note=note,
        sentences=sentences,
    )
    snakemake = SimpleNamespace(params=params, config={"study": {"name": "s"}})
    text = Environment(undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    caption_text = text.from_string(caption.read_text(encoding="utf-8")).render(snakemake=snakemake)
    return str(publish_parts(caption_text, writer="html")["body"])


def test_a_note_is_shown_as_it_is_and_captions_are_sound() -> None:
    with_note = [c for c in CAPTIONS if "note" in c.read_text(encoding="utf-8")]
    assert len(with_note) > 5
    wrong = [
        f"{caption.stem}: {note}"
        for note in NOTES
        for caption in with_note
        if note not in unescape(html := body(caption, note))
        or any(tag in html for tag in ("<a ", "<img", "<strong>bold", "system-message"))
    ]
    # and those without a note
    wrong += [c.stem for c in CAPTIONS if "system-message" in body(c, NOTES[0])]
    assert not wrong, wrong
