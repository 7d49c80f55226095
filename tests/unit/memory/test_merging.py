"""Near-equal statements of one user become one attribute, with all their evidence."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from fieldwork.encoder import Vectors
from fieldwork.memory.merging import NOT_SURE, Memory, merge_statements
from fieldwork.records.memory import Statement
from fieldwork.sections.memory import MergeRules
from unit.memory.conversations import conversation
from unit.table_rows import row_of

DAYS = {"old": ("u1", 1), "new": ("u1", 5), "undated": ("u1", None), "b": ("u2", 3)}
TALKS = {n: conversation("x", name=n, user=user, day=day) for n, (user, day) in DAYS.items()}
# angles of texts on a circle: the cosine of 30 degrees is .87, that of 60 is .5
ANGLES = {"is a nurse": 0, "works as a nurse": 30, "works": 60, "has a dog": 90}


def encode(texts: Sequence[str]) -> Vectors:
    radians = np.radians([ANGLES[text] for text in texts])
    return np.column_stack([np.cos(radians), np.sin(radians)]).astype(np.float32)


def statement(text: str, talk: str = "old", place: int = 0, **columns: Any) -> Statement:
    keys = {"user_id": TALKS[talk].user_id, "conversation_id": talk, "place": place, "text": text}
    return row_of(Statement, **keys | {"turns": [1]} | columns)


def merged(rows: Sequence[Statement], **rules: Any) -> Memory:
    return merge_statements(rows, TALKS, encode, MergeRules(**{"merge_above": 0.8} | rules))


def test_near_equal_statements_become_the_surest_with_all_evidence() -> None:
    memory = merged(
        [
            statement("works as a nurse", "new", confidence=0.9, kind="fact", turns=[3]),
            statement("is a nurse", "old", confidence=0.4, turns=[1, 2]),
            statement("has a dog", "new", place=1, kind="interest"),
        ]
    )
    nurse, dog = memory.attributes
    assert (nurse.text, nurse.kind) == ("works as a nurse", "fact")
    assert (nurse.confidence, nurse.n_statements) == (0.9, 2)
    turns = [(e.conversation_id, e.turn) for e in nurse.evidence]
    assert turns == [("old", 1), ("old", 2), ("new", 3)]
    assert nurse.stated_at == TALKS["new"].started_at
    assert (dog.place, dog.text, dog.kind, dog.confidence) == (1, "has a dog", "interest", None)
    ids = [statement.attribute_id for statement in memory.statements]
    assert ids == [nurse.attribute_id, nurse.attribute_id, dog.attribute_id]


def test_an_attribute_does_not_drift_from_statement_to_statement() -> None:
    # "works" is near to "works as a nurse" and far from "is a nurse", with which the attribute began
    texts = ("is a nurse", "works as a nurse", "works")
    memory = merged([statement(text, place=place) for place, text in enumerate(texts)])
    assert [a.text for a in memory.attributes] == ["is a nurse", "works"]


def test_users_are_never_merged_and_undated_conversations_are_the_oldest() -> None:
    rows = [statement("is a nurse", talk) for talk in ("b", "new")]
    memory = merged([*rows, statement("has a dog", "undated")])
    found = [(a.user_id, a.place, a.text) for a in memory.attributes]
    assert found == [("u1", 0, "has a dog"), ("u1", 1, "is a nurse"), ("u2", 0, "is a nurse")]
    # equal texts merge at any threshold, and ids differ by user
    memory = merged([statement("is a nurse"), *rows], merge_above=1.5)
    assert [a.n_statements for a in memory.attributes] == [2, 1]
    assert len({a.attribute_id for a in memory.attributes}) == 2


def test_statements_without_evidence_or_confidence_become_no_attribute() -> None:
    rows = [
        statement("is a nurse", reason="no evidence: it names no turn", turns=[]),
        statement("has a dog", place=1, confidence=0.2),
        statement("works", place=2, reason="the reply states nothing"),
    ]
    memory = merged(rows, least_confidence=0.3)
    assert memory.attributes == []
    assert [s.reason for s in memory.statements] == [rows[0].reason, NOT_SURE, rows[2].reason]
    lenient = merged(rows, least_confidence=0.3, needs_evidence=False)
    assert [(a.text, a.evidence) for a in lenient.attributes] == [("is a nurse", [])]
