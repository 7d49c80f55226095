"""The parsers on answers that models really gave, against oracles that share no code with them."""

import csv
import gzip
import re
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pytest

from fieldwork.parsing.choices import parse_choice
from fieldwork.parsing.lists import parse_list

DATA = Path(__file__).parents[4] / "shared" / "data"
OUTPUTS = DATA / "mmlu_model_outputs"

pytestmark = [
    pytest.mark.real_data,
    pytest.mark.skipif(not DATA.is_dir(), reason=f"the real extracts are not at {DATA}"),
]


def rows(path: Path, columns: list[str]) -> list[dict[str, Any]]:
    parquet = pytest.importorskip("pyarrow.parquet")
    return list(parquet.read_table(path, columns=columns).to_pylist())


def csv_rows(path: Path) -> list[dict[str, str]]:
    with gzip.open(path, "rt", encoding="utf-8", newline="") as handle:
        return list(csv.DictReader(handle))


def agreement(pairs: list[tuple[str | None, str]]) -> float:
    return sum(ours == theirs for ours, theirs in pairs) / len(pairs)


def test_strict_letters_give_the_published_helm_scores() -> None:
    """Exact match of the strict letter is HELM's score, for every model and subject in both files."""
    published_scores = {
        (row["model_id"], row["subject"]): row["em"]
        for row in csv_rows(DATA / "helm" / "helm_mmlu_subject_scores.csv.gz")
    }
    pairs: dict[tuple[str, str], list[tuple[str | None, str]]] = defaultdict(list)
    columns = ["model", "subject", "completions", "gold"]
    for row in rows(OUTPUTS / "helm_raw_mmlu_5models_9subjects.parquet", columns):
        letter = parse_choice(row["completions"][0]).strict
        pairs[row["model"], row["subject"]].append((letter, row["gold"]))
    assert len(pairs) >= 40
    for pair, letters in pairs.items():
        assert agreement(letters) == pytest.approx(float(published_scores[pair]), abs=0.00051), pair


STATEMENT = re.compile(r"answer is \(?([A-J])\)?(.{0,12})")


def single_statement(text: str, letters: str) -> str | None:
    """The one letter of all 'answer is (X)' in the text; None for none, several, or 'X and Y'."""
    statements = STATEMENT.findall(text)
    several = any(re.search(r"[A-J]\b", rest) for _, rest in statements)
    letters_read = {letter for letter, _ in statements}
    is_single = len(letters_read) == 1 and letters_read <= set(letters) and not several
    return next(iter(letters_read)) if is_single else None


@pytest.fixture(scope="module")
def mmlu_pro() -> list[dict[str, Any]]:
    columns = ["options", "pred", "model_output"]
    read = rows(OUTPUTS / "mmlu_pro_outputs_helm_subjects.parquet", columns)
    for row in read:
        row["letters"] = "ABCDEFGHIJ"[: len(row["options"])]
        choice = parse_choice(row["model_output"], letters=row["letters"], choices=row["options"])
        row["ours"] = choice.letter
    return read


def test_flexible_letters_are_those_of_the_origin(mmlu_pro: list[dict[str, Any]]) -> None:
    """Where the reply says 'the answer is (X)' with one X, we read it; the origin's `pred` too."""
    single = [(r, single_statement(r["model_output"], r["letters"])) for r in mmlu_pro]
    stated_pairs = [(r["ours"], letter) for r, letter in single if letter]
    assert len(stated_pairs) > 0.8 * len(mmlu_pro)
    assert agreement(stated_pairs) >= 0.995
    assert agreement([(r["ours"], r["pred"]) for r, letter in single if letter]) >= 0.995


def test_flexible_letters_agree_with_pred_wherever_there_is_one(
    mmlu_pro: list[dict[str, Any]],
) -> None:
    """The origin's guesses, which no reply states, included (benchmarks/parsing lists the rest)."""
    assert agreement([(r["ours"], r["pred"]) for r in mmlu_pro if r["pred"]]) >= 0.99


def test_truncated_reasoning_gives_few_letters(mmlu_pro: list[dict[str, Any]]) -> None:
    """Where the origin found nothing, mostly reasoning that broke off, we must not guess."""
    letters_without_pred = [r["ours"] for r in mmlu_pro if not r["pred"]]
    assert sum(letter is not None for letter in letters_without_pred) <= 0.1 * len(
        letters_without_pred
    )


PLAIN = re.compile(r"^\d+[.)] +(\S.*)$", re.MULTILINE)


def plain_name(entry: str) -> str:
    """An oracle of its own: split at the first separator, take off brackets and marks."""
    bold = re.match(r"\*\*(.+?)\*\*", entry)
    name = bold.group(1) if bold else entry
    for pattern in (r"\s*\([^()]*\)", r"\s*\([^()]*\)", r"\s\(.*$"):
        name = re.sub(pattern, "", name)
    name = re.split(r":(?=\s|$)|\s[-–—](?=\s|$)", name)[0]
    return name.replace("*", "").strip(' "“”.,:;—')


def test_five_plain_numbered_lines_are_the_five_items() -> None:
    path = DATA / "recommendations" / "top5_recommendation_answers.parquet"
    answers = [row["response"] for row in rows(path, ["response"])]
    readings = [parse_list(answer) for answer in answers]
    n_compared = equal = 0
    for answer, result in zip(answers, readings, strict=True):
        entries = PLAIN.findall(answer)
        if "<think" in answer or len(entries) != 5 or not all(map(plain_name, entries)):
            continue
        n_compared += 1
        assert result.items is not None
        assert len(result.items) == 5
        equal += result.items == tuple(plain_name(entry) for entry in entries)
    assert n_compared > 5_000
    assert equal >= 0.999 * n_compared
    reasons = Counter(result.reason for result in readings)
    assert reasons[None] > 0.97 * len(readings)
    assert set(reasons) <= {None, "empty", "refused", "no list found"}


def test_short_survey_answers_begin_with_their_letter() -> None:
    """'(B). Sometimes' is B, whatever else the reply says."""
    read = csv_rows(OUTPUTS / "llmdrift_opinionqa_letter_answers.csv.gz")
    pairs = []
    for row in read:
        options = re.findall(r"^\(([A-Z])\)\.? (.*)$", row["query"], re.MULTILINE)
        first = re.match(r"\(?([A-Z])\)?[.)]", row["answer"])
        if options and first and first.group(1) in dict(options):
            letters = "".join(letter for letter, _ in options)
            choice = parse_choice(row["answer"], letters=letters, choices=[t for _, t in options])
            pairs.append((choice.letter, first.group(1)))
    assert len(pairs) > 4_000
    assert agreement(pairs) >= 0.999


def test_answers_from_a_declining_persona() -> None:
    read = csv_rows(OUTPUTS / "persona_bias_mmlu_outputs.csv.gz")
    read_by_origin = [row for row in read if row["predicted_answer"]]
    pairs = [(parse_choice(r["response"]).letter, r["predicted_answer"]) for r in read_by_origin]
    assert agreement(pairs) >= 0.85
    other_letters = [parse_choice(r["response"]).letter for r in read if not r["predicted_answer"]]
    assert not any(other_letters)
