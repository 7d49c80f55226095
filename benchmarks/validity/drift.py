"""Waves of the same questions: what studies claim in a year of weeks without any change, and with one.

A study has one model and one task. Its family are the measures named; all looks share the first wave. The
first year of weeks changes nothing. Then something changes once and for good, and the table says how many
studies find it in the first wave after it, and within four.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from populations import LETTERS, Floats
from simulations import Bounds, Line, Lines, Sets, Simulation, columns_of

from fieldwork.metrics.drift.calls import FORMS, WavePair
from fieldwork.metrics.drift.changes import ShufflePlan, change_of
from fieldwork.metrics.drift.intervals import change_interval
from fieldwork.metrics.drift.table import WavePlan, changed_row, judge
from fieldwork.records.drift import Drift, DriftMeasure
from fieldwork.statistics.stratified import DrawPlan

LOOKS = 52
PLAN = WavePlan({}, {}, LOOKS, 1)
SOON = 4
"""Waves after a change within which it is found soon."""
STUDIES = 250
FIRST_DRAWS = 499
"""Fewer than of a study, for the sake of time: what is below 2 % is then looked at again."""

Values = Mapping[DriftMeasure, list[Any]]
"""The values of one wave by measure, in order of items, users and reruns."""
Draw = Callable[[np.random.Generator, bool], Values]
"""The values of a wave, before or after the change."""


class Size(NamedTuple):
    """Items of a task, users who are asked each, and answers of each user."""

    items: int
    users: int
    answers: int

    @property
    def name(self) -> str:
        """As the tables call it."""
        users = f"{self.users} users, " if self.users > 1 else ""
        return f"{self.items} items, {users}{self.answers} answer{'s' * (self.answers > 1)} each"

    def numbers(self) -> tuple[Any, Any]:
        """Items and strata of the calls of one wave."""
        strata = np.repeat(np.arange(self.items * self.users), self.answers)
        return strata // self.users, strata


class Source(NamedTuple):
    """Where the answers of a study come from.

    Attributes:
        make: what answers of a study are drawn by; studies differ in it.
    """

    name: str
    size: Size
    make: Callable[[Size, np.random.Generator], Draw]


# ---- sources -------------------------------------------------------------------------------------------


def _letters(
    size: Size,
    random: np.random.Generator,
    *,
    n_odd: int = 0,
    fall: float = 0.0,
    takes_over: bool = False,
) -> Draw:
    """Letters of items (and users) with shares of their own; A is right; 2 % are refused.

    Args:
        n_odd: items all of whose letters are as likely; all others have one letter always.
        fall: share of items that lose the right letter.
        takes_over: one item in four gives D to half of the calls after the change.
    """
    shape = (size.items, size.users)
    shares = random.dirichlet([0.5, 0.15, 0.1, 0.05], size=shape)
    if n_odd:
        shares = np.zeros((*shape, 4))
        shares[..., 0] = 1.0
        shares[:n_odd] = 0.25
    shares_after = shares.copy()
    lost_items = random.random(size.items) < fall / shares[..., 0].mean()
    shares_after[lost_items] = shares[lost_items][..., [3, 1, 2, 0]]
    if takes_over:
        shares_after[::4] = shares[::4] / 2 + np.array([0, 0, 0, 0.5])

    def draw(chance: np.random.Generator, is_after: bool) -> Values:
        bounds = np.cumsum(shares_after if is_after else shares, axis=-1)[..., None, :-1]
        numbers = (chance.random((*shape, size.answers, 1)) > bounds).sum(axis=-1).ravel()
        is_refused = chance.random(len(numbers)) < 0.02
        return {
            "accuracy": ((numbers == 0) & ~is_refused).tolist(),
            "letters": [
                ("unknown",) if refused else (letter,)
                for letter, refused in zip(LETTERS[numbers], is_refused, strict=True)
            ],
            "refusals": is_refused.tolist(),
        }

    return draw


def _lengths(
    size: Size, random: np.random.Generator, *, factor: float = 1.0, spread: float = 0.5
) -> Draw:
    """Lengths of items of their own; one answer in fifty is a thousand words longer."""
    base = np.repeat(random.normal(1.0, 0.5, size=size.items), size.users * size.answers)

    def draw(chance: np.random.Generator, is_after: bool) -> Values:
        words = np.exp(base + 3 + spread * chance.standard_t(3, size=len(base)) / 2)
        words[chance.random(len(base)) < 0.02] += 1000
        return {"length": np.round(words * (factor if is_after else 1)).tolist()}

    return draw


def _lists(size: Size, random: np.random.Generator, *, is_replaced: bool = False) -> Draw:
    """Five of twelve options of each item, by its own weights; later one in five may be another."""
    weights = random.normal(0, 1.2, size=(size.items, 1, 12))

    def draw(chance: np.random.Generator, is_after: bool) -> Values:
        keys = weights + chance.gumbel(size=(size.items, size.users * size.answers, 12))
        lists = np.argsort(-keys, axis=-1)[..., :5].reshape(-1, 5)
        if is_after and is_replaced:
            # every fifth option has another name from now on
            lists = np.where(lists % 5 == 0, lists + 12, lists)
        return {"options": [tuple(f"{k:02}" for k in sorted(row)) for row in lists.tolist()]}

    return draw


def _both(first: Draw, second: Draw) -> Draw:
    return lambda chance, is_after: {**first(chance, is_after), **second(chance, is_after)}


def _choice_study(size: Size, random: np.random.Generator, **changes: Any) -> Draw:
    return _both(_letters(size, random, **changes), _lengths(size, random))


def _scores(size: Size, random: np.random.Generator, **changes: Any) -> Draw:
    """Letters of which right ones and refusals alone are looked at."""
    letters = _letters(size, random, **changes)

    def draw(chance: np.random.Generator, is_after: bool) -> Values:
        values = letters(chance, is_after)
        return {name: values[name] for name in ("accuracy", "refusals")}

    return draw


YEARS = (
    Source("letters and lengths", Size(20, 1, 1), _choice_study),
    Source("letters of users, two items odd", Size(9, 10, 1), partial(_letters, n_odd=2)),
    Source("lengths, heavy tails", Size(20, 1, 2), partial(_lengths, spread=1.0)),
    Source("lists of five", Size(9, 1, 10), _lists),
)
CHANGES = (
    *(
        Source("accuracy falls by 10 points", size, partial(_scores, fall=0.1))
        for size in (Size(20, 1, 1), Size(20, 1, 10), Size(100, 1, 3), Size(500, 1, 1))
    ),
    *(
        Source("one letter in eight is D from now on", size, partial(_letters, takes_over=True))
        for size in (Size(20, 1, 1), Size(20, 1, 5))
    ),
    *(
        Source("one option in five is replaced", size, partial(_lists, is_replaced=True))
        for size in (Size(9, 1, 1), Size(9, 1, 3), Size(9, 1, 10))
    ),
    *(
        Source("answers are 1.5 times as long", size, partial(_lengths, factor=1.5))
        for size in (Size(20, 1, 1), Size(20, 1, 3))
    ),
)
"""Every change has a family of all measures that its source has."""


# ---- studies -------------------------------------------------------------------------------------------


def _studies(source: Source, sets: Sets, *seeds: int) -> Iterator[tuple[int, Draw, Values, Any]]:
    """Of each study its number, what its answers are drawn by, its first wave, and its chance."""
    for study in range(min(sets.n, STUDIES)):
        random = np.random.default_rng([sets.seed, *source.size, len(source.name), study, *seeds])
        draw = source.make(source.size, random)
        yield study, draw, draw(random, False), random


def _year(source: Source, sets: Sets) -> Lines:
    """Studies that claim anything in a year, and how often a test is at most 0.05 by itself."""
    claims, p_values = [], []
    for study, draw, first, random in _studies(source, sets):
        rows = [
            row
            for look in range(1, LOOKS + 1)
            for row in _rows(source.size, first, draw(random, False), look, study)
        ]
        claims.append(any(row.has_moved for row in judge(rows, PLAN)))
        p_values += [row.p_value for row in rows]
    yield Line("any claim in 52 looks", claims=claims)
    yield Line("a single test, not corrected", p_values=p_values)


def _change(source: Source, sets: Sets) -> Lines:
    """Studies that find a change in the first wave after it, and within four."""
    looks = []
    for study, draw, first, random in _studies(source, sets, 7):
        waves = (
            judge([*_rows(source.size, first, draw(random, True), look, study)], PLAN)
            for look in range(1, SOON + 1)
        )
        moves = (look for look, rows in enumerate(waves, 1) if any(r.has_moved for r in rows))
        looks.append(next(moves, SOON + 1))
    yield Line("a change, first wave after it", claims=[look == 1 for look in looks])
    yield Line("a change, four waves after it", claims=[look <= SOON for look in looks])


def _rows(size: Size, first: Values, later: Values, look: int, study: int) -> Iterator[Drift]:
    """The rows of one look, not corrected."""
    for measure in first:
        draws = DrawPlan(PLAN.level, len(first), FIRST_DRAWS)
        pair = _pair(size, first[measure], later[measure])
        columns = dict.fromkeys(f.name for f in fields(Drift))
        row = Drift(**columns | {"look": look, "measure": measure})
        change = change_of(pair, FORMS[measure], ShufflePlan(study, (measure, str(look)), draws))
        yield changed_row(row, change, pair)


def _pair(size: Size, first: list[Any], later: list[Any]) -> WavePair:
    items, strata = size.numbers()
    is_later = np.repeat([False, True], len(items))
    return WavePair([*first, *later], np.tile(items, 2), np.tile(strata, 2), is_later)


# ---- intervals -----------------------------------------------------------------------------------------


def _intervals(size: Size, sets: Sets) -> Lines:
    """The change of accuracy and of length, where a tenth of the items lose the right letter."""
    changes = columns_of(sets.each(_changes, size))
    for name, source in (
        ("accuracy", "a tenth of the items turned"),
        ("length", "three words more, skewed"),
    ):
        estimates, intervals = zip(*changes[name], strict=True)
        name = f"{name}, change less its truth"
        yield Line(name, 0.0, estimates, intervals, place={"source": source})


def _changes(size: Size, random: np.random.Generator) -> dict[str, tuple[float, Bounds]]:
    """Each change of one data set less its truth, with its interval."""
    strata = size.numbers()[1]
    chances = random.beta(1.2, 0.6, size=size.items * size.users)
    is_lost = random.random(size.items) < 0.1
    after = np.where(is_lost[np.arange(len(chances)) // size.users], 1 - chances, chances)
    means = random.normal(40, 10, size=len(chances))
    # single answers say how items like these change, several how these very items do
    truth = 0.1 * (1 / 3 - 2 / 3) if size.answers == 1 else float((after - chances).mean())
    answers = [random.random(len(strata)) < side[strata] for side in (chances, after)]
    words = [means[strata] + random.gamma(1.5, 6, size=len(strata)) + 3 * k for k in (0, 1)]
    return {
        "accuracy": _less_truth(size, np.concatenate(answers).astype(float), truth, True),
        "length": _less_truth(size, np.concatenate(words), 3.0, False),
    }


def _less_truth(size: Size, values: Floats, truth: float, is_share: bool) -> tuple[float, Bounds]:
    pair = _pair(size, [], [])._replace(values=values.tolist())
    _, interval, *_ = change_interval(pair, values, is_share=is_share)
    before, now = pair.item_means(values).mean(axis=0)
    low, high = interval or (None, None)
    if low is None or high is None:
        return float(now - before) - truth, (None, None)
    return float(now - before) - truth, (low - truth, high - truth)


SIMULATIONS = (
    *(Simulation("drift", _year, (s,), f"nothing changes: {s.name}", s.size.name) for s in YEARS),
    *(Simulation("drift", _change, (s,), s.name, s.size.name) for s in CHANGES),
    *(
        Simulation("drift", _intervals, (size,), "", size.name, (*size, 11))
        for size in (
            Size(20, 1, 1),
            Size(9, 1, 10),
            Size(20, 1, 2),
            Size(100, 1, 3),
            Size(9, 20, 2),
        )
    ),
)
