"""What a study gives to raters: attributes, attributes beside questions, answers, pairs of answers.

A unit is made from tables of the study, so that whatever raters say of it leads back to the answers.
Raters see a code that says nothing: names of conditions would tell them what the study hopes for.
"""

import dataclasses
import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from string import ascii_uppercase
from typing import NamedTuple

from fieldwork.errors import StudyError
from fieldwork.keyed_order import KeyedPool, draw_in_turn
from fieldwork.pseudonyms import user_pseudonym
from fieldwork.records.generation import Response
from fieldwork.records.judging import JudgedUnit, Side, UnitKind, UnitText
from fieldwork.records.memory import Attribute
from fieldwork.records.puppets import Conversation
from fieldwork.records.shared import ItemKey
from fieldwork.records.tasks import LETTER_KINDS, Item

CODE_DIGITS = 12
SIDE_LETTERS = 6
_LETTERS = str.maketrans("0123456789", "ghijkmnpqr")
_SPEAKERS = {"user": "User", "assistant": "Assistant", "system": "System"}


class UnitSettings(NamedTuple):
    """How the units of one entry of `judging.units` are made.

    Attributes:
        name: of the entry.
        n: how many are drawn; None for all.
        group: the part of the units that these are, such as real or synthetic; None for none.
        seed: of the draw.
        groups: of users who have one of their own, by user id.
    """

    name: str
    n: int | None
    group: str | None
    seed: int
    groups: Mapping[str, str] = {}


class StudyTexts(NamedTuple):
    """What units are made from.

    Attributes:
        attributes: of all users; empty where the study remembers nobody.
        conversations: by id, those that show attributes.
        items: by task and item id.
        responses: of each condition, by its name, with the first answer of each puppet or rerun.
    """

    attributes: Sequence[Attribute]
    conversations: Mapping[str, Conversation]
    items: Mapping[ItemKey, Item]
    responses: Mapping[str, Sequence[Response]]


def units_of(kind: UnitKind, texts: StudyTexts, settings: UnitSettings) -> list[UnitText]:
    """The units of an entry, with those marked that raters are given: all, or a draw by users in turn.

    Raises:
        StudyError: users have groups, and none of these users has a unit.
    """
    makers = {
        "attributes": _attribute_units,
        "relevance": _relevance_units,
        "answers": _answer_units,
        "pairs": _pair_units,
        "mentions": _mention_units,
    }
    units = [dataclasses.replace(unit, unit_kind=kind) for unit in makers[kind](texts, settings)]
    if settings.groups and units and not settings.groups.keys() & {unit.user_id for unit in units}:
        raise StudyError(
            "judging.groups: none of its user_id is a user of these units; write the ids that the corpus "
            "has"
        )
    if settings.n is None:
        return units
    drawn_ids = {unit.unit_id for unit in draw_units(units, settings.n, settings.seed)}
    return [dataclasses.replace(unit, is_drawn=unit.unit_id in drawn_ids) for unit in units]


def refined_units(
    attributes: Mapping[str, Attribute], conversations: Mapping[str, Conversation]
) -> list[UnitText]:
    """Attributes that were stated once more, as units; the codes are theirs alone."""
    settings = UnitSettings("refined", None, "refined", 0)
    texts = StudyTexts(list(attributes.values()), conversations, {}, {})
    return units_of("attributes", texts, settings)


def user_groups(rows: Sequence[Mapping[str, str]], key: bytes) -> dict[str, str]:
    """The group of each user, from rows with `user_id` and `group`.

    Args:
        key: of the users' pseudonyms.

    Raises:
        StudyError: a user is in two groups.
    """
    groups: dict[str, str] = {}
    for row in rows:
        user, group = user_pseudonym(row["user_id"], key), row["group"]
        if groups.setdefault(user, group) != group:
            raise StudyError(
                f"judging.groups: user {row['user_id']} is in two groups ({groups[user]}, {group}); "
                "name one"
            )
    return groups


def drawn_units(units: Iterable[UnitText]) -> list[UnitText]:
    """The units that raters are given."""
    return [unit for unit in units if unit.is_drawn]


def draw_units(units: Sequence[UnitText], n: int, seed: int) -> list[UnitText]:
    """A draw of `n` units in which no user has two more than another, as far as they have so many."""
    by_id = {unit.unit_id: unit for unit in units}
    by_user: dict[str, list[UnitText]] = {}
    for unit_id in KeyedPool(by_id).draw(None, seed, "units"):
        by_user.setdefault(by_id[unit_id].user_id, []).append(by_id[unit_id])
    users = KeyedPool(by_user).draw(None, seed, "users of units")
    turns = max((len(own_units) for own_units in by_user.values()), default=0)
    in_turn = [by_user[u][turn] for turn in range(turns) for u in users if turn < len(by_user[u])]
    return in_turn[:n]


def unit_code(name: str, unit_id: str, seed: int) -> str:
    """What raters' files call a unit."""
    return hashlib.sha256(f"{seed}\0{name}\0{unit_id}".encode()).hexdigest()[:CODE_DIGITS]


def side_code(unit_id: str, code: str, side: Side) -> str:
    """What raters' files call the side that is shown first, which differs from unit to unit.

    Letters alone, which no spreadsheet takes for a number. Raters do not know the unit's id, so the code
    does not tell them which answer is whose.
    """
    digits = hashlib.sha256(f"{unit_id}\0{code}\0{side}".encode()).hexdigest()[:SIDE_LETTERS]
    return digits.translate(_LETTERS)


def judged_unit(unit: UnitText) -> JudgedUnit:
    """The unit without its texts."""
    return JudgedUnit(
        unit_id=unit.unit_id,
        user_id=unit.user_id,
        item_id=unit.item_id,
        unit_group=unit.unit_group,
        author_a=unit.author_a,
        author_b=unit.author_b,
        characters_a=None if unit.text_a is None else len(unit.text_a),
        characters_b=None if unit.text_b is None else len(unit.text_b),
        unit_kind=unit.unit_kind,
    )


# ---- attributes --------------------------------------------------------------------------------------


def _attribute_units(texts: StudyTexts, settings: UnitSettings) -> Iterator[UnitText]:
    for attribute in texts.attributes:
        yield _unit(
            settings,
            attribute.attribute_id,
            attribute.user_id,
            attribute=attribute.text,
            evidence=_evidence_text(attribute, texts.conversations),
        )


def _relevance_units(texts: StudyTexts, settings: UnitSettings) -> Iterator[UnitText]:
    for attribute in texts.attributes:
        for (task, _), item in texts.items.items():
            yield _unit(
                settings,
                f"{attribute.attribute_id}/{task}/{item.item_id}",
                attribute.user_id,
                item=item,
                attribute=attribute.text,
            )


def _evidence_text(attribute: Attribute, conversations: Mapping[str, Conversation]) -> str:
    """The conversations that show an attribute, the turns that do marked with an arrow."""
    turns: dict[str, set[int]] = {}
    for one in attribute.evidence:
        turns.setdefault(one.conversation_id, set()).add(one.turn)
    return "\n\n---\n\n".join(
        "\n\n".join(
            f"{'→ ' if number in marked_turns else ''}{_SPEAKERS.get(m.role, m.role)}: {m.content}"
            for number, m in enumerate(conversations[name].messages, start=1)
        )
        for name, marked_turns in turns.items()
    )


# ---- answers -----------------------------------------------------------------------------------------


def _answer_units(texts: StudyTexts, settings: UnitSettings) -> Iterator[UnitText]:
    facts_of = _known_facts(texts.attributes)
    for condition, responses in texts.responses.items():
        for response in _with_text(responses):
            puppet = response.puppet_id or f"{condition}-{response.replicate}"
            name = f"{response.model}/{response.task}/{condition}/{response.item_id}/{puppet}"
            yield _unit(
                settings,
                name,
                puppet,
                item=texts.items[ItemKey(response.task, response.item_id)],
                author_a=response.model,
                facts=facts_of.get(puppet, []),
                text_a=response.text,
            )


def _pair_units(texts: StudyTexts, settings: UnitSettings) -> Iterator[UnitText]:
    """A user's answer under the second condition beside an answer under the first.

    Where the first condition has no user, each user's answer stands beside a rerun of its own.
    """
    (name_a, first), (name_b, second) = texts.responses.items()
    facts_of = _known_facts(texts.attributes)
    puppets = sorted({r.puppet_id for r in second if r.puppet_id is not None})
    by_puppet: dict[tuple[str, str, str], Response] = {}
    reruns: dict[tuple[str, str, str], Response] = {}
    for a in _with_text(first):
        if a.puppet_id is None:
            reruns[a.task, a.item_id, str(a.replicate)] = a
        else:
            by_puppet[a.task, a.item_id, a.puppet_id] = a
    rerun_names = KeyedPool(name for _, _, name in reruns)
    names = draw_in_turn(rerun_names, puppets, 1, "reruns of users")
    rerun_of = {
        puppet: name for puppet, name_list in zip(puppets, names, strict=True) for name in name_list
    }
    for b in _with_text(second):
        if b.puppet_id is None:
            continue
        generic = by_puppet.get((b.task, b.item_id, b.puppet_id))
        generic = generic or reruns.get((b.task, b.item_id, rerun_of.get(b.puppet_id, "")))
        if generic is None:
            continue
        yield _unit(
            settings,
            f"{b.model}/{b.task}/{b.item_id}/{b.puppet_id}/{name_a}-{name_b}",
            b.puppet_id,
            item=texts.items[ItemKey(b.task, b.item_id)],
            author_a=generic.model,
            author_b=b.model,
            facts=facts_of.get(b.puppet_id, []),
            text_a=generic.text,
            text_b=b.text,
        )


def _mention_units(texts: StudyTexts, settings: UnitSettings) -> Iterator[UnitText]:
    """An answer beside the same answer after a sentence that names something known of the user.

    The two differ in nothing else, so whoever prefers the second one prefers the naming.
    """
    attributes = {attribute.user_id: attribute for attribute in reversed(texts.attributes)}
    for condition, responses in texts.responses.items():
        for response in _with_text(responses):
            attribute = attributes.get(response.puppet_id or "")
            if attribute is None:
                continue
            name = f"{response.model}/{response.task}/{condition}/{response.item_id}"
            yield _unit(
                settings,
                f"{name}/{attribute.user_id}/named",
                attribute.user_id,
                item=texts.items[ItemKey(response.task, response.item_id)],
                facts=[attribute.text],
                text_a=response.text,
                text_b=f"I remember this about you: {attribute.text}\n\n{response.text}",
            )


def _with_text(responses: Iterable[Response]) -> Iterator[Response]:
    """The first answers that say something."""
    firsts: dict[tuple[str, str, str | None, int | None], Response] = {}
    for response in responses:
        # of a user the first draw; reruns without one are draws of their own
        draw = None if response.puppet_id is not None else response.replicate
        key = (response.task, response.item_id, response.puppet_id, draw)
        if response.text and (key not in firsts or response.replicate < firsts[key].replicate):
            firsts[key] = response
    yield from firsts.values()


def _known_facts(attributes: Iterable[Attribute]) -> dict[str, list[str]]:
    facts: dict[str, list[str]] = {}
    for attribute in attributes:
        facts.setdefault(attribute.user_id, []).append(attribute.text)
    return facts


def _question_text(item: Item) -> str:
    """The question with its options, one a line, unless it names them itself."""
    if item.kind not in LETTER_KINDS:
        return item.question
    options = [*zip(item.marks or ascii_uppercase, item.choices, strict=False)]
    if all(_names_option(item.question, mark, choice) for mark, choice in options):
        return item.question
    lines = (mark if mark == choice else f"{mark}. {choice}" for mark, choice in options)
    return "\n".join([item.question, "", *lines])


def _names_option(question: str, mark: str, choice: str) -> bool:
    return bool(re.search(rf"{re.escape(mark)}\W{{1,3}}{re.escape(choice)}", question))


def _unit(
    settings: UnitSettings,
    unit_id: str,
    user_id: str,
    *,
    item: Item | None = None,
    author_a: str | None = None,
    author_b: str | None = None,
    attribute: str | None = None,
    facts: Sequence[str] = (),
    evidence: str | None = None,
    text_a: str | None = None,
    text_b: str | None = None,
) -> UnitText:
    return UnitText(
        unit_id=unit_id,
        unit_kind="answers",  # set by the caller
        code=unit_code(settings.name, unit_id, settings.seed),
        user_id=user_id,
        item_id=None if item is None else item.item_id,
        unit_group=settings.groups.get(user_id, settings.group),
        author_a=author_a,
        author_b=author_b,
        attribute=attribute,
        facts=list(facts),
        evidence=evidence,
        question=None if item is None else _question_text(item),
        text_a=text_a,
        text_b=text_b,
    )
