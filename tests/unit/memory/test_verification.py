"""Attributes verified: kept, stated once more, or dropped, each with its reason."""

from typing import Any

from fieldwork.memory.verification import (
    KNOWN_ALREADY,
    NO_SCORE,
    NOT_REFINED,
    STILL_REJECTED,
    refinements,
    refining_items,
    rejected_attributes,
    verify,
)
from fieldwork.records.judging import LearntScore
from fieldwork.records.memory import Attribute, Evidence
from fieldwork.text_templates import TextTemplate
from unit.memory.conversations import attribute, conversation, reply

TALKS = {"c1": conversation("I am a nurse. I own a dog.", "Fine.", "I like tea.")}


def score(name: str, value: float | None) -> LearntScore:
    return LearntScore(name, "u1", 0, value, 0.0, None, "people", None)


GOOD, BAD = attribute("good", "Is a nurse"), attribute("bad", "Loves all animals")
UNKNOWN = attribute("unknown", "Owns a dog")
SCORES = [score("good", 0.9), score("bad", 0.0), score("unknown", None)]


def test_what_raters_would_reject_is_stated_once_more() -> None:
    assert rejected_attributes([GOOD, BAD, UNKNOWN], SCORES, 0.5) == [BAD]
    template = "{{ conversation }}|{{ attribute }}|{{ is_quoted }}"
    (free,) = refining_items([BAD], TALKS, "statements", TextTemplate(template, "t.txt"))
    assert (free.item_id, free.kind, free.choices) == ("bad", "text", [])
    assert free.prompt.endswith("|Loves all animals|False")
    (held,) = refining_items([BAD], TALKS, "sentences", TextTemplate(template, "t.txt"))
    assert (held.choices, held.list_length) == (["I am a nurse.", "I own a dog.", "I like tea."], 1)
    quoted = attribute("quoted", "I own a dog.")
    (other,) = refining_items([quoted], TALKS, "sentences", TextTemplate(template, "t.txt"))
    assert other.choices == ["I am a nurse.", "I like tea."]


def test_a_new_statement_takes_the_place_with_its_own_evidence() -> None:
    text = '{"attribute": "Owns one dog", "turns": [1], "confidence": 0.7, "kind": "interest"}'
    refined = refinements([BAD, GOOD], [reply(text, "bad")], TALKS, "statements")
    assert set(refined) == {"bad"}
    new = refined["bad"]
    assert (new.text, new.kind, new.confidence) == ("Owns one dog", "interest", 0.7)
    assert new.evidence == [Evidence("c1", 1)]
    assert new.attribute_id != "bad"
    for nothing in ("[]", '{"attribute": "Flies", "turns": [2]}'):
        assert refinements([BAD], [reply(nothing, "bad")], TALKS, "statements") == {}


def outcome(
    new: dict[str, Attribute], *new_scores: float | None
) -> tuple[list[str], dict[str, Any]]:
    result = verify([GOOD, BAD, UNKNOWN], SCORES, new, new_scores, 0.5)
    actions = {v.attribute_id: (v.action, v.reason) for v in result.verifications}
    return [a.text for a in result.attributes], actions


def test_accepted_and_unscored_attributes_are_kept_and_a_better_statement_is_taken() -> None:
    texts, actions = outcome({})
    assert texts == ["Is a nurse", "Owns a dog"]
    kept = {"good": ("keep", None), "unknown": ("keep", NO_SCORE)}
    assert actions == kept | {"bad": ("drop", NOT_REFINED)}
    for text, score_of_new, bad in (
        ("Owns one dog", 0.8, ("refine", None)),
        ("Owns one dog", 0.2, ("drop", STILL_REJECTED)),
        # what is known already is not taken twice
        ("Is a nurse", 0.9, ("drop", KNOWN_ALREADY)),
    ):
        texts, actions = outcome({"bad": attribute("bad-2", text)}, score_of_new)
        assert texts == ["Is a nurse", *[text] * (bad[0] == "refine"), "Owns a dog"]
        assert actions == kept | {"bad": bad}
