"""Which attributes of a user matter for a question.

All ways give each attribute of the user a score beside each question. The best `n` are selected, or those
that reach `at_least`, or both. Judges say yes or no, so what they select needs neither.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

import numpy as np

from fieldwork.encoder import Vectors
from fieldwork.records.judging import Judgement, LearntScore
from fieldwork.records.memory import Attribute, SelectedAttribute
from fieldwork.records.parsing import Answer
from fieldwork.records.tasks import Item
from fieldwork.sections.conditions import SelectionRules
from fieldwork.sections.judging import Scale
from fieldwork.text_templates import TextTemplate, render

By = Literal["all", "bm25", "encoder", "model", "people", "learnt"]

YES_NO = ("Yes", "No")
YES_LETTER = "A"
NOBODY_JUDGED = "nobody judged it"

Encode = Callable[[Sequence[str]], Vectors]
Scorer = Callable[[Sequence[Attribute], Item], Sequence[float | None]]
"""The scores of a user's attributes for a question, None where there is none."""


def select_attributes(
    attributes: Sequence[Attribute],
    items: Sequence[Item],
    scores: Scorer,
    rules: SelectionRules,
) -> Iterator[SelectedAttribute]:
    """A row for every attribute beside every question, the best first; ties keep the order of memory.

    Args:
        scores: of a user's attributes for a question, None where there is none.
    """
    for user_attributes in _by_user(attributes).values():
        for item in items:
            values = scores(user_attributes, item)
            pairs = zip(user_attributes, values, strict=True)
            best_first = sorted(
                pairs, key=lambda one: (one[1] is None, -(one[1] or 0.0), one[0].place)
            )
            for place, (attribute, score) in enumerate(best_first):
                yield SelectedAttribute(
                    user_id=attribute.user_id,
                    item_id=item.item_id,
                    attribute_id=attribute.attribute_id,
                    place=place,
                    score=score,
                    is_selected=_is_selected(place, score, rules),
                    reason=NOBODY_JUDGED if score is None else None,
                )


def selected_ids(items: Sequence[str], rows: Iterable[SelectedAttribute]) -> dict[str, set[str]]:
    """The attributes of all users that are selected for each question, by item id."""
    ids: dict[str, set[str]] = {item: set() for item in items}
    for row in rows:
        if row.is_selected:
            ids[row.item_id].add(row.attribute_id)
    return ids


def _is_selected(place: int, score: float | None, rules: SelectionRules) -> bool:
    if score is None or (rules.n is not None and place >= rules.n):
        return False
    return rules.at_least is None or score >= rules.at_least


def _by_user(attributes: Iterable[Attribute]) -> dict[str, list[Attribute]]:
    by_user: dict[str, list[Attribute]] = {}
    for attribute in sorted(attributes, key=lambda a: (a.user_id, a.place)):
        by_user.setdefault(attribute.user_id, []).append(attribute)
    return by_user


# ---- scores ------------------------------------------------------------------------------------------


def all_scores(attributes: Sequence[Attribute], _item: Item) -> list[float | None]:
    """Every attribute matters alike."""
    return [1.0] * len(attributes)


def bm25_scores(attributes: Sequence[Attribute], item: Item) -> list[float | None]:
    """BM25 of the question in the user's attributes (Lucene's form, k1 = 1.5, b = 0.75)."""
    import bm25s

    texts = [attribute.text for attribute in attributes]
    options = {"stopwords": "english", "show_progress": False}
    corpus = bm25s.tokenize(texts, **options)
    query = bm25s.tokenize([item.question], **options, return_ids=False)[0]
    shared_words = [word for word in query if word in corpus.vocab]
    if not shared_words:
        return [0.0] * len(texts)
    index = bm25s.BM25(k1=1.5, b=0.75, method="lucene")
    index.index(corpus, show_progress=False)
    return [float(score) for score in index.get_scores(shared_words)]


def encoder_scores(
    attributes: Sequence[Attribute], items: Sequence[Item], encode: Encode
) -> Scorer:
    """Cosine of an attribute and a question."""
    texts = [attribute.text for attribute in attributes]
    texts = list(dict.fromkeys([*texts, *(item.question for item in items)]))
    vectors = dict(zip(texts, encode(texts), strict=True)) if texts else {}

    def scores(attributes: Sequence[Attribute], item: Item) -> list[float | None]:
        question = vectors[item.question]
        return [float(np.dot(vectors[attribute.text], question)) for attribute in attributes]

    return scores


def judged_scores(
    shares: Mapping[tuple[str, str], float],
) -> Scorer:
    """Share of yes among the judgements of an attribute beside a question.

    Args:
        shares: by attribute id and item id.
    """

    def scores(attributes: Sequence[Attribute], item: Item) -> list[float | None]:
        return [shares.get((attribute.attribute_id, item.item_id)) for attribute in attributes]

    return scores


class ScoreSources(NamedTuple):
    """What scores are made from, each where the way of selecting needs it.

    Attributes:
        answers: of the model that selects.
        judgements: of people.
        scores: learnt from judgements.
        scale: on which people judged.
        encode: unit vectors of texts.
    """

    answers: Sequence[Answer]
    judgements: Sequence[Judgement]
    scores: Sequence[LearntScore]
    scale: Scale | None
    encode: Encode


def scorer(
    by: By, attributes: Sequence[Attribute], items: Sequence[Item], task: str, sources: ScoreSources
) -> Scorer:
    """The scores by one way of selecting."""
    if by == "encoder":
        return encoder_scores(attributes, items, sources.encode)
    if by == "model":
        return judged_scores(answered_shares(sources.answers, task))
    if by == "people" and sources.scale is not None:
        return judged_scores(people_shares(sources.judgements, task, sources.scale))
    if by == "learnt":
        return judged_scores(learnt_shares(sources.scores, task))
    return bm25_scores if by == "bm25" else all_scores


# ---- the question to a model -------------------------------------------------------------------------


def pair_id(attribute_id: str, task: str, item_id: str) -> str:
    """What an attribute beside a question is called; raters' files call it so too."""
    return f"{attribute_id}/{task}/{item_id}"


def selection_items(
    attributes: Sequence[Attribute],
    items: Mapping[str, Sequence[Item]],
    template: TextTemplate,
) -> Iterator[Item]:
    """The question to a model, whether an attribute matters, for each attribute and question.

    Args:
        items: of each task.
        template: of the prompt; it may use `attribute` and `question`.

    Raises:
        StudyError: the template cannot be filled in.
    """
    letters = "\n".join(f"{letter}. {option}" for letter, option in zip("AB", YES_NO, strict=True))
    pairs = [(task, item) for task, some_items in items.items() for item in some_items]
    for attribute in attributes:
        for task, item in pairs:
            values = {"attribute": attribute.text, "question": item.question}
            question = render(template, values)
            yield Item(
                item_id=pair_id(attribute.attribute_id, task, item.item_id),
                kind="choice",
                question=question,
                prompt=f"{question}\n{letters}\nAnswer with only a single letter.",
                choices=list(YES_NO),
                gold=None,
                subject=None,
                provenance=f"attribute {attribute.attribute_id} beside {item.item_id} of {task}",
            )


def answered_shares(answers: Iterable[Answer], task: str) -> dict[tuple[str, str], float]:
    """1 where the model's letter says yes and 0 where it says no, by attribute id and item id.

    Where the model states probabilities, that of yes.

    Args:
        task: whose questions count.
    """
    shares: dict[tuple[str, str], float] = {}
    for answer in answers:
        pair = _pair_of(answer.item_id, task)
        letter_shares = {p.option: p.probability for p in answer.option_probabilities or ()}
        if YES_LETTER in letter_shares:
            answer_share = letter_shares[YES_LETTER]
        elif answer.letter is not None:
            answer_share = float(answer.letter == YES_LETTER)
        else:
            continue
        if pair is not None:
            shares[pair] = answer_share
    return shares


def learnt_shares(scores: Iterable[LearntScore], task: str) -> dict[tuple[str, str], float]:
    """Learnt probabilities that an attribute matters, by attribute id and item id.

    Args:
        task: whose questions count.
    """
    pairs = ((_pair_of(score.unit_id, task), score.score) for score in scores)
    return {pair: score for pair, score in pairs if pair is not None and score is not None}


def people_shares(
    judgements: Iterable[Judgement], task: str, scale: Scale
) -> dict[tuple[str, str], float]:
    """Share of people who say yes, by attribute id and item id; a person counts once.

    Args:
        task: whose questions count.
    """
    votes: dict[tuple[str, str], list[bool]] = {}
    for judgement in judgements:
        is_counted = judgement.rater_kind == "person" and judgement.repeat == 0
        if is_counted and judgement.scale == scale.name and judgement.value is not None:
            pair = _pair_of(judgement.unit_id, task)
            if pair is not None:
                votes.setdefault(pair, []).append(judgement.value in scale.accepted)
    return {pair: sum(flags) / len(flags) for pair, flags in votes.items()}


def _pair_of(name: str, task: str) -> tuple[str, str] | None:
    """Attribute id and item id of a pair of a task; None for other names."""
    attribute, _, rest = name.partition("/")
    pair_task, _, item = rest.partition("/")
    return (attribute, item) if pair_task == task and item else None
