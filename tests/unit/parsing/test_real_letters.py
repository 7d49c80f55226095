"""Letters and refusals of real answers: precision and recall by class. `pytest -s` prints the table.

As in `test_real_lists`: published scores and letters of others, real answers changed so that the truth is
known, and what a person who read them said.
"""

import csv
import gzip
import re
from collections import defaultdict
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from real_texts import (
    DATA,
    OUTPUTS,
    Pairs,
    digest,
    labels,
    messages,
    needs_real_texts,
    options,
    part_of,
    require,
    rows,
    tally,
)

from fieldwork.parsing.choices import parse_choice
from fieldwork.parsing.lists import parse_list
from fieldwork.parsing.refusals import is_refusal
from fieldwork.records.parsing import REFUSAL

pytestmark = needs_real_texts


def csv_rows(path: Path) -> list[dict[str, str]]:
    with gzip.open(path, "rt", encoding="utf-8", newline="") as handle:
        return list(csv.DictReader(handle))


def agreement(pairs: Pairs) -> float:
    return sum(ours == theirs for ours, theirs in pairs) / len(pairs)


# ---- answers to MMLU-Pro, with reasoning --------------------------------------------------------------


@cache
def mmlu_pro() -> list[dict[str, Any]]:
    answers = rows(OUTPUTS / "mmlu_pro_outputs_helm_subjects.parquet")
    return [row | {"letters": "ABCDEFGHIJ"[: len(row["options"])]} for row in answers]


@cache
def our_letter(place: int) -> str | None:
    row = mmlu_pro()[place]
    return parse_choice(row["model_output"], letters=row["letters"], choices=row["options"]).letter


STATEMENT = re.compile(r"answer is \(?([A-J])\)?(.{0,12})")


def single_statement(text: str, letters: str) -> str | None:
    """The one letter of all 'answer is (X)' in the text; None for none, several, or 'X and Y'."""
    statements = STATEMENT.findall(text)
    several = any(re.search(r"[A-J]\b", rest) for _, rest in statements)
    letters_read = {letter for letter, _ in statements}
    is_single = len(letters_read) == 1 and letters_read <= set(letters) and not several
    return next(iter(letters_read)) if is_single else None


def test_flexible_letters_are_those_of_the_origin() -> None:
    """Where the reply says 'the answer is (X)' with one X, we read it; the origin's `pred` too.

    Where the origin found nothing, mostly reasoning that broke off, we must not guess.
    """
    places = range(0, len(mmlu_pro()), 4)
    answers = [(our_letter(k), mmlu_pro()[k]) for k in places]
    single = [
        (ours, single_statement(r["model_output"], r["letters"]), r["pred"]) for ours, r in answers
    ]
    stated_pairs = [(ours, letter) for ours, letter, _ in single if letter]
    assert len(stated_pairs) > 0.8 * len(places)
    assert agreement(stated_pairs) >= 0.995
    assert agreement([(ours, pred) for ours, letter, pred in single if letter]) >= 0.995
    # the origin's guesses, which no reply states, included; benchmarks/parsing lists the rest
    assert agreement([(ours, pred) for ours, _, pred in single if pred]) >= 0.99
    letters_without_pred = [ours for ours, _, pred in single if not pred]
    n_guesses = sum(ours is not None for ours in letters_without_pred)
    assert n_guesses <= 0.1 * len(letters_without_pred)


def test_hard_letters_of_reasoning() -> None:
    """Half of the answers that hold no single 'answer is (X)', read by a person."""
    truths = {r["key"]: r["letter"] for r in labels("choices") if r["source"] == "mmlu_pro"}
    keys = [digest(row["letters"][-1] + row["model_output"]) for row in mmlu_pro()]
    pairs = [(our_letter(k), truths[key] or None) for k, key in enumerate(keys) if key in truths]
    require("letters, MMLU-Pro", pairs, n=640, precision=0.99, recall=0.99)


def test_letters_that_change_places() -> None:
    """Bracketed letters and options moved three places on: the letter read must move with them."""
    pairs: Pairs = []
    for place in range(0, len(mmlu_pro()), 12):
        row = mmlu_pro()[place]
        text, letters = row["model_output"], row["letters"]
        if re.search(r"(?:answer(?: is)?:?\s*|option |boxed|\\text\{)\**[A-J]\b", text):
            continue
        moves = {old: letters[(i + 3) % len(letters)] for i, old in enumerate(letters)}
        moved_text = re.sub(rf"\(([{letters}])\)", lambda m: f"({moves[m.group(1)]})", text)  # noqa: B023
        places = [row["options"][(i - 3) % len(letters)] for i in range(len(letters))]
        moved_letter = parse_choice(moved_text, letters=letters, choices=places).letter
        ours = our_letter(place)
        pairs.append((moved_letter, moves[ours] if ours else None))
    require("letters that change places", pairs, n=330, precision=0.98, recall=0.98)


CLOSING = re.compile(
    r"(?:So |Thus, |Therefore, |Hence, )?[Tt]he (?:best |correct )?answer is \(([A-J])\)\.?\s*$"
)


class Reasoning(NamedTuple):
    """Real reasoning without the statement that closed it."""

    body: str
    letter: str
    letters: str
    options: list[str]


@cache
def reasonings() -> list[Reasoning]:
    """Answers that close with 'The answer is (X).' and state no other letter."""
    cases: list[Reasoning] = []
    for row in mmlu_pro():
        text = row["model_output"]
        closing = CLOSING.search(text)
        if closing and closing[1] in row["letters"] and text.count("answer is") == 1:
            body = text[: closing.start()].rstrip()
            if body and body[-1] not in ",:":
                cases.append(Reasoning(body, closing[1], row["letters"], row["options"]))
    return cases


def letter(case: Reasoning, closing: str) -> str | None:
    text = f"{case.body} {closing}"
    return parse_choice(text, letters=case.letters, choices=case.options).letter


CLAIM = re.compile(
    r"(?:\b[A-J]\)?|°F|°C)\s+(?:is|would be|seems)\s+(?:\w+\s+)?(?:true|correct|right|closest|best)\b"
    r"|\b(?:closest|correct|best|true)\s+\w+\s+is\s+\(?[A-J]\b"
)
OTHER_LETTERS = re.compile(r"(?<![\w(])\(([a-j])\)\s|\b[A-J]\s?=\s?[\d(]|^\s*\|.*\|", re.MULTILINE)


def test_a_closing_statement_wins_over_earlier_claims() -> None:
    """Reasoning that itself claims something of a letter or a degree."""
    cases = [case for case in reasonings() if CLAIM.search(case.body)]
    pairs = [(letter(case, f"The answer is ({case.letter})."), case.letter) for case in cases]
    assert require("a statement after other claims", pairs, n=30).recall == 1


@pytest.mark.parametrize("kind", ["all", "parts, formulas, tables"])
def test_reasoning_without_its_statement(kind: str) -> None:
    """A letter read from the rest should be the one that was stated; most reasoning names none."""
    cases = [case for case in reasonings() if OTHER_LETTERS.search(case.body)]
    if kind == "all":
        cases = part_of(reasonings()[::3])
    pairs = [(letter(case, ""), case.letter) for case in cases]
    leaning = sum(ours == "A" for ours, truth in pairs if ours not in (None, truth))
    print(f"\n  of the wrong ones {leaning} are A")
    require(f"statement cut off, {kind}", pairs, n=200, precision=0.9)


FORMS = [
    "The strongest argument should be ({}).",
    *("All of the options are consistent with this, except ({}).", "This leaves only ({})."),
    *("None of the options fits but ({}).", "So the most likely one is {}."),
    *("Not every option can hold; only ({}) does.", "**{}**", "\n\n({})"),
]


@pytest.mark.parametrize("case", range(len(FORMS)), ids=FORMS)
def test_letters_in_other_words(case: int) -> None:
    cases = part_of(reasonings()[::3], case)
    pairs = [(letter(one, FORMS[case].format(one.letter)), one.letter) for one in cases]
    require(f"letters, {FORMS[case].strip()}", pairs, n=200, precision=0.9, recall=0.9)


JOINTS = ["({0}{1})", "({0}), ({1})", "{0} and {1}", "({0}) or ({1})", "({0}, {1})"]


@pytest.mark.parametrize("case", range(len(JOINTS)), ids=JOINTS)
def test_joined_letters_are_read_alike(case: int) -> None:
    pairs: Pairs = []
    for one in part_of(reasonings()[::3], case):
        other = one.letters[(one.letters.index(one.letter) + 2) % len(one.letters)]
        first, second = sorted([one.letter, other])
        pairs.append((letter(one, f"The answer is {JOINTS[case].format(first, second)}."), first))
    require(f"joined letters, {JOINTS[case]}", pairs, precision=0.98, recall=0.98)


def test_options_stated_by_their_text() -> None:
    pairs: Pairs = []
    for case in reasonings()[::9]:
        text = case.options[case.letters.index(case.letter)]
        n_different = len({option.casefold() for option in case.options})
        if len(text) > 3 and "\n" not in text and n_different == len(case.options):
            pairs.append((letter(case, f"The answer is {text}."), case.letter))
    require("option texts, stated", pairs, n=300, precision=0.98)


NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


@pytest.mark.parametrize(
    "change",
    ["The answer is -{}.", "The answer is {}.5.", "The answer is 1{}.",
     "The closest is {}, which is not correct.",
     "The answer is {}, but it is not among the options."],
)  # fmt: skip
def test_numbers_that_are_no_option(change: str) -> None:
    """Numeric options with a sign, a digit or a denial more: none of them is stated."""
    pairs: Pairs = []
    for case in reasonings():
        number = re.search(r"^\$?(\d+)\b", case.options[case.letters.index(case.letter)])
        if number is None:
            continue
        closing = change.format(number.group(1))
        numbers = {number for option in case.options for number in NUMBER.findall(option)}
        if NUMBER.findall(closing)[0] in numbers and "not" not in closing:
            continue
        bare = case._replace(body="We compute the value.")
        pairs.append((letter(bare, closing), None))
    result = require(f"numbers, {change}", pairs, n=50)
    assert result.wrong <= 0.02 * result.n


# ---- other letters ------------------------------------------------------------------------------------


def test_strict_letters_give_the_published_helm_scores() -> None:
    """Exact match of the strict letter is HELM's score, for every model and subject in both files."""
    published_scores = {
        (row["model_id"], row["subject"]): row["em"]
        for row in csv_rows(DATA / "helm" / "helm_mmlu_subject_scores.csv.gz")
    }
    pairs: dict[tuple[str, str], Pairs] = defaultdict(list)
    for row in rows(OUTPUTS / "helm_raw_mmlu_5models_9subjects.parquet"):
        strict = parse_choice(row["completions"][0]).strict
        pairs[row["model"], row["subject"]].append((strict, row["gold"]))
    assert len(pairs) >= 40
    for pair, letters in pairs.items():
        assert agreement(letters) == pytest.approx(float(published_scores[pair]), abs=0.00051), pair


def test_hard_letters_of_repeated_runs() -> None:
    truths = {r["key"]: r["letter"] for r in labels("choices") if r["source"] == "stability"}
    cases: dict[tuple[str, str], str] = {}
    for row in rows(OUTPUTS / "llm_stability_repeated_runs.parquet"):
        truth = truths.get(digest(row["response"] or ""))
        if truth is not None:
            cases[row["response"], row["question"]] = truth
    pairs = [
        (parse_choice(text, choices=options(question)).letter, truth or None)
        for (text, question), truth in cases.items()
    ]
    assert require("letters, repeated runs", pairs, n=380, recall=0.97).wrong <= 2


def test_answers_from_a_declining_persona() -> None:
    read = csv_rows(OUTPUTS / "persona_bias_mmlu_outputs.csv.gz")
    letters = [(parse_choice(row["response"]).letter, row["predicted_answer"]) for row in read]
    assert agreement([pair for pair in letters if pair[1]]) >= 0.85
    assert not any(ours for ours, theirs in letters if not theirs)


# ---- refusals -----------------------------------------------------------------------------------------


@cache
def texts_by_source() -> dict[str, dict[str, str]]:
    sensitive = rows(DATA / "drift" / "llmdrift_sensitive_questions_4snapshots.parquet")
    opinion = csv_rows(OUTPUTS / "llmdrift_opinionqa_letter_answers.csv.gz")
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
    truths = [(texts[row["key"]], row["label"] == "refusal" or None) for row in cases]
    pairs = [(is_refusal(text) or None, truth) for text, truth in truths]
    result = tally(f"refusals, {source}, {sample}", pairs)
    assert result.precision >= precision
    assert result.recall >= recall
    pairs = [(parse_list(text).reason == REFUSAL or None, truth) for text, truth in truths]
    assert tally("  as answers to list questions", pairs).recall >= recall
