"""The first sentences: at most 120 words, true of every study, and no more than the tests show."""

import itertools
import random
from collections.abc import Sequence
from typing import Any

import pytest

from fieldwork.metrics.findings.evidence import StudyEvidence
from fieldwork.metrics.findings.outline import StudyOutline
from fieldwork.metrics.findings.question_answers import question_answers
from fieldwork.metrics.findings.questions import question_lines
from fieldwork.metrics.findings.summary import MOST_WORDS, in_short, n_words
from fieldwork.records.claims import Claim
from unit.metrics.findings.finding_rows import (
    FIELD_OUTLINE,
    OUTLINE,
    PHRASES,
    agreement_row,
    claims_of,
    comparison_row,
    entropy_row,
    evidence,
    novelty_row,
    order_row,
    score_row,
    shift_row,
    spread_row,
    variance_row,
    without_links,
)
from unit.metrics.findings.test_page import ROWS

STUDY = OUTLINE._replace(phrases=PHRASES, question="Does it matter who asks?")
FIELD_STUDY = FIELD_OUTLINE._replace(phrases=PHRASES)
NO_USERS = STUDY._replace(conditions={"offline": "T1", "again": "T1 again"}, users=[])
FIELD_ALONE = FIELD_STUDY._replace(
    conditions={"offline": "T1", "field": "Field"}, users=["field"], controls=[]
)
TWO_MODELS = STUDY._replace(models={"m": "Model", "n": "Next"})
AGAIN = {"condition": "again"}


def sentences(outline: StudyOutline = STUDY, n_warnings: int = 0, **rows: Any) -> dict[str, str]:
    """The sentences by their topic, as they are read."""
    lines = [
        without_links(line) for line in in_short(evidence(outline=outline, **rows), n_warnings)
    ]
    topics = [line.partition(":** ") for line in lines]
    return {topic.removeprefix("**") if text else "": text or topic for topic, _, text in topics}


def test_the_first_sentence_answers_with_the_clearest_question_and_asking_again() -> None:
    texts = sentences(
        shifts=[
            shift_row(0.01, -0.4),
            shift_row(0.9, share=0.425, **AGAIN),
            shift_row(0.01, 0.2, item_id="films"),
            shift_row(0.9, 0.1, item_id="books"),
        ]
    )
    assert texts[""] == (
        "**Yes, for 2 of 3 questions** under at least one of these conditions. *cars* “Tesla” 58 % "
        "without a user, 18 % after the most similar conversation, 43 % repeated without a user (picked "
        "afterwards as the largest of 2, so likely overstated)."
    )
    assert texts["Chance"] == "repeated without a user, 0 of 3 differ beyond chance."


@pytest.mark.parametrize(
    ("rows", "first"),
    [
        ({"shifts": [shift_row(0.9)]}, "**Not detected** for any of 1 question."),
        ({}, "**This cannot be said:** too few answers with and without a user."),
        (
            {"shifts": [shift_row(0.9)], "variance": [variance_row(0.01, task="mmlu")]},
            "**Yes, but only over all questions together**: who asks explains up to 16 % of how answers "
            "vary; none of 1 differs alone.",
        ),
    ],
)
def test_without_a_question_that_differs(rows: dict[str, Any], first: str) -> None:
    assert without_links(in_short(evidence(outline=STUDY, **rows))[0]) == first


def test_what_asking_again_shows_is_counted_as_users_are() -> None:
    texts = sentences(
        shifts=[shift_row(0.9), shift_row(0.01, **AGAIN)],
        comparisons=[comparison_row(0.01, "cars", **AGAIN)],
    )
    assert texts["Chance"] == "repeated without a user, 1 of 1 differ beyond chance."
    bare = sentences(STUDY._replace(controls=[]), shifts=[shift_row(0.01)])
    assert bare["Chance"] == "nothing was repeated without a user, so chance is not measured."


def test_what_is_shown_over_all_questions_and_what_is_not() -> None:
    texts = sentences(
        shifts=[shift_row(0.01)],
        variance=[variance_row(0.01)],
        estimates=[entropy_row(0.9), score_row(0.01, value=0.479), score_row(condition="offline")],
        score_spreads=[spread_row(0.9)],
        novelty=[novelty_row(0.01)],
    )
    assert texts["Overall"] == (
        "who asks explains up to 16 % of how answers vary; 47.9 % of answers are right after the most "
        "similar conversation, 50.0 % without; users get new answers on 23 % of questions, reruns on "
        "10 %."
    )
    assert texts["Not detected"] == "a difference in variety of answers and spread of scores."
    alone = sentences(NO_USERS, estimates=[score_row(condition="offline")])
    assert alone["Right answers"] == "50.0 % (mmlu)."


def test_scores_of_probabilities_are_claimed_in_the_place_of_letters_drawn() -> None:
    known = score_row(1e-9, measure="expected_score", value=0.255, difference=-0.13)
    baseline = score_row(None, condition="offline", measure="expected_score", value=0.385)
    texts = sentences(estimates=[score_row(0.9), known, baseline], score_spreads=[spread_row(0.9)])
    score = "25.5 % of answers are right after the most similar conversation, 38.5 % without"
    assert score in texts[""]
    assert texts["Not detected"] == "a difference in spread of scores."


def test_real_users_are_told_from_simulated_ones() -> None:
    near = [
        agreement_row(predictor="offline"),
        agreement_row(predictor="offline", p_value=0.5, item_id="films"),
        agreement_row(predictor="rag"),
    ]
    texts = sentences(FIELD_STUDY, item_agreement=near, rank_agreement=[order_row()])
    assert texts["Real users"] == (
        "answers in their chats differ from those without a user on 1 of 2 questions (other days, no "
        "controlled comparison); after the most similar conversation, questions rank as in their chats."
    )
    assert texts["Says nothing of"].startswith("people who did not take part")
    assert "simulated" in sentences()["Says nothing of"]


OUTLINES = [STUDY, NO_USERS, FIELD_STUDY, FIELD_ALONE, TWO_MODELS]


@pytest.mark.parametrize("outline", OUTLINES)
@pytest.mark.parametrize("rows", [ROWS, ()], ids=["full", "empty"])
def test_there_are_at_most_120_words(rows: Sequence[Any], outline: StudyOutline) -> None:
    lines = in_short(evidence(*rows, outline=outline), 3)
    assert lines
    assert sum(map(n_words, lines)) <= MOST_WORDS
    assert all(line.startswith("**") and line.endswith(".") for line in lines)


def test_no_combination_of_missing_tables_breaks_the_summary() -> None:
    claims = claims_of(*ROWS)
    types = {type(row) for row in ROWS}
    some = [{*part} for n in range(4) for part in itertools.combinations(types, n)]
    # up to three are missing, or all but up to three
    for names in [*some, *(types - part for part in some)]:
        rows = {name: [row for row in ROWS if isinstance(row, name)] for name in names}
        study = StudyEvidence(FIELD_STUDY, rows={Claim: claims, **rows})
        assert "None" not in " ".join(in_short(study))


@pytest.mark.parametrize("seed", range(40))
def test_the_summary_and_the_questions_never_disagree(seed: int) -> None:
    """Random studies: what In short counts is what the questions one by one say."""
    draw = random.Random(seed)
    rows: list[Any] = []
    n = draw.randint(1, 8)
    for item, condition in itertools.product(range(n), ("rag", "history", "again")):
        place = {"item_id": f"q{item}", "condition": condition}
        shift = draw.uniform(-0.5, 0.4)
        p_option, p_answers = draw.choice([0.001, 0.04, 0.3, 1.0]), draw.choice([0.001, 0.3, 1.0])
        rows.append(shift_row(p_option, shift, share=0.575 + shift, **place))
        rows.append(comparison_row(p_answers, f"q{item}", condition=condition))
    study = evidence(*rows, outline=STUDY)
    blocks = "\n".join(question_lines(question_answers(study), STUDY)).split("### ")[1:]

    def count(*conditions: str) -> int:
        """Questions of which a line of a condition says yes."""
        starts = tuple(f"|{PHRASES[name]}" for name in conditions)
        return sum(
            any(line.startswith(starts) and "**yes" in line for line in block.splitlines())
            for block in blocks
        )

    claims = [claim for claim in study.claims if claim.verdict == "differs"]
    n_users = len({claim.item_id for claim in claims if claim.condition != "again"})
    n_again = len({claim.item_id for claim in claims if claim.condition == "again"})
    first, *others = in_short(study)
    noun = "question" if n == 1 else "questions"
    expected = f"**Yes, for {n_users} of {n} {noun}**" if n_users else "**Not detected**"
    assert first.startswith(expected)
    assert f"{n_again} of {n} differ" in " ".join(others)
    assert not n_users or count("rag", "history") == n_users
