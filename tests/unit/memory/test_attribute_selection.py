"""Which attributes matter: by shared words, vectors, a model's answers, people's judgements."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from fieldwork.encoder import Vectors
from fieldwork.memory.selection import (
    all_scores,
    answered_shares,
    bm25_scores,
    encoder_scores,
    judged_scores,
    people_shares,
    select_attributes,
    selected_ids,
    selection_items,
)
from fieldwork.records.generation import OptionProbability
from fieldwork.records.judging import Judgement
from fieldwork.records.memory import Attribute
from fieldwork.records.parsing import Answer
from fieldwork.records.tasks import Item
from fieldwork.sections.conditions import SelectionRules
from fieldwork.sections.judging import Scale
from fieldwork.text_templates import TextTemplate
from unit.memory.conversations import attribute as attribute_of
from unit.table_rows import answer_of, row_of


def attribute(text: str, place: int = 0, user: str = "u1") -> Attribute:
    return attribute_of(f"{user}-{place}", text, user, place=place)


def item(question: str, name: str = "q1") -> Item:
    return Item(name, "choice", question, question, ["x", "y"], None, None, "a test")


TEXTS = ["Cooks soup every day", "Owns a dog", "Likes hot soup"]
SOUP = [attribute(text, place) for place, text in enumerate(TEXTS)]
QUESTION = item("Which soup should I cook?")


def selected(scores: Any, **settings: Any) -> list[tuple[str, bool]]:
    rules = SelectionRules(**{"by": "all", **settings})
    rows = select_attributes(SOUP, [QUESTION], scores, rules)
    return [(row.attribute_id, row.is_selected) for row in rows]


def test_shared_words_come_first_and_unknown_words_score_nothing() -> None:
    scores = bm25_scores(SOUP, QUESTION)
    assert scores[1] == 0
    assert min(scores[0] or 0, scores[2] or 0) > 0
    assert bm25_scores(SOUP, item("Zebras?")) == [0, 0, 0]
    assert bm25_scores([attribute("the of and")], QUESTION) == [0]


def test_the_best_n_that_reach_the_least_score_are_selected() -> None:
    def scores(_some: Sequence[Attribute], _one: Item) -> list[float | None]:
        return [0.2, 0.9, None]

    assert selected(scores, n=1) == [("u1-1", True), ("u1-0", False), ("u1-2", False)]
    assert selected(scores, at_least=0.5) == [("u1-1", True), ("u1-0", False), ("u1-2", False)]
    assert selected(scores, n=2) == [("u1-1", True), ("u1-0", True), ("u1-2", False)]
    rules = SelectionRules(by="people", at_least=0.5)
    *_, last = select_attributes(SOUP, [QUESTION], scores, rules)
    assert (last.score, last.reason) == (None, "nobody judged it")


def test_each_user_is_ranked_alone_for_each_question() -> None:
    both = [*SOUP, attribute("Owns a cat", user="u2")]
    items = [QUESTION, item("Dogs?", "q2")]
    rows = list(select_attributes(both, items, all_scores, SelectionRules(by="all", n=1)))
    firsts = [(row.user_id, row.item_id, row.place) for row in rows if row.is_selected]
    assert firsts == [(user, item, 0) for user in ("u1", "u2") for item in ("q1", "q2")]
    ids = {"u1-0", "u2-0"}
    assert selected_ids(["q1", "q2", "q3"], rows) == {"q1": ids, "q2": ids, "q3": set()}


def test_vectors_are_compared_by_their_cosine() -> None:
    angles = dict(zip([*TEXTS, QUESTION.question], (0, 90, 60, 0), strict=True))

    def encode(texts: Sequence[str]) -> Vectors:
        radians = np.radians([angles[text] for text in texts])
        return np.column_stack([np.cos(radians), np.sin(radians)]).astype(np.float32)

    scores = encoder_scores(SOUP, [QUESTION], encode)(SOUP, QUESTION)
    assert scores == pytest.approx([1, 0, 0.5], abs=1e-6)


def answer(name: str, letter: str | None, yes: float | None = None) -> Answer:
    shares = [OptionProbability("A", yes), OptionProbability("B", 1 - yes)] if yes else None
    return answer_of(item_id=name, letter=letter, option_probabilities=shares)


def test_a_models_letters_count_and_its_probabilities_count_more() -> None:
    letters = {"a/t/q1": "A", "b/t/q1": "B", "c/t/q1": None, "e/other/q1": "A"}
    answers = [answer(*pair) for pair in letters.items()]
    shares = answered_shares([*answers, answer("d/t/q1", "B", 0.75)], "t")
    assert shares == {("a", "q1"): 1, ("b", "q1"): 0, ("d", "q1"): 0.75}


def test_the_question_to_a_model_names_attribute_and_question() -> None:
    template = TextTemplate("{{ attribute }}|{{ question }}", "t.txt")
    (one,) = selection_items([SOUP[1]], {"t": [QUESTION]}, template)
    assert (one.item_id, one.kind, one.choices) == ("u1-1/t/q1", "choice", ["Yes", "No"])
    assert one.question == "Owns a dog|Which soup should I cook?"
    assert one.prompt == f"{one.question}\nA. Yes\nB. No\nAnswer with only a single letter."


def judgement(rater: str, value: str | None, repeat: int = 0, kind: str = "person") -> Judgement:
    keys = {"scale": "matters", "unit_id": "u1-0/t/q1", "rater": rater, "rater_kind": kind}
    return row_of(Judgement, **keys, repeat=repeat, value=value)


YES = ["openly", "in what is chosen"]
MATTERS = Scale(name="matters", options=[*YES, "no"], accepted=YES)


def test_people_vote_once_each_and_models_do_not() -> None:
    rows = [
        judgement("a", "openly"),
        judgement("a", "no", repeat=1),
        judgement("b", "no"),
        judgement("c", "in what is chosen"),
        judgement("d", None),
        judgement("gpt", "no", kind="model"),
    ]
    shares = people_shares(rows, "t", MATTERS)
    assert shares == {("u1-0", "q1"): pytest.approx(2 / 3)}
    assert people_shares(rows, "t", MATTERS.model_copy(update={"name": "other"})) == {}
    assert people_shares(rows, "u", MATTERS) == {}
    assert judged_scores(shares)(SOUP, QUESTION) == [pytest.approx(2 / 3), None, None]
