"""From statements to attributes: near-equal statements of one user become one, with all their evidence.

Statements are taken from the oldest conversation to the newest. One joins the most similar attribute so
far, compared with its first statement, if the cosine of their vectors is at least the threshold; else it
begins a new attribute. So an attribute cannot drift from statement to statement.
"""

import dataclasses
import hashlib
import logging
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from fieldwork.encoder import Vectors
from fieldwork.memory.reading import age
from fieldwork.records.memory import Attribute, Evidence, Statement
from fieldwork.records.puppets import Conversation
from fieldwork.sections.memory import MergeRules

logger = logging.getLogger(__name__)

NOT_SURE = "less sure than memory.least_confidence"

Encode = Callable[[Sequence[str]], Vectors]


class Memory(NamedTuple):
    """All statements, and the attributes that they became."""

    statements: list[Statement]
    attributes: list[Attribute]


def merge_statements(
    statements: Sequence[Statement],
    conversations: Mapping[str, Conversation],
    encode: Encode,
    rules: MergeRules,
) -> Memory:
    """The attributes of every user.

    Args:
        conversations: by id.
        encode: unit vectors of texts.
    """
    checked_statements = [_check(statement, rules) for statement in statements]
    usable = [s for s in checked_statements if s.reason is None and s.text is not None]
    by_user: dict[str, list[Statement]] = {}
    for statement in sorted(usable, key=lambda s: (age(conversations[s.conversation_id]), s.place)):
        by_user.setdefault(statement.user_id, []).append(statement)
    texts = list(dict.fromkeys(statement.text or "" for statement in usable))
    vectors = dict(zip(texts, encode(texts), strict=True)) if texts else {}
    attributes: list[Attribute] = []
    ids: dict[tuple[str, int], str] = {}
    for user, rows in sorted(by_user.items()):
        for place, group in enumerate(_groups(rows, vectors, rules.merge_above)):
            attribute = _attribute(user, place, group, conversations)
            attributes.append(attribute)
            ids |= {(s.conversation_id, s.place): attribute.attribute_id for s in group}
    merged_statements = [
        dataclasses.replace(s, attribute_id=ids.get((s.conversation_id, s.place)))
        for s in checked_statements
    ]
    _log_counts(merged_statements, attributes)
    return Memory(merged_statements, attributes)


def _log_counts(statements: Sequence[Statement], attributes: Sequence[Attribute]) -> None:
    reasons = Counter(s.reason for s in statements if s.reason is not None)
    logger.info(
        "%d statements, %d attributes of %d users; left out: %s",
        *(len(statements), len(attributes), len({a.user_id for a in attributes})),
        ", ".join(f"{n} ({reason})" for reason, n in reasons.most_common()) or "none",
    )
    if not attributes:
        logger.warning(
            "nothing is known of any user, so conditions with a memory ask as blank calls do"
        )


def attribute_id(user_id: str, text: str) -> str:
    """16 hex digits of a hash of the user and an attribute's oldest statement."""
    return hashlib.sha256(f"{user_id}\0{text}".encode()).hexdigest()[:16]


def _check(statement: Statement, rules: MergeRules) -> Statement:
    reason = statement.reason
    if reason is not None and reason.startswith("no evidence") and not rules.needs_evidence:
        reason = None
    confidence = statement.confidence
    if reason is None and confidence is not None and confidence < rules.least_confidence:
        reason = NOT_SURE
    return dataclasses.replace(statement, reason=reason)


def _groups(
    rows: Sequence[Statement], vectors: Mapping[str, Vectors], threshold: float
) -> list[list[Statement]]:
    groups: list[list[Statement]] = []
    firsts: list[Vectors] = []
    for row in rows:
        text = row.text or ""
        likeness = [
            2.0 if text == group[0].text else float(np.dot(first, vectors[text]))
            for group, first in zip(groups, firsts, strict=True)
        ]
        best = int(np.argmax(likeness)) if likeness else -1
        if best >= 0 and likeness[best] >= threshold:
            groups[best].append(row)
        else:
            groups.append([row])
            firsts.append(vectors[text])
    return groups


def _attribute(
    user: str,
    place: int,
    group: Sequence[Statement],
    conversations: Mapping[str, Conversation],
) -> Attribute:
    # of equals the first, which is the oldest
    surest = max(group, key=lambda s: -1.0 if s.confidence is None else s.confidence)
    text = surest.text or ""
    times = [conversations[s.conversation_id].started_at for s in group]
    evidence = [(s.conversation_id, turn) for s in group for turn in s.turns]
    return Attribute(
        # the oldest statements of two attributes differ; the surest ones need not
        attribute_id=attribute_id(user, group[0].text or ""),
        user_id=user,
        place=place,
        text=text,
        kind=next((s.kind for s in (surest, *group) if s.kind is not None), "fact"),
        confidence=surest.confidence,
        n_statements=len(group),
        stated_at=max((time for time in times if time is not None), default=None),
        evidence=[Evidence(*one) for one in dict.fromkeys(evidence)],
    )
