"""What the page needs to know of a study beside its tables: names, labels and their order."""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from string import ascii_uppercase
from typing import Any, NamedTuple, TypeVar

from fieldwork.markdown_text import literal
from fieldwork.readable_texts import cut
from fieldwork.records.field import FIELD
from fieldwork.records.judging import UnitKind
from fieldwork.records.parsing import UNKNOWN
from fieldwork.records.shared import ItemKey
from fieldwork.records.tasks import LETTER_KINDS, Item

LONGEST_QUESTION = 110
LONGEST_OPTION = 36
"""Letters of a question and of an option that the page prints; the page's view of questions has all."""
NO_LETTER = "no readable letter"


class StudyOutline(NamedTuple):
    """Names, labels and roles of a study.

    Attributes:
        models: names → labels, in the order of the page.
        conditions: names → labels, in the order of the page.
        users: conditions that bring a user, real ones included.
        controls: conditions that ask the baseline again: negative controls.
        rarest_users: share of users of the rarest kind that intervals cover.
        notes: cautions about models and tasks that the config states, and about the files of the field.
        model_limits: what the config says that answers of its models cannot stand for.
        retrieval: conditions that bring what is most like each prompt.
        question: what the study asks, in one sentence.
        pairs: by the scale of raters, labels of the conditions of sides a and b of a pair.
        unit_kinds: by the scale of raters, what they judge on it.
        phrases: how questions are asked under each condition, in the words of a reader.
        corpora: names of the corpora that its users are made from.
        questions: the questions of its tasks.
        waves: in which the same was asked, in their order; none where a study asks once.
    """

    name: str
    models: Mapping[str, str]
    tasks: Sequence[str]
    conditions: Mapping[str, str]
    baseline: str
    users: Sequence[str]
    controls: Sequence[str]
    rarest_users: float
    notes: Sequence[str]
    model_limits: Sequence[str] = ()
    retrieval: Sequence[str] = ()
    question: str | None = None
    pairs: Mapping[str, Sequence[str]] = {}
    unit_kinds: Mapping[str, UnitKind] = {}
    phrases: Mapping[str, str] = {}
    corpora: Sequence[str] = ()
    questions: Mapping[ItemKey, Item] = {}
    waves: Sequence[str] = ()

    @property
    def compared_questions(self) -> list[ItemKey]:
        """The questions of its tasks whose answers can be compared: all but free text."""
        return [
            key
            for key, item in self.questions.items()
            if key.task in self.tasks and item.kind != "text"
        ]

    def phrase(self, condition: str) -> str:
        """How questions are asked under a condition, in words: `with a user's profile`."""
        return self.phrases.get(condition, self.label(condition))

    def question_text(self, task: str, item_id: str) -> str:
        """A question in its own words, cut where it is long; its id where it is not known."""
        item = self.questions.get(ItemKey(task, item_id))
        return literal(cut(item.question, letters=LONGEST_QUESTION) if item else item_id)

    def option_text(self, task: str, item_id: str, option: str) -> str:
        """An option in its own words: of a letter, what it stands for."""
        item = self.questions.get(ItemKey(task, item_id))
        if item and item.kind in LETTER_KINDS:
            if option == UNKNOWN:
                return NO_LETTER
            place = ascii_uppercase.find(option)
            option = item.choices[place] if 0 <= place < len(item.choices) else option
        return literal(cut(option, letters=LONGEST_OPTION))

    def marked_option(self, task: str, item_id: str, option: str) -> str:
        """An option in its own words, marked where it is the right one."""
        item = self.questions.get(ItemKey(task, item_id))
        is_right = item is not None and item.gold is not None and item.gold == option
        return f"{self.option_text(task, item_id, option)}{' (right)' if is_right else ''}"

    def label(self, condition: str) -> str:
        """Printed name of a condition."""
        return self.conditions.get(condition, condition)

    @property
    def simulated_users(self) -> list[str]:
        """Conditions with a user, without real participants."""
        return [condition for condition in self.users if condition != FIELD]

    @property
    def has_field(self) -> bool:
        """Whether real users took part."""
        return FIELD in self.conditions


def markdown_outline(outline: StudyOutline) -> StudyOutline:
    """The outline with labels and notes escaped, so that Markdown shows them as they are."""
    return outline._replace(
        models={name: literal(label) for name, label in outline.models.items()},
        conditions={name: literal(label) for name, label in outline.conditions.items()},
        notes=[literal(note) for note in outline.notes],
        model_limits=[literal(limit) for limit in outline.model_limits],
        question=literal(outline.question) if outline.question else None,
        pairs={scale: [literal(side) for side in sides] for scale, sides in outline.pairs.items()},
        phrases={name: literal(phrase) for name, phrase in outline.phrases.items()},
        corpora=[literal(name) for name in outline.corpora],
    )


T = TypeVar("T")


def arm_name(row: Any, outline: StudyOutline) -> str:
    """Condition, task and, of several models, the model of a row, in a sentence."""
    return f"{outline.phrase(row.condition)}, {task_name(row, outline)}"


def task_name(row: Any, outline: StudyOutline) -> str:
    """Task and, of several models, the model of a row, in a sentence."""
    is_named = len(outline.models) > 1 and row.model is not None
    return ", ".join([literal(row.task), *([outline.models[row.model]] if is_named else [])])


def groups(rows: Iterable[T], key: Callable[[T], Hashable]) -> list[list[T]]:
    """Rows with equal keys together, in the order the keys come."""
    members: dict[Hashable, list[T]] = {}
    for row in rows:
        members.setdefault(key(row), []).append(row)
    return list(members.values())
