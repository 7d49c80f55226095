"""Texts with planted parts that mean something, for the tests of every kind of variant."""

import csv
from collections.abc import Sequence
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st

HOME = Path(__file__).resolve().parents[4]
TABLES = HOME / "resources/variants"
REAL = HOME.parent / "shared/data"
STEADY = settings(max_examples=60, deadline=None)
"""Enough texts to meet every kind of part, and no failure for a busy machine."""

# fmt: off
PROTECTED = (
    "`x_max = please`", "```py\nprint('are you')\n```", "https://example.org/are-you?x=1&y=2",
    "www.example.org/please", "ann.lee@example.org", "-3.5", "+7", "12 mg", "3.5 km/h", "40%",
    "$1,200", "€5.50", "1/2", "٣٤", "seven", "Twenty", "hundred", "$a_i + b$",
    r"\(x^2 + please\)", r"\[E = mc^2\]", r"\frac{a}{b}", "x=3", "a<b", "p>0.05", "x_max", "n^2",
    "H2O", "{name}", "{{city}}", "[NAME]", "<name>", "(B)", "(iv)", "NASA", "DNA", "HIV", "NaCl",
    "config.yaml", "/usr/local/bin", "--dry-run", '"are you there"', "“I know it is”", "f(x, y)",
    "NOT", "EXCEPT",
)
NEGATIONS = (
    "not", "no", "never", "don't", "doesn’t", "isn't", "without", "except", "least", "neither",
    "не", "नहीं", "لا", "nicht", "jamais", "않은",
)
FILLERS = (
    "please", "because", "you", "are", "receive", "The", "there are", "their",
    "Which of the following", "is", "she is going", "they", "know", "I", "a", "A", "those people",
    "question", "government", "What is the", "Hello,", "thanks", "could you tell me", "house",
    "Paris", "über", "café", "naïve", "молоко", "Вода", "θάλασσα", "Ψυχή", "שלום", "מדינה",
    "كتاب", "مدينة", "विज्ञान", "প্রশ্ন", "ការ", "한국어", "질문은", "ประเทศไทย",
    "城市在哪里", "これは何ですか", "ሰላም", "Հայաստան",
)
# fmt: on
JOINTS = (" ", " ", " ", ", ", ". ", "? ", "! ", "; ", "\n", "。", "？ ", "؟ ", "। ", " - ", ": ")

fillers = st.sampled_from(FILLERS)
planted = st.sampled_from(PROTECTED)
spaced_joints = st.sampled_from([" ", "  ", "\n", ", ", ". ", "? "])


@st.composite
def texts_with(
    draw: st.DrawFn, parts: st.SearchStrategy[str], least: int = 1
) -> tuple[str, list[str]]:
    """A text of filler words with parts among them, and the parts in order."""
    pieces: list[str] = []
    kept: list[str] = []
    for _ in range(draw(st.integers(least, 6))):
        pieces += draw(st.lists(fillers, min_size=1, max_size=3))
        part = draw(parts)
        kept.append(part)
        pieces.append(part)
    pieces += draw(st.lists(fillers, max_size=3))
    joints = draw(st.lists(spaced_joints, min_size=len(pieces), max_size=len(pieces)))
    text = "".join(piece + joint for piece, joint in zip(pieces, joints, strict=True))
    if draw(st.booleans()):
        text += "\nA. Paris\nB) London\n(C) Rome"
        kept += ["A.", "B)", "(C)"]
    return text, kept


protected_texts = texts_with(planted)
negated_texts = texts_with(st.sampled_from(NEGATIONS))
mixed_texts = st.one_of(
    protected_texts.map(lambda pair: pair[0]),
    st.lists(
        st.one_of(fillers, planted, st.sampled_from(NEGATIONS), st.sampled_from(JOINTS)),
        max_size=25,
    ).map("".join),
    st.lists(
        st.tuples(st.one_of(fillers, planted), st.sampled_from(JOINTS)).map("".join), max_size=15
    ).map("".join),
    st.text(max_size=60),
)


def survive(parts: Sequence[str], text: str) -> bool:
    """Whether parts stand in a text in their order, apart from one another."""
    place = 0
    for part in parts:
        place = text.find(part, place)
        if place < 0:
            return False
        place += len(part)
    return True


def mmlu_questions() -> list[str]:
    """The questions of the real extracts, in order of their files."""
    questions: list[str] = []
    for path in sorted(REAL.glob("mmlu/*_test.csv")):
        with path.open(encoding="utf-8", newline="") as file:
            questions += [row[0] for row in csv.reader(file) if row]
    return questions
