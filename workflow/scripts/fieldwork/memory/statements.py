"""Replies of the reading model as statements about a user, each with its turns or a reason.

In the form `statements` a reply is JSON: objects with `attribute`, `turns`, `confidence` and `kind`, in a
list or one after another. A reply of lines is read as well, but its statements name no turn. In the form
`sentences` each line is one of the user's sentences, and its turns are known. Nothing is guessed: what is
not shown by a turn of the user is kept with the reason, and becomes no attribute.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, get_args

from fieldwork.memory.reading import Form, UserSentence, sentences_of
from fieldwork.records.generation import OptionProbability, Response
from fieldwork.records.memory import AttributeKind, Statement
from fieldwork.records.puppets import Conversation

NO_STATEMENT = "the reply states nothing"
NO_TURN = "no evidence: it names no turn"
NOT_A_TURN = "no evidence: the conversation has no such turn"
NOT_THE_USER = "no evidence: the turns that it names are not the user's"
NOT_SAID = "no evidence: the user did not write this sentence"

LONGEST_STATEMENT = 1_000
"""Characters of a statement beyond which a reply has run away."""
RAN_AWAY = f"longer than {LONGEST_STATEMENT} characters"

_CONFIDENCE_WORDS = {"high": 0.9, "medium": 0.6, "low": 0.3}
_KINDS: tuple[AttributeKind, ...] = get_args(AttributeKind)
_LARGEST_TURN = 999_999
_MARKER = re.compile(r"^\s*(?:[-*•–]|\(?\d{1,3}[.):])\s*")


class _ReadStatement(NamedTuple):
    text: str
    turns: tuple[int, ...]
    confidence: float | None = None
    kind: AttributeKind | None = None
    reason: str | None = None


def read_statements(response: Response, conversation: Conversation, form: Form) -> list[Statement]:
    """What a reply states; one row with a reason where it states nothing."""
    if response.outcome != "ok" and response.outcome != "truncated":
        read = [_ReadStatement("", (), reason=f"the reply is {response.outcome}")]
    elif form == "sentences":
        read = list(_quotations(response, sentences_of(conversation)))
    else:
        read = [_check(one, conversation) for one in _statements_in(response.text or "")]
    read = read or [_ReadStatement("", (), reason=NO_STATEMENT)]
    return [
        Statement(
            user_id=conversation.user_id,
            conversation_id=conversation.conversation_id,
            place=place,
            text=one.text or None,
            kind=one.kind,
            turns=list(one.turns),
            confidence=one.confidence,
            attribute_id=None,
            reason=one.reason,
        )
        for place, one in enumerate(read)
    ]


def _quotations(response: Response, sentences: Sequence[UserSentence]) -> Iterator[_ReadStatement]:
    by_words = {_words(sentence.text): sentence for sentence in sentences}
    shares = _shares(response.option_probabilities)
    for line in _lines(response.text or ""):
        sentence = by_words.get(_words(line))
        if sentence is None:
            yield _ReadStatement(line, (), reason=NOT_SAID)
        else:
            yield _ReadStatement(sentence.text, sentence.turns, shares.get(sentence.text))


def _shares(probabilities: Sequence[OptionProbability] | None) -> Mapping[str, float]:
    """The probability of each sentence to be named first; none where all of it is on one, as at T = 0."""
    shares = {p.option: p.probability for p in probabilities or ()}
    return shares if sum(share > 0 for share in shares.values()) > 1 else {}


def _words(text: str) -> str:
    """A sentence without what a model changes when it quotes: case, spaces, quotation marks, its end."""
    return " ".join(text.casefold().split()).strip("\"'“”‘’.!? ")


def _lines(text: str) -> Iterator[str]:
    for line in text.splitlines():
        words = _MARKER.sub("", line).strip()
        if words:
            yield words


def _statements_in(text: str) -> list[_ReadStatement]:
    objects = list(_objects(text))
    if objects:
        return [one for one in map(_of_object, objects) if one is not None]
    if _is_empty_list(text):
        return []
    return [_ReadStatement(line, ()) for line in _lines(text)]


def _is_empty_list(text: str) -> bool:
    return text.strip().strip("`").removeprefix("json").strip() in ("[]", "{}", "")


def _objects(text: str) -> Iterator[Mapping[str, Any]]:
    """The outermost JSON objects of a text that are statements, whatever stands between them."""
    decoder, start = json.JSONDecoder(), text.find("{")
    while start >= 0:
        try:
            value, end = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            start = text.find("{", start + 1)
            continue
        if isinstance(value, dict):
            if "attribute" in value:
                yield value
            else:
                yield from _inner_objects(value)
        start = text.find("{", end)


def _inner_objects(value: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Statements under a name of their own, such as {"attributes": [...]}."""
    for inner in value.values():
        if isinstance(inner, list):
            yield from (one for one in inner if isinstance(one, dict) and "attribute" in one)


def _of_object(value: Mapping[str, Any]) -> _ReadStatement | None:
    text = value["attribute"]
    if not isinstance(text, str) or not text.strip():
        return None
    kind = str(value.get("kind", "")).strip().lower()
    return _ReadStatement(
        " ".join(text.split()),
        tuple(dict.fromkeys(_turns(value.get("turns")))),
        _confidence(value.get("confidence")),
        next((name for name in _KINDS if name == kind), None),
    )


def _turns(value: Any) -> Iterator[int]:
    """Numbers of turns; in a text every number counts."""
    if isinstance(value, bool) or value is None:
        return
    if isinstance(value, int):
        # a number that no column holds is no turn either, as 0 is none
        yield value if abs(value) <= _LARGEST_TURN else 0
    elif isinstance(value, str):
        yield from (int(number) for number in re.findall(r"\d{1,6}", value))
    elif isinstance(value, list):
        for one in value:
            yield from _turns(one)


def _confidence(value: Any) -> float | None:
    """A confidence from 0 to 1, also as a text: a word, a number or a percentage."""
    if isinstance(value, str):
        text = value.strip().lower()
        return _CONFIDENCE_WORDS.get(text, _confidence(_number_in(text)))
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value <= 1 else None


def _number_in(text: str) -> float | None:
    digits = text.removesuffix("%")
    try:
        return float(digits) / (1 if digits == text else 100)
    except ValueError:
        return None


def _check(one: _ReadStatement, conversation: Conversation) -> _ReadStatement:
    """The statement, with the reason why it is no evidence where the user did not show it."""
    if len(one.text) > LONGEST_STATEMENT:
        return one._replace(text=one.text[:LONGEST_STATEMENT], reason=RAN_AWAY)
    if not one.turns:
        return one._replace(reason=NO_TURN)
    messages = conversation.messages
    turns = tuple(turn for turn in one.turns if 1 <= turn <= len(messages))
    if not turns:
        return one._replace(reason=NOT_A_TURN)
    if not any(messages[turn - 1].role == "user" for turn in turns):
        return one._replace(turns=turns, reason=NOT_THE_USER)
    return one._replace(turns=turns)
