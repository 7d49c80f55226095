"""Classes of readings whose truth needs no person: real answers, changed so that it is known.

Beside `test_real_cases`, whose labels are a person's. `pytest -s` prints what benchmarks/parsing has.
"""

import re
from functools import cache
from typing import Any, NamedTuple

import pytest
from real_texts import OUTPUTS, Tally, messages, needs_real_texts, rows, tally, top_five

from fieldwork.parsing.canonical import canonicalise
from fieldwork.parsing.choices import parse_choice
from fieldwork.parsing.lists import parse_list

pytestmark = needs_real_texts


# ---- names --------------------------------------------------------------------------------------------


def rewritten(text: str, names: tuple[str, ...], form: str) -> str | None:
    """The real answer with each name in another form; None where a name cannot be located."""
    parts: list[str] = []
    place = 0
    for name in names:
        start = text.find(name, place)
        if start < 0:
            return None
        parts += [text[place:start], form.format(name)]
        place = start + len(name)
    return "".join([*parts, text[place:]])


@pytest.mark.parametrize(
    "form",
    ['"{} (1999)"', '"{}" (1999)', "“{} (1999)”", "«{}» (1999)", "{} (1999)",
     '"{}, 1999"', '"{} - 1999"'],
)  # fmt: skip
def test_years_are_no_part_of_names(form: str) -> None:
    pairs: list[tuple[Any, Any]] = []
    for text, names in top_five():
        rewritten_text = rewritten(text, names, form)
        if rewritten_text is not None:
            read = parse_list(rewritten_text).items or ()
            for place, name in enumerate(names):
                pairs.append((read[place] if len(read) == len(names) else None, name))
    result = tally(f"years in names, {form}", pairs)
    assert result.n > 6_000
    assert min(result.precision, result.recall) > 0.98


@pytest.mark.parametrize("form", ['"{}', '{}"', "“{}", "{}”"])
def test_quotes_that_nothing_closes(form: str) -> None:
    pairs: list[tuple[Any, Any]] = []
    for _, names in top_five():
        text = "\n".join(f"{n}. {form.format(name)}" for n, name in enumerate(names, 1))
        read = parse_list(text).items or ()
        for place, name in enumerate(names):
            pairs.append((read[place] if len(read) == len(names) else None, name))
    result = tally(f"unbalanced quotes, {form}", pairs)
    assert min(result.precision, result.recall) > 0.99


@pytest.mark.parametrize("form", ["1. {}", "1. **{}**", "1) {}", "**1. {}**"])
def test_a_lone_first_entry(form: str) -> None:
    pairs: list[tuple[Any, Any]] = [
        ((parse_list(form.format(names[0])).items or (None,))[0], names[0])
        for _, names in top_five()
    ]
    result = tally(f"a lone first entry, {form}", pairs)
    assert min(result.precision, result.recall) > 0.99


@pytest.mark.parametrize("expected_length", [3, 10])
@pytest.mark.parametrize("form", ['"{}" by Ann Lee', "**{}** - fine", "*{}* (2001)", '"{}"'])
def test_titles_set_off(form: str, expected_length: int) -> None:
    """Two names of real answers, one a line, whatever number is asked for."""
    pairs: list[tuple[Any, Any]] = []
    for _, names in top_five():
        if all(len(name.split()) <= 8 and '"' not in name for name in names[:2]):
            text = "\n".join(map(form.format, names[:2]))
            pairs.append((parse_list(text, expected_length=expected_length).items, names[:2]))
    result = tally(f"titles set off, {form}, {expected_length} asked for", pairs)
    assert result.n > 1_500
    assert min(result.precision, result.recall) > 0.99


@pytest.mark.parametrize(
    ("form", "recall"),
    [('"{}" by Ann Lee.', 0.99), ("I would choose **{}**, as it is fine.", 0.99), ("Answer: {}", 0.97),
     ("My favourite is {}.", 0.97), ("- {}", 0.99), ("{}", 0.97)],
)  # fmt: skip
def test_one_name_of_a_real_answer(form: str, recall: float) -> None:
    """What is set off is read; a bare name of many words needs capitals, or it may be a sentence."""
    pairs: list[tuple[Any, Any]] = [
        ((parse_list(form.format(name), expected_length=1).items or (None,))[0], name)
        for name in all_names()
        if len(name.split()) <= 8 and '"' not in name
    ]
    result = tally(f"one name, {form}", pairs)
    assert result.n > 2_000
    assert result.precision > 0.98
    assert result.recall > recall


def test_replies_of_chats_that_answer_no_question_for_one_name() -> None:
    texts = sorted(messages(of_assistant=True).values())[::10]
    listings = [parse_list(text, expected_length=1).items for text in texts]
    single_names = [items for items in listings if items and len(items) == 1]
    print(f"\none name in replies of chats: {len(single_names)} of {len(texts)}")
    assert len(single_names) < 0.1 * len(texts)


@cache
def all_names() -> list[str]:
    return sorted({name for _, names in top_five() for name in names if name.isascii()})


@pytest.mark.parametrize("sequel", ["{} 2", "{} II", "{}: Part Two", "{} III", "{} 2024"])
def test_sequels_never_merge(sequel: str) -> None:
    pairs: list[tuple[Any, Any]] = []
    for name in all_names():
        merges = canonicalise({name: 2, sequel.format(name): 1}, aliases={}, overrides={})
        pairs.append(("same" if len({m.canonical for m in merges.values()}) == 1 else None, None))
    result = tally(f"sequels, {sequel}", pairs)
    assert result.n > 1_000
    assert result.wrong == 0


def test_what_and_joins_is_one_name_in_either_order() -> None:
    pairs: list[tuple[Any, Any]] = []
    for name in all_names():
        parts = name.split(" and ")
        if len(parts) == 2 and all(part.count(" ") < 2 and "," not in part for part in parts):
            turned_name = f"{parts[1]} and {parts[0]}"
            merges = canonicalise({name: 2, turned_name: 1}, aliases={}, overrides={})
            same = len({merge.canonical for merge in merges.values()}) == 1
            pairs.append(("same" if same else None, "same"))
    result = tally("'A and B', turned round", pairs)
    assert result.n > 100
    assert result.recall > 0.9


# ---- letters ------------------------------------------------------------------------------------------

STATEMENT = re.compile(
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
    """Answers to MMLU-Pro that close with 'The answer is (X).' and state no other letter."""
    cases: list[Reasoning] = []
    for row in rows(OUTPUTS / "mmlu_pro_outputs_helm_subjects.parquet"):
        text, letters = row["model_output"], "ABCDEFGHIJ"[: len(row["options"])]
        closing = STATEMENT.search(text)
        if closing and closing.group(1) in letters and len(re.findall("answer is", text)) == 1:
            body = text[: closing.start()].rstrip()
            if body and body[-1] not in ",:":
                cases.append(Reasoning(body, closing.group(1), letters, row["options"]))
    return cases


def letter(case: Reasoning, closing: str, *, options: list[str] | None = None) -> str | None:
    choices = case.options if options is None else options
    return parse_choice(f"{case.body} {closing}", letters=case.letters, choices=choices).letter


CLAIM = re.compile(
    r"(?:\b[A-J]\)?|°F|°C)\s+(?:is|would be|seems)\s+(?:\w+\s+)?(?:true|correct|right|closest|best)\b"
    r"|\b(?:closest|correct|best|true)\s+\w+\s+is\s+\(?[A-J]\b"
)


def test_a_closing_statement_wins_over_earlier_claims() -> None:
    """Reasoning that itself claims something of a letter or a degree."""
    cases = [case for case in reasonings() if CLAIM.search(case.body)]
    pairs = [(letter(case, f"The answer is ({case.letter})."), case.letter) for case in cases]
    result = tally("a statement after other claims", pairs)
    assert result.n > 30
    assert result.recall == 1


OTHER_LETTERS = re.compile(r"(?<![\w(])\(([a-j])\)\s|\b[A-J]\s?=\s?[\d(]|^\s*\|.*\|", re.MULTILINE)


@pytest.mark.parametrize("kind", ["all", "parts, formulas, tables"])
def test_reasoning_without_its_statement(kind: str) -> None:
    """A letter read from the rest should be the one that was stated; most reasoning names none."""
    # all of them take minutes
    every_third = reasonings()[::3]
    cases = (
        every_third if kind == "all" else [c for c in reasonings() if OTHER_LETTERS.search(c.body)]
    )
    pairs = [(letter(case, ""), case.letter) for case in cases]
    result = tally(f"statement cut off, {kind}", pairs)
    leaning = sum(ours == "A" for ours, truth in pairs if ours not in (None, truth))
    print(f"\n  of the wrong ones {leaning} are A")
    assert result.n > 40
    assert result.precision > 0.9


@pytest.mark.parametrize(
    "closing",
    [
        "The strongest argument should be ({}).",
        "All of the options are consistent with this, except ({}).",
        "This leaves only ({}).",
        "None of the options fits but ({}).",
        "So the most likely one is {}.",
        "Not every option can hold; only ({}) does.",
        "**{}**",
        "\n\n({})",
    ],
)
def test_letters_in_other_words(closing: str) -> None:
    pairs = [(letter(case, closing.format(case.letter)), case.letter) for case in reasonings()[::3]]
    result = tally(f"letters, {closing.strip()}", pairs)
    assert result.n > 500
    assert min(result.precision, result.recall) > 0.9


@pytest.mark.parametrize(
    "joint", ["({0}{1})", "({0}), ({1})", "{0} and {1}", "({0}) or ({1})", "({0}, {1})"]
)
def test_joined_letters_are_read_alike(joint: str) -> None:
    pairs = []
    for case in reasonings()[::3]:
        first, second = sorted(
            [case.letter, case.letters[(case.letters.index(case.letter) + 2) % len(case.letters)]]
        )
        pairs.append((letter(case, f"The answer is {joint.format(first, second)}."), first))
    result = tally(f"joined letters, {joint}", pairs)
    assert min(result.precision, result.recall) > 0.98


def test_options_stated_by_their_text() -> None:
    pairs = []
    for case in reasonings()[::3]:
        text = case.options[case.letters.index(case.letter)]
        if (
            len(text) > 3
            and "\n" not in text
            and len({option.casefold() for option in case.options}) == len(case.options)
        ):
            pairs.append((letter(case, f"The answer is {text}."), case.letter))
    result = tally("option texts, stated", pairs)
    assert result.n > 300
    assert result.precision > 0.98


NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


@pytest.mark.parametrize(
    "change",
    ["The answer is -{}.", "The answer is {}.5.", "The answer is 1{}.",
     "The closest is {}, which is not correct.",
     "The answer is {}, but it is not among the options."],
)  # fmt: skip
def test_numbers_that_are_no_option(change: str) -> None:
    """Numeric options with a sign, a digit or a denial more: none of them is stated."""
    pairs: list[tuple[Any, Any]] = []
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
    result = tally(f"numbers, {change}", pairs)
    assert result.n > 50
    assert result.wrong <= 0.02 * result.n


def test_tallies_count_what_is_wrong_and_missing() -> None:
    assert tally("", [("A", "A"), ("B", "A"), (None, "A"), ("A", None)]) == Tally(4, 1, 2, 2)
