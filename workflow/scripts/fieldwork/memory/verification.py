"""Attributes verified: what raters would accept is kept, the rest is stated once more and verified again.

What raters would say is learnt from other users (`judging/learning`), so nobody's attributes are judged
by a model that has seen them. An attribute that nobody was judged enough to score is kept.
"""

import dataclasses
from collections.abc import Iterator, Mapping, Sequence, Set
from typing import NamedTuple

from fieldwork.memory.merging import attribute_id
from fieldwork.memory.reading import Form, sentences_of, transcript
from fieldwork.memory.statements import read_statements
from fieldwork.records.generation import Response
from fieldwork.records.judging import LearntScore
from fieldwork.records.memory import Attribute, Evidence, Verification
from fieldwork.records.puppets import Conversation
from fieldwork.records.tasks import Item
from fieldwork.text_templates import TextTemplate, render

NO_SCORE = "nothing could be learnt, so it is kept"
NOT_REFINED = "nothing better was stated"
STILL_REJECTED = "what was stated in its place would be rejected too"
KNOWN_ALREADY = "what was stated in its place is known of the user already"


class VerifiedMemory(NamedTuple):
    """What is left of the attributes, and what became of each."""

    attributes: list[Attribute]
    verifications: list[Verification]


def evidence_ids(attributes: Sequence[Attribute]) -> set[str]:
    """The conversations that show attributes."""
    return {one.conversation_id for attribute in attributes for one in attribute.evidence}


def rejected_attributes(
    attributes: Sequence[Attribute], scores: Sequence[LearntScore], keep_above: float
) -> list[Attribute]:
    """The attributes that raters would reject.

    Args:
        keep_above: probability of acceptance from which one is kept.
    """
    by_id = {score.unit_id: score.score for score in scores}
    return [
        attribute
        for attribute in attributes
        if (score := by_id.get(attribute.attribute_id)) is not None and score < keep_above
    ]


def refining_items(
    attributes: Sequence[Attribute],
    conversations: Mapping[str, Conversation],
    form: Form,
    template: TextTemplate,
) -> Iterator[Item]:
    """The question for another statement, one for each attribute that has evidence.

    Args:
        conversations: by id.
        template: of the prompt; it may use `conversation`, `attribute` and `is_quoted`.

    Raises:
        StudyError: the template cannot be filled in.
    """
    for attribute in attributes:
        if not attribute.evidence:
            continue
        talk = conversations[attribute.evidence[0].conversation_id]
        is_quoted = form == "sentences"
        sentences = [s.text for s in sentences_of(talk) if s.text != attribute.text]
        if is_quoted and not sentences:
            continue
        values = {
            "conversation": transcript(talk),
            "attribute": attribute.text,
            "is_quoted": is_quoted,
        }
        prompt = render(template, values)
        yield Item(
            item_id=attribute.attribute_id,
            kind="text",
            question=prompt,
            prompt=prompt,
            choices=sentences if is_quoted else [],
            gold=None,
            subject=None,
            provenance=f"attribute {attribute.attribute_id} of user {attribute.user_id}",
            list_length=1 if is_quoted else None,
        )


def refinements(
    attributes: Sequence[Attribute],
    responses: Sequence[Response],
    conversations: Mapping[str, Conversation],
    form: Form,
) -> dict[str, Attribute]:
    """What the model states in the place of attributes, by the id of the attribute that it replaces."""
    by_id = {attribute.attribute_id: attribute for attribute in attributes}
    new_attributes = {}
    for response in responses:
        attribute = by_id[response.item_id]
        talk = conversations[attribute.evidence[0].conversation_id]
        statements = [s for s in read_statements(response, talk, form) if s.reason is None]
        if not statements or not statements[0].text:
            continue
        first, text = statements[0], statements[0].text
        new_attributes[attribute.attribute_id] = dataclasses.replace(
            attribute,
            attribute_id=attribute_id(attribute.user_id, f"{attribute.attribute_id}:{text}"),
            text=text,
            kind=first.kind or attribute.kind,
            confidence=first.confidence,
            n_statements=1,
            evidence=[Evidence(talk.conversation_id, turn) for turn in first.turns],
        )
    return new_attributes


def verify(
    attributes: Sequence[Attribute],
    scores: Sequence[LearntScore],
    new_attributes: Mapping[str, Attribute],
    new_scores: Sequence[float | None],
    keep_above: float,
) -> VerifiedMemory:
    """The attributes that are kept as they are or in another wording; equal ones of a user once.

    Args:
        new_attributes: by the id of the attribute that one replaces.
        new_scores: of these, in their order.
        keep_above: probability of acceptance from which one is kept.
    """
    by_id = {score.unit_id: score.score for score in scores}
    score_of_new = dict(zip(new_attributes, new_scores, strict=True))
    rows, verifications = list[Attribute](), list[Verification]()
    rejected_ids = {a.attribute_id for a in rejected_attributes(attributes, scores, keep_above)}
    texts = {(a.user_id, a.text) for a in attributes if a.attribute_id not in rejected_ids}
    for attribute in attributes:
        score, new = by_id.get(attribute.attribute_id), new_attributes.get(attribute.attribute_id)
        new_score = score_of_new.get(attribute.attribute_id)
        verification = Verification(
            user_id=attribute.user_id,
            attribute_id=attribute.attribute_id,
            score=score,
            action="keep",
            new_attribute_id=None,
            new_text=new.text if new else None,
            new_score=new_score,
            reason=NO_SCORE if score is None else None,
        )
        if attribute.attribute_id not in rejected_ids:
            rows.append(attribute)
        elif (reason := _reason_to_drop(new, new_score, texts, keep_above)) is None and new:
            texts.add((new.user_id, new.text))
            rows.append(new)
            verification = dataclasses.replace(
                verification, action="refine", new_attribute_id=new.attribute_id
            )
        else:
            verification = dataclasses.replace(verification, action="drop", reason=reason)
        verifications.append(verification)
    return VerifiedMemory(rows, verifications)


def _reason_to_drop(
    new: Attribute | None,
    new_score: float | None,
    known_texts: Set[tuple[str, str]],
    keep_above: float,
) -> str | None:
    """Why an attribute that raters would reject gets no other wording; None where it gets one.

    Args:
        known_texts: user and text of what is kept so far.
    """
    if new is None:
        return NOT_REFINED
    if (new_score or 0.0) < keep_above:
        return STILL_REJECTED
    return KNOWN_ALREADY if (new.user_id, new.text) in known_texts else None
