"""The columns of the page's answers: what they count equals what the metrics count."""

import dataclasses
import itertools
import random
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pandas as pd
import pytest

from fieldwork.cells import mark_counted
from fieldwork.estimates.answer_sets import read_answer_sets
from fieldwork.explorer.answers import (
    ARRIVAL,
    CORRECTION,
    COUNTED_RUN,
    CUT,
    FIRST_ANSWER,
    FIRST_VALUE,
    LIKENESS,
    NO_READING,
    ODD_LENGTH,
    REFUSAL,
    PageNames,
    Readings,
    ReplyFacts,
    answer_columns,
    base_bits,
    doubt_bits,
    runs_that_count,
)
from fieldwork.metrics.accuracy import measure_runs
from fieldwork.metrics.distributions import measure_distributions
from fieldwork.metrics.values.estimates import measure_values
from fieldwork.records.parsing import NO_ANSWER, Answer, MergedItem
from fieldwork.records.shared import ItemKey
from fieldwork.records.tasks import Item, ItemKind
from unit.metrics.metric_frames import score_estimates
from unit.table_rows import answer_of

CONDITIONS = ("offline", "history", "profile")
MODELS = ("m", "n")
ITEMS = {
    ItemKey(task, name): Item(name, kind, "q", "p", choices, gold, subject, "test")
    for task, name, kind, choices, gold, subject in (
        ("lists", "films", "list", [], None, None),
        ("lists", "cars", "list", [], None, None),
        ("letters", "one", "choice", ["a", "b"], "A", "s"),
        ("letters", "two", "choice", ["a", "b"], "B", "t"),
        ("letters", "view", "choice", ["a", "b"], None, "s"),
    )
}
NO_READINGS = Readings({}, set(), set())


def answer(
    kind: ItemKind = "choice", *, item_id: str = "one", puppet: str | None = None, **columns: Any
) -> Answer:
    """An answer that arrived, and that nobody can read."""
    task = "letters" if kind == "choice" else "lists"
    places = {"task": task, "item_id": item_id, "puppet_id": puppet, "condition": "offline"}
    return answer_of(kind=kind, reason="no letter found", **places | columns)


def invented_answers() -> Iterator[Answer]:
    """Users who answer twice, some of them unread, refused or failed, in no order."""
    draw = random.Random(7)
    for model, condition, (task, item_id) in itertools.product(MODELS, CONDITIONS, ITEMS):
        users = [None] if condition == "offline" else [f"{condition}-{n}" for n in range(6)]
        kind: ItemKind = "choice" if task == "letters" else "list"
        for puppet, replicate in itertools.product(users, range(12 if users == [None] else 2)):
            place = {"model": model, "condition": condition, "replicate": replicate}
            yield with_reading(answer(kind, item_id=item_id, puppet=puppet, **place), draw)


def with_reading(blank: Answer, draw: random.Random) -> Answer:
    chance = draw.random()
    if chance < 0.15:
        outcome = "failed" if chance < 0.05 else "refused"
        return dataclasses.replace(blank, outcome=outcome, reason=outcome)
    if chance < 0.25:
        # a list whose options all went away is no answer either
        return dataclasses.replace(blank, items=[] if blank.kind == "list" else None)
    if blank.kind == "choice":
        letter = draw.choice("AB")
        return dataclasses.replace(blank, letter=letter, letter_strict=letter, reason=None)
    names = draw.sample(["Alien", "Heat", "Jaws", "Rocky", "Seven"], 3)
    return dataclasses.replace(blank, raw_items=names, items=names, reason=None)


@pytest.fixture(scope="module")
def answers() -> list[Answer]:
    rows = [*invented_answers()]
    random.Random(3).shuffle(rows)
    return mark_counted(rows)


@pytest.fixture(scope="module")
def frame(answers: list[Answer]) -> pd.DataFrame:
    return pd.DataFrame([dataclasses.asdict(row) for row in answers])


@pytest.fixture(scope="module")
def questions() -> pd.DataFrame:
    rows = [dataclasses.asdict(item) | {"task": key.task} for key, item in ITEMS.items()]
    return pd.DataFrame(rows)


def counts(
    answers: list[Answer], bit: int, readings: Readings = NO_READINGS
) -> Counter[tuple[str, str, str, str]]:
    """Answers with a bit of `base`, by model, task, condition and item."""
    return Counter(
        (row.model, row.task, row.condition, row.item_id)
        for row, bits in zip(answers, base_bits(answers, readings), strict=True)
        if bits & bit
    )


def test_first_answers_are_those_of_the_metrics(answers: list[Answer], frame: pd.DataFrame) -> None:
    expected = {
        (arm.model, arm.task, arm.condition, item, row.puppet, row.replicate)
        for arm, items in read_answer_sets(frame).items()
        for item in items
        for row in items[item].first_answers()
    }
    assert len(expected) > 100
    assert expected == {
        (row.model, row.task, row.condition, row.item_id, row.puppet_id or "", row.replicate)
        for row, bits in zip(answers, base_bits(answers, NO_READINGS), strict=True)
        if bits & FIRST_ANSWER
    }


def test_choices_that_arrived_are_those_of_the_distributions(
    answers: list[Answer], frame: pd.DataFrame, questions: pd.DataFrame
) -> None:
    arrivals, firsts = counts(answers, ARRIVAL), counts(answers, FIRST_ANSWER)
    rows = measure_distributions(frame, questions)
    assert len(rows) > 10
    for row in rows:
        key = (row.model, row.task, row.condition, row.item_id)
        assert (row.n_responses, row.n_units) == (arrivals[key], firsts[key])


def test_answers_of_counted_runs_are_those_that_scores_are_made_of(
    answers: list[Answer], frame: pd.DataFrame, questions: pd.DataFrame
) -> None:
    runs = measure_runs(frame, questions)
    gold_items = {key for key, item in ITEMS.items() if item.gold}
    readings = Readings({}, runs_that_count(runs), gold_items)
    by_arm = Counter(
        (row.model, row.condition)
        for row, bits in zip(answers, base_bits(answers, readings), strict=True)
        if bits & COUNTED_RUN
    )
    scores = [row for row in score_estimates(runs) if row.measure == "em_strict"]
    assert sum(row.n_units for row in scores) > 10
    assert by_arm == {(row.model, row.condition): row.n_answers for row in scores}


def test_first_values_are_those_that_means_count() -> None:
    """A user whose first answer has no value counts by the next one."""
    draw, rows = random.Random(5), []
    for condition in CONDITIONS:
        users = [None] if condition == "offline" else [f"{condition}-{n}" for n in range(9)]
        for puppet, item_id, replicate in itertools.product(users, ("agree", "years"), range(3)):
            kind: ItemKind = "scale" if item_id == "agree" else "number"
            outcome, value = (
                draw.choice(["ok", "ok", "ok", "failed"]),
                draw.choice([1.0, 2.0, None]),
            )
            letter = "AB"[int(value) - 1] if value and kind == "scale" else None
            reading = {"outcome": outcome, "value": value, "letter": letter, "replicate": replicate}
            rows.append(
                answer(kind, condition=condition, item_id=item_id, puppet=puppet, **reading)
            )
    rows = mark_counted(rows)
    table = pd.DataFrame([dataclasses.asdict(row) for row in rows])
    scale = {"item_id": "agree", "kind": "scale", "task": "lists", "points": [1.0, 2.0]}
    number = {"item_id": "years", "kind": "number", "task": "lists", "points": None}
    estimates = measure_values(table, pd.DataFrame([scale, number]))
    assert len(estimates) == 6
    by_item = counts(rows, FIRST_VALUE)
    for row in estimates:
        assert row.n_units == by_item[row.model, row.task, row.condition, str(row.item_id)]
    bits = zip(rows, base_bits(rows, NO_READINGS), strict=True)
    assert any(bit & FIRST_VALUE and row.puppet_id and row.replicate for row, bit in bits)


def merge(raw: str, rule: str) -> MergedItem:
    return MergedItem("lists", "films", raw, "Alien", rule, 1)


FILMS = dataclasses.replace(
    answer("list", item_id="films"), raw_items=["alien", "Aliens"], items=["Alien"], reason=None
)
MERGES = {
    ("lists", "films", row.raw): row for row in (merge("alien", "near"), merge("Aliens", "x"))
}
A_PERSONS = {("lists", "films", "alien"): merge("alien", "override")}


@pytest.mark.parametrize(
    ("row", "merges", "doubt"),
    [
        (answer(), {}, NO_READING),
        (dataclasses.replace(answer(), reason="refused"), {}, REFUSAL),
        (dataclasses.replace(answer(), reason="filtered by the provider"), {}, REFUSAL),
        (dataclasses.replace(FILMS, outcome="truncated"), {}, CUT),
        (dataclasses.replace(answer(), outcome="truncated"), {}, CUT + NO_READING),
        (FILMS, MERGES, LIKENESS),
        (FILMS, A_PERSONS, CORRECTION),
        (dataclasses.replace(answer(), letter="A", correction="ab", reason=None), {}, CORRECTION),
        (dataclasses.replace(answer(), correction="ab", reason=NO_ANSWER), {}, CORRECTION),
        (FILMS, {}, 0),
    ],
)
def test_doubts(row: Answer, merges: dict[tuple[str, str, str], MergedItem], doubt: int) -> None:
    readings = Readings(merges, set(), set())
    assert doubt_bits([row], [ReplyFacts(10, -1, "hash")], readings) == [doubt]


@pytest.mark.parametrize(
    ("length", "is_odd"), [(40, False), (41, True), (3, False), (2, True), (0, True), (10, False)]
)
def test_odd_lengths(length: int, is_odd: bool) -> None:
    """More than four times the median of the model's replies to the item, or less than a quarter."""
    letter = dataclasses.replace(answer(), letter="A", reason=None)
    replies = [ReplyFacts(n, -1, "hash") for n in (10, 10, 10, length)]
    # another model's replies and calls without a reply say nothing of it
    stranger = dataclasses.replace(letter, model="n")
    rows = [letter] * 4 + [stranger] * 9 + [dataclasses.replace(letter, outcome="failed")]
    lengths = [*replies, *[ReplyFacts(900, -1, "hash")] * 9, ReplyFacts(0, -1, None)]
    bits = doubt_bits(rows, lengths, NO_READINGS)
    assert bits[3] == (ODD_LENGTH if is_odd else 0)
    assert not any(bits[4:])


def test_columns_point_to_their_lists() -> None:
    rows = [
        dataclasses.replace(answer(), letter="B", letter_strict=None, reason=None),
        dataclasses.replace(FILMS, condition="history", puppet_id="p-1", items=["Heat", "Alien"]),
        answer(condition="history", puppet="p-2", replicate=1),
    ]
    replies = [ReplyFacts(1, -1, "a"), ReplyFacts(20, 0, "b"), ReplyFacts(3, 1, "c")]
    names = PageNames(["m"], [*ITEMS], ["offline", "history"])
    columns = answer_columns(rows, replies, names, NO_READINGS, [{"id": "x"}, {"id": "y"}])
    assert columns["item"] == [2, 0, 2]
    assert columns["condition"] == [0, 1, 1]
    assert (columns["puppet"], columns["puppets"]) == ([-1, 0, 1], ["p-1", "p-2"])
    assert (columns["letter"], columns["strict"]) == ([1, -1, -1], [-1, -1, -1])
    assert (columns["options"], columns["names"]) == ([None, [0, 1], None], ["Heat", "Alien"])
    assert (columns["reason"], columns["reasons"]) == ([-1, -1, 0], ["no letter found"])
    assert (columns["context"], columns["length"]) == ([-1, 0, 1], [1, 20, 3])
    assert columns["replicate"] == [0, 0, 1]
    assert columns["contexts"] == [{"id": "x"}, {"id": "y"}]
