"""Near-equal statements of one user become one attribute, with all their evidence."""

from collections.abc import Sequence

import numpy as np

from fieldwork.encoder import Vectors
from fieldwork.memory.merging import NOT_SURE, merge_statements
from fieldwork.records.memory import Statement
from fieldwork.sections.memory import MergeRules
from unit.memory.conversations import conversation

RULES = MergeRules(merge_above=0.8)
TALKS = {
    name: conversation("x", name=name, user=user, day=day)
    for name, user, day in (
        ("old", "u1", 1),
        ("new", "u1", 5),
        ("undated", "u1", None),
        ("b", "u2", 3),
    )
}
# angles of texts on a circle: the cosine of 30 degrees is .87, that of 60 is .5
ANGLES = {"is a nurse": 0, "works as a nurse": 30, "works": 60, "has a dog": 90}


def encode(texts: Sequence[str]) -> Vectors:
    radians = np.radians([ANGLES[text] for text in texts])
    return np.column_stack([np.cos(radians), np.sin(radians)]).astype(np.float32)


def statement(text: str, talk: str = "old", place: int = 0, **columns: object) -> Statement:
    values = {"kind": None, "turns": [1], "confidence": None, "attribute_id": None, "reason": None}
    user = TALKS[talk].user_id
    return Statement(
        user_id=user, conversation_id=talk, place=place, text=text, **(values | columns)
    )  # type: ignore[arg-type]


def test_near_equal_statements_become_the_surest_with_all_evidence() -> None:
    memory = merge_statements(
        [
            statement("works as a nurse", "new", confidence=0.9, kind="fact", turns=[3]),
            statement("is a nurse", "old", confidence=0.4, turns=[1, 2]),
            statement("has a dog", "new", place=1, kind="interest"),
        ],
        TALKS,
        encode,
        RULES,
    )
    nurse, dog = memory.attributes
    assert (nurse.text, nurse.kind, nurse.confidence, nurse.n_statements) == (
        "works as a nurse",
        "fact",
        0.9,
        2,
    )
    assert [(e.conversation_id, e.turn) for e in nurse.evidence] == [
        ("old", 1),
        ("old", 2),
        ("new", 3),
    ]
    assert nurse.stated_at == TALKS["new"].started_at
    assert (dog.place, dog.text, dog.kind, dog.confidence) == (1, "has a dog", "interest", None)
    assert [s.attribute_id for s in memory.statements] == [
        nurse.attribute_id,
        nurse.attribute_id,
        dog.attribute_id,
    ]


def test_an_attribute_does_not_drift_from_statement_to_statement() -> None:
    # "works" is near to "works as a nurse" and far from "is a nurse", with which the attribute began
    rows = [
        statement("is a nurse"),
        statement("works as a nurse", place=1),
        statement("works", place=2),
    ]
    texts = [a.text for a in merge_statements(rows, TALKS, encode, RULES).attributes]
    assert texts == ["is a nurse", "works"]


def test_users_are_never_merged_and_undated_conversations_are_the_oldest() -> None:
    rows = [
        statement("is a nurse", "b"),
        statement("is a nurse", "new"),
        statement("has a dog", "undated"),
    ]
    found = [
        (a.user_id, a.place, a.text)
        for a in merge_statements(rows, TALKS, encode, RULES).attributes
    ]
    assert found == [("u1", 0, "has a dog"), ("u1", 1, "is a nurse"), ("u2", 0, "is a nurse")]


def test_equal_texts_merge_at_any_threshold_and_ids_differ_by_user() -> None:
    rows = [statement("is a nurse"), statement("is a nurse", "new"), statement("is a nurse", "b")]
    strict = MergeRules(merge_above=1.5)
    attributes = merge_statements(rows, TALKS, encode, strict).attributes
    assert [a.n_statements for a in attributes] == [2, 1]
    assert len({a.attribute_id for a in attributes}) == 2


def test_statements_without_evidence_or_confidence_become_no_attribute() -> None:
    rows = [
        statement("is a nurse", reason="no evidence: it names no turn", turns=[]),
        statement("has a dog", place=1, confidence=0.2),
        statement("works", place=2, reason="the reply states nothing"),
    ]
    strict = MergeRules(merge_above=0.8, least_confidence=0.3)
    memory = merge_statements(rows, TALKS, encode, strict)
    assert memory.attributes == []
    assert [s.reason for s in memory.statements] == [rows[0].reason, NOT_SURE, rows[2].reason]
    lenient = merge_statements(
        rows, TALKS, encode, strict.model_copy(update={"needs_evidence": False})
    )
    assert [(a.text, a.evidence) for a in lenient.attributes] == [("is a nurse", [])]
