"""Which language a text is told to be in, and that names alone are told nothing."""

import csv
import random
from collections import defaultdict
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from fieldwork.field.language import is_other_language, language_of

ROOT = Path(__file__).resolve().parents[3]
REAL = ROOT.parent / "shared/data"


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Here are five haircuts that might suit you well this summer.", "en"),
        ("Aquí tienes cinco cortes de pelo que podrían quedarte muy bien este verano.", "es"),
        ("Hier sind fünf Frisuren, die dir diesen Sommer gut stehen könnten.", "de"),
        ("Voici cinq coupes de cheveux qui pourraient bien vous aller cet été.", "fr"),
        ("Вот пять стрижек, которые могут вам подойти этим летом.", "ru"),
        ("以下是今年夏天可能适合您的五种发型，希望您喜欢这些建议，祝您愉快。", "zh"),
        ("この夏あなたに似合うかもしれない髪型を五つご紹介します。", "ja"),
    ],
)
def test_a_sentence_shows_its_language(text: str, language: str) -> None:
    assert language_of(text) in {language, None}
    assert not is_other_language(text, language)
    assert is_other_language(text, "fi")
    assert is_other_language(text, "en") == (language != "en")


def test_lists_of_candidates_are_told_no_other_language() -> None:
    draw, names = random.Random(5), defaultdict(list)
    with (ROOT / "resources/tasks/candidates.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            names[row["item_id"]].append(row["candidate"])
    assert len(names) == 9
    for group in names.values():
        for _ in range(100):
            numbered = enumerate(draw.sample(group, 5), 1)
            text = "\n".join(f"{i}. {name}" for i, name in numbered)
            assert not is_other_language(text, "en"), text


@pytest.mark.real_data
@pytest.mark.skipif(not REAL.is_dir(), reason=f"{REAL} is not there")
def test_real_messages_of_other_languages_are_told_from_english() -> None:
    """Messages of 100 characters or more; seven that are labelled English are in other languages."""
    table = pq.read_table(REAL / "conversations/oasst2_messages_with_user_id.parquet")
    marks: dict[bool, list[bool]] = {True: [], False: []}
    for row in table.select(["lang", "text"]).to_pylist():
        if len(row["text"]) >= 100:
            marks[row["lang"] == "en"].append(is_other_language(row["text"], "en"))
    assert min(map(len, marks.values())) > 300
    assert sum(marks[True]) <= 7
    assert sum(marks[False]) >= 0.97 * len(marks[False])
