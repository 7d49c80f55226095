"""Precision and recall of the parsers by class, on real answers. `pytest -s` prints the table.

`labels/` holds hashes of real texts and what a person who read them said of them; the texts are in
../shared/data.
Other classes have an oracle: real answers are changed so that what they should give is known. The
figures of benchmarks/parsing are those printed here; what is asserted lies a little below them.
"""

import csv
import gzip
import random
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
from real_texts import (
    DATA,
    OUTPUTS,
    TOP_FIVE,
    Tally,
    digest,
    labels,
    messages,
    needs_real_texts,
    options,
    rows,
    tally,
    top_five,
)

from fieldwork.parsing.canonical import canonicalise
from fieldwork.parsing.choices import parse_choice
from fieldwork.parsing.lists import parse_list
from fieldwork.parsing.refusals import is_refusal
from fieldwork.records.parsing import REFUSAL

pytestmark = needs_real_texts


# ---- lists --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sample", ["answers", "requests"])
def test_scripts_without_capitals(sample: str) -> None:
    """Whether a list is read at all: prose of users and models in Chinese, Japanese, Thai and others."""
    texts = messages(of_assistant=sample == "answers")
    cases = [row for row in labels("scripts") if row["sample"] == sample]
    pairs = [
        (parse_list(texts[row["key"]]).items and "list", "list" if row["label"] == "list" else None)
        for row in cases
    ]
    result = tally(f"scripts without capitals, {sample}", pairs)
    assert result.wrong <= 2
    assert result.recall == 1


@pytest.mark.parametrize("length", [3, 5])
@pytest.mark.parametrize("form", ["{}", '"{}"'], ids=["plain", "quoted"])
def test_bare_lines(length: int, form: str) -> None:
    """The names of real answers, one a line without a marker, among sentences."""
    pairs = []
    for _, names in top_five():
        if all(len(name.split()) <= 8 for name in names):
            lines = "\n".join(map(form.format, names[:length]))
            text = f"I thought about this.\n\n{lines}\n\nI hope that it helps."
            pairs.append((parse_list(text, expected_length=length).items, names[:length]))
    result = tally(f"bare lines, {form}, {length} asked for", pairs)
    assert result.n > 1_000
    assert min(result.precision, result.recall) > 0.98


@pytest.mark.parametrize("second_heading", ["**Luxury:**", "**Tips:**"])
def test_lists_under_headings(second_heading: str) -> None:
    """Two real lists under headings are one answer; a list of five under 'Tips' is none of it."""
    pairs: list[tuple[Any, Any]] = []
    listings = [names for _, names in top_five()]
    for first, second in zip(listings[::2], listings[1::2], strict=False):
        head, tail = ("\n".join(f"- {name}" for name in names) for names in (first[:3], second))
        text = f"**Budget:**\n{head}\n\n{second_heading}\n{tail}"
        truth = first[:3] if "Tips" in second_heading else (*first[:3], *second)
        if not set(map(str.casefold, first)) & set(map(str.casefold, second)):
            pairs.append((parse_list(text).items, truth))
    result = tally(f"lists under headings, {second_heading}", pairs)
    assert result.n > 500
    assert min(result.precision, result.recall) > 0.97


def test_rankings_of_eight() -> None:
    """All eight candidates in the order in which the reply writes them first."""
    pairs = []
    for row in rows(DATA / "hiring" / "bloomberg_resume_rankings_gpt35_2jobs.parquet"):
        text = row["response"].casefold()
        places = {name.casefold(): text.find(name.casefold()) for name in row["names"]}
        if -1 not in places.values():
            items = parse_list(row["response"], expected_length=8).items or ()
            names = dict.fromkeys(item.casefold() for item in items)
            ranking = tuple(name for name in names if name in places)
            pairs.append((ranking or None, tuple(sorted(places, key=places.__getitem__))))
    result = tally("rankings of eight", pairs)
    assert result.n > 1_700
    assert min(result.precision, result.recall) > 0.99


def cuts(seed: int) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Real answers cut off within or after a name, and the names that are whole before the cut."""
    chance = random.Random(seed)
    for text, names in top_five():
        starts: list[int] = []
        for name in names:
            starts.append(text.find(name, starts[-1] + 1 if starts else 0))
        if -1 in starts or starts != sorted(starts):
            continue
        k = chance.randrange(1, 5)
        end = starts[k] + len(names[k])
        cut = chance.choice(
            [chance.randrange(starts[k] + 1, end + 1), end + chance.randrange(1, 60)]
        )
        yield text[:cut], names[: k + (cut > end)]


@pytest.mark.parametrize("seed", [1, 77])
def test_truncated_answers(seed: int) -> None:
    """Each name on its own: no half one, and every whole one but the last, which may go either way.

    What is missing are refusals with advice, which are refusals once they are no list of five.
    """
    right = wrong = missing = n = 0
    for text, names in cuts(seed):
        items = parse_list(text, is_truncated=True).items or ()
        whole = set(names[:-1])
        n += 1
        right += len(whole & set(items))
        missing += len(whole - set(items))
        wrong += len(set(items) - set(names))
    result = Tally(n, right, wrong, missing)
    print(f"\n{'truncated answers':42} {result} P {result.precision:.4f} R {result.recall:.4f}")
    assert n > 1_000
    assert result.precision > 0.995
    assert result.recall > 0.99


# ---- letters ------------------------------------------------------------------------------------------


def test_hard_letters_of_reasoning() -> None:
    """All answers to MMLU-Pro that hold no single 'answer is (X)', read by a person."""
    truths = {r["key"]: r["letter"] for r in labels("choices") if r["source"] == "mmlu_pro"}
    pairs = []
    for row in rows(OUTPUTS / "mmlu_pro_outputs_helm_subjects.parquet"):
        letters = "ABCDEFGHIJ"[: len(row["options"])]
        truth = truths.get(digest(letters[-1] + row["model_output"]))
        if truth is not None:
            choice = parse_choice(row["model_output"], letters=letters, choices=row["options"])
            pairs.append((choice.letter, truth or None))
    result = tally("letters, MMLU-Pro", pairs)
    assert result.n > 640
    assert min(result.precision, result.recall) > 0.99


def test_hard_letters_of_repeated_runs() -> None:
    truths = {r["key"]: r["letter"] for r in labels("choices") if r["source"] == "stability"}
    cases: dict[tuple[str, str], tuple[str | None, str | None]] = {}
    for row in rows(OUTPUTS / "llm_stability_repeated_runs.parquet"):
        truth = truths.get(digest(row["response"] or ""))
        if truth is not None:
            choice = parse_choice(row["response"], choices=options(row["question"]))
            cases[row["response"], row["question"]] = (choice.letter, truth or None)
    result = tally("letters, repeated runs", list(cases.values()))
    assert result.n > 380
    assert result.wrong <= 2
    assert result.recall > 0.97


def test_letters_that_change_places() -> None:
    """Bracketed letters and options moved three places on: the letter read must move with them."""
    pairs = []
    for row in rows(OUTPUTS / "mmlu_pro_outputs_helm_subjects.parquet")[::4]:
        text, letters = row["model_output"], "ABCDEFGHIJ"[: len(row["options"])]
        if re.search(r"(?:answer(?: is)?:?\s*|option |boxed|\\text\{)\**[A-J]\b", text):
            continue
        moves = {old: letters[(i + 3) % len(letters)] for i, old in enumerate(letters)}
        moved_text = re.sub(rf"\(([{letters}])\)", lambda m: f"({moves[m.group(1)]})", text)  # noqa: B023
        places = [row["options"][(i - 3) % len(letters)] for i in range(len(letters))]
        ours = parse_choice(text, letters=letters, choices=row["options"]).letter
        moved_letter = parse_choice(moved_text, letters=letters, choices=places).letter
        pairs.append((moved_letter, moves[ours] if ours else None))
    result = tally("letters that change places", pairs)
    assert result.n > 1_000
    assert min(result.precision, result.recall) > 0.99


# ---- refusals -----------------------------------------------------------------------------------------


@cache
def texts_by_source() -> dict[str, dict[str, str]]:
    sensitive = rows(DATA / "drift" / "llmdrift_sensitive_questions_4snapshots.parquet")
    with gzip.open(
        OUTPUTS / "llmdrift_opinionqa_letter_answers.csv.gz", "rt", encoding="utf-8", newline=""
    ) as handle:
        opinion = list(csv.DictReader(handle))
    return {
        "sensitive": {digest(row["answer"]): row["answer"] for row in sensitive},
        "opinion": {digest(row["answer"]): row["answer"] for row in opinion},
        "chats": messages(of_assistant=True),
    }


@pytest.mark.parametrize(
    ("source", "sample", "precision", "recall"),
    [
        ("sensitive", "seen", 0.99, 0.97),
        ("opinion", "seen", 0.98, 0.98),
        ("chats", "seen", 0.75, 0.8),
        ("chats", "first", 0.85, 0.9),
        ("chats", "second", 0.7, 0.75),
        ("chats", "third", 0.9, 0.75),
        ("chats", "held out", 0.3, 0.9),
    ],
)
def test_refusals(source: str, sample: str, precision: float, recall: float) -> None:
    cases = [r for r in labels("refusals") if (r["source"], r["sample"]) == (source, sample)]
    texts = texts_by_source()[source]
    truths = ["refusal" if row["label"] == "refusal" else None for row in cases]
    readings = ["refusal" if is_refusal(texts[row["key"]]) else None for row in cases]
    result = tally(f"refusals, {source}, {sample}", list(zip(readings, truths, strict=True)))
    assert result.precision >= precision
    assert result.recall >= recall
    reasons = [
        "refusal" if parse_list(texts[row["key"]]).reason == REFUSAL else None for row in cases
    ]
    list_tally = tally("  as answers to list questions", list(zip(reasons, truths, strict=True)))
    assert list_tally.recall >= recall


# ---- names --------------------------------------------------------------------------------------------


@cache
def merges_by_question() -> dict[str, dict[str, str]]:
    """Canonical name of each name that models gave, by question."""
    counts: dict[str, Counter[str]] = {}
    for row in rows(TOP_FIVE):
        counts.setdefault(row["question_id"], Counter()).update(
            parse_list(row["response"]).items or ()
        )
    return {
        question: {
            name: merge.canonical
            for name, merge in canonicalise(names, aliases={}, overrides={}).items()
        }
        for question, names in counts.items()
    }


@pytest.mark.parametrize("sample", ["seen", "fresh"])
def test_names(sample: str) -> None:
    """Pairs of names that look alike within a question: merged where a person calls them the same."""
    merges = merges_by_question()
    homes: dict[str, set[tuple[str, str]]] = {}
    for question, names in merges.items():
        for name in names:
            homes.setdefault(digest(name), set()).add((question, name))
    pairs = []
    for row in labels("names"):
        if row["sample"] != sample:
            continue
        for question, first in homes.get(row["first"], set()):
            for other, second in homes.get(row["second"], set()):
                if question == other:
                    same = merges[question][first] == merges[question][second]
                    pairs.append(
                        ("same" if same else None, "same" if row["label"] == "same" else None)
                    )
    result = tally(f"names, {sample}", pairs)
    assert result.n >= 60
    assert result.wrong == 0
    assert result.recall > (0.6 if sample == "seen" else 0.9)
