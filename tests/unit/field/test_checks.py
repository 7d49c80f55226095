"""What each check flags and what it leaves alone, and that counts add up."""

import dataclasses
from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest

from field_data.synthetic import load_prompts, make_field
from fieldwork.errors import StudyError
from fieldwork.field.checks import (
    ANY,
    CHECKS,
    check_answers,
    count_quality,
    default_excluded,
)
from fieldwork.field.other_models import speakers
from fieldwork.field.pasted import without_prompt
from fieldwork.parsing.refusals import is_refusal
from fieldwork.privacy import mask, pseudonym
from fieldwork.records.field import FieldAnswer
from unit.table_rows import field_answer

ITEMS = load_prompts()
HAIRCUTS = ("recommendations", "haircuts")
MOVIES = ("recommendations", "movies")
CEREBELLUM = ("probe", "sample_medicine-000")
ETHICS = ("probe", "ethics-00")
CUTS = "1. Bob\n2. Lob\n3. Shag\n4. Fade\n5. Afro"
FILMS = "\n".join(f"{i}. {name}" for i, name in enumerate(ITEMS[MOVIES].choices[:5], 1))
QUESTION = ITEMS[CEREBELLUM].prompt
LONG = "Here are five cuts to try. " + " ".join(f"Word{i} goes on" for i in range(15)) + "\n" + CUTS


def answer(
    text: str | None, prompt: tuple[str, str] = HAIRCUTS, *, who: str = "a", **columns: Any
) -> FieldAnswer:
    return field_answer(who, task=prompt[0], item_id=prompt[1], text=text, **columns)


def check(
    answers: Sequence[FieldAnswer],
    *,
    excluding_checks: Sequence[str] = tuple(default_excluded()),
    label: str = "GPT-4o mini",
) -> list[FieldAnswer]:
    """Checked beside a good answer to every prompt, so that all prompts are known."""
    others = [answer("A", prompt, who="nobody") for prompt in ITEMS]
    checked = check_answers(
        [*answers, *others],
        ITEMS,
        excluding_checks=excluding_checks,
        is_refusal=is_refusal,
        labels={"m": label},
    )
    return checked[: len(answers)]


def flags(text: str | None, prompt: tuple[str, str] = HAIRCUTS) -> list[str]:
    (checked,) = check([answer(text, prompt)])
    return checked.flags


CHINESE = "以下是五种适合您的发型：波波头、长波波头、羊毛卷、渐变、爆炸头。希望您喜欢！"


@pytest.mark.parametrize(
    ("text", "prompt", "expected"),
    [
        (CUTS, HAIRCUTS, []),
        (CHINESE, HAIRCUTS, ["other_language"]),
        ("**B. The hypothalamus**", CEREBELLUM, []),
        (None, HAIRCUTS, ["empty"]),
        (" \n\t", HAIRCUTS, ["empty"]),
        ("N/A", HAIRCUTS, ["too_short"]),
        ("I'm sorry, but I can't help with that.", HAIRCUTS, ["refusal"]),
        (ITEMS[HAIRCUTS].prompt, HAIRCUTS, ["prompt_pasted"]),
        (f"{ITEMS[HAIRCUTS].prompt}\n\n{CUTS}", HAIRCUTS, ["prompt_repeated"]),
        (QUESTION, CEREBELLUM, ["prompt_pasted"]),
        ("The question is which part coordinates balance. Answer: D", CEREBELLUM, []),
    ],
)
def test_flags_of_one_answer(
    text: str | None, prompt: tuple[str, str], expected: list[str]
) -> None:
    assert flags(text, prompt) == expected


@pytest.mark.parametrize(
    ("text", "prompt", "is_other"),
    [
        (FILMS, HAIRCUTS, True),
        (FILMS, MOVIES, False),
        (FILMS, CEREBELLUM, True),
        (f"{ITEMS[MOVIES].prompt}\n{FILMS}", HAIRCUTS, True),
        (f"{QUESTION} D", HAIRCUTS, True),
        ("B. Vitamin C", CEREBELLUM, True),
        ("D. The cerebellum", CEREBELLUM, False),
        # what cannot be told: a letter, options nobody listed, two options that fit both prompts
        ("B", ETHICS, False),
        ("\n".join(FILMS.split("\n")[:2]) + "\n3. Bob\n4. Lob\n5. Shag", HAIRCUTS, False),
        # a mention of other prompts' options in a description is no answer to them
        ("1. Bob: for movies like Up\n2. Lob: as in Alien\n3. Shag: Inception", HAIRCUTS, False),
    ],
)
def test_answers_to_another_prompt(text: str, prompt: tuple[str, str], is_other: bool) -> None:
    assert ("other_prompt" in flags(text, prompt)) == is_other


def test_options_of_every_list_prompt_are_told_from_its_neighbours() -> None:
    lists = [prompt for prompt, item in ITEMS.items() if item.kind == "list"]
    for prompt in lists:
        names = ITEMS[prompt].choices
        for start in range(0, len(names) - 4, 5):
            text = "\n".join(f"- {name} – a choice" for name in names[start : start + 5])
            assert flags(text, prompt) == []


@pytest.mark.parametrize(
    ("text", "spoken"),
    [
        ("As Gemini, I would say", {"google"}),
        ("I'm ChatGPT, and here are five", {"openai"}),
        ("I am an AI assistant developed by Anthropic.", {"anthropic"}),
        ("As a large language model, trained by Google, I like", {"google"}),
        ("My name is Grok", {"xai"}),
        ("ChatGPT said:\n1. Up", {"openai"}),
        ("Gemini can make mistakes, so double-check it", {"google"}),
        ("Claude is AI and can make mistakes.", {"anthropic"}),
        ("Answer from Perplexity", {"perplexity"}),
        ("1. Google: trained by engineers\n2. OpenAI - I am told it made ChatGPT", set()),
        ("Llama\nAlpaca\nGemini\nClaude", set()),
        ("You could use tools such as Gemini or Claude.", set()),
        ("I'm a Gemini, born in June.", set()),
    ],
)
def test_who_a_text_says_it_is_by(text: str, spoken: set[str]) -> None:
    assert speakers(text) == spoken


@pytest.mark.parametrize(
    ("label", "platform", "is_other"),
    [
        ("GPT-4o mini", None, False),
        ("Gemini 2.0 Flash", None, True),
        ("Embedded (MiniLM)", "ChatGPT", False),
        ("Gemini 2.0 Flash", "Gemini", True),
    ],
)
def test_another_model_is_one_that_neither_label_nor_platform_shows(
    label: str, platform: str | None, is_other: bool
) -> None:
    (checked,) = check([answer(f"I'm ChatGPT.\n{CUTS}", platform=platform)], label=label)
    assert ("other_model" in checked.flags) == is_other


@pytest.mark.parametrize(
    ("answers", "flagged"),
    [
        ([answer(LONG), answer(f"  {LONG.upper()}!", who="b")], [True, True]),
        ([answer(LONG), answer(LONG, replicate=1)], [False, False]),
        ([answer(LONG), answer(LONG, MOVIES, who="b")], [False, False]),
        ([answer(LONG), answer(LONG + " and more", who="b")], [False, False]),
        ([answer(CUTS), answer(CUTS, who="b")], [False, False]),
    ],
)
def test_copies_are_long_texts_of_two_participants(
    answers: list[FieldAnswer], flagged: list[bool]
) -> None:
    assert ["duplicate" in checked.flags for checked in check(answers)] == flagged


def test_the_first_excluding_check_is_the_one_counted_and_an_unknown_one_is_refused() -> None:
    text = f"As Gemini, I was built by Google.\n{FILMS}"
    for checks, excluded_for in (
        (default_excluded(), "other_prompt"),
        (["other_model"], "other_model"),
        ([], None),
    ):
        (checked,) = check([answer(text)], excluding_checks=checks)
        assert checked.flags == ["other_prompt", "other_model"]
        assert checked.excluded_for == excluded_for
    with pytest.raises(StudyError, match=r"field\.exclude names 'emtpy'.*empty"):
        check([answer("B")], excluding_checks=["emtpy"])


@pytest.mark.parametrize(
    ("text", "left"),
    [
        (f"{QUESTION}\n\nB", "B"),
        (f"You said:\n{QUESTION}\nChatGPT said:\nB. The hypothalamus", "B. The hypothalamus"),
        (QUESTION, ""),
        (f"B, as {QUESTION}", f"B, as {QUESTION}"),
        (QUESTION.replace("\n", " ") + " B", QUESTION.replace("\n", " ") + " B"),
    ],
)
def test_the_prompt_is_taken_off_line_by_line(text: str, left: str) -> None:
    assert without_prompt(text, QUESTION) == left


def test_a_text_that_its_participant_gave_before_is_flagged() -> None:
    movies, letter = "1. Heat\n2. Fargo\n3. Jaws", "B. The hypothalamus"
    answers = [
        answer(movies, MOVIES),
        answer(f"{movies}\n", MOVIES, replicate=1),
        answer(movies, MOVIES, who="b"),
        answer(letter, CEREBELLUM),
        answer(letter, CEREBELLUM, replicate=1),
    ]
    checked = check(answers)
    assert ["same_text" in row.flags for row in checked] == [False, True, False, False, False]
    assert {row.excluded_for for row in checked} == {None}


def test_counts_add_up_and_none_is_dropped() -> None:
    field = make_field()
    tasks = {prompt[1]: prompt for prompt in field.items}
    rows: list[FieldAnswer] = []
    for row in field.long:
        masked, who = mask(row["answer"]), pseudonym(row["panel_id"], b"k")
        made = answer(masked.text or None, tasks[row["prompt"]], who=who)
        rows.append(dataclasses.replace(made, model="embedded", n_masked=masked.n_masked))
    rules = {"excluding_checks": default_excluded()}
    labels = {"embedded": "Embedded"}
    checked = check_answers(rows, field.items, **rules, is_refusal=is_refusal, labels=labels)
    counts = count_quality(checked, **rules)
    assert len(checked) == len(field.long) == 40 * 13 + len(field.repeats)
    n_flagged: Counter[str] = Counter()
    for count in counts:
        n_flagged[count.check] += count.n_flagged
    assert {name: n_flagged[name] for name in CHECKS if n_flagged[name]} == field.flagged
    everything = "\n".join(map(repr, [*checked, *counts])).lower()
    assert not [datum for datum in field.planted if datum.lower() in everything]
    for prompt in {(c.task, c.item_id) for c in counts}:
        of_prompt = [c for c in counts if (c.task, c.item_id) == prompt]
        assert [c.check for c in of_prompt] == [*CHECKS, ANY]
        *each, anything = of_prompt
        left = [a for a in checked if (a.task, a.item_id) == prompt and a.excluded_for is None]
        assert sum(c.n_excluded for c in each) == anything.n_excluded
        assert anything.n_answers - anything.n_excluded == len(left)
        assert all(c.n_excluded <= c.n_flagged <= c.n_answers for c in of_prompt)
        assert all(c.n_excluded == 0 for c in each if not c.is_excluding)
