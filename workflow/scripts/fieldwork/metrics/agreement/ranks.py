"""Whether a condition ranks items, or models, as the field does.

Owns the boards (a condition's and the field's answers to the same items), and the table of rank
correlations with their test, their interval over items, and what the noise of asking leaves of them.
Participants count once. Promises the same rows whatever the order of the answers.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import pandas as pd

from fieldwork.metrics.agreement.ordering import MIN_BOOTSTRAP, agree, bootstrap, order_test
from fieldwork.metrics.agreement.values import (
    Reliability,
    Sample,
    Value,
    read_sample,
    reliability,
    value_of,
)
from fieldwork.metrics.answer_sets import Arm, read_answer_sets
from fieldwork.metrics.distributions import QuestionKey, find_question, read_questions
from fieldwork.records.field import FIELD, RankAgreement
from fieldwork.records.tasks import ItemKind
from fieldwork.statistics.families import correct_rows
from fieldwork.statistics.permutation import require_permutations
from fieldwork.statistics.seeds import generator

MIN_ANSWERS = 5
"""Answers to an item that a side needs to be ranked."""
MIN_RANKED = 3
MEASURES = {
    "list": ("entropy_bits", "top_share"),
    "gold": ("share_correct",),
    "open": ("entropy_bits",),
}


class Board(NamedTuple):
    """Items of one kind that the field and a predictor both answer; choice items with gold or without.

    `field` and `predictor` hold the items with answers enough on both sides, in alphabetical order;
    `few` the others, with why.
    """

    model: str
    task: str
    kind: ItemKind
    predictor: str
    measures: tuple[str, ...]
    field: dict[str, Sample]
    other: dict[str, Sample]
    few: dict[str, str]

    @property
    def n_equal(self) -> int:
        """The number of answers every item is brought to, on both sides."""
        sides = [*self.field.values(), *self.other.values()]
        return min((len(sample.options) for sample in sides), default=0)

    def values(
        self, measure: str, side: str, *, seed: int, n_equal: int | None = None
    ) -> list[Value]:
        """The items' values on one side, `field` or the predictor's name."""
        samples = self.field if side == FIELD else self.other
        return [
            value_of(
                sample, measure, n_equal or self.n_equal,
                generator(seed, "subsample", self.model, self.task, side, item),
            )
            for item, sample in samples.items()
        ]  # fmt: skip


def read_boards(answers: pd.DataFrame, items: pd.DataFrame) -> list[Board]:
    """A board for each model, task, kind of item and condition beside the field.

    Raises:
        StudyError: an answer's item is not in `items`.
    """
    arms = read_answer_sets(answers)
    questions = read_questions(items, sorted({arm.task for arm in arms}))
    boards: list[Board] = []
    for arm in arms:
        field_arm = arm._replace(condition=FIELD)
        if arm.condition == FIELD or field_arm not in arms:
            continue
        gold = {
            item: find_question(questions, QuestionKey(arm.task, item)).gold
            if arm.kind == "choice"
            else None
            for item in arms[arm].keys() | arms[field_arm].keys()
        }
        sides = [
            {item: read_sample(given, gold[item]) for item, given in arms[side].items()}
            for side in (field_arm, arm)
        ]
        for which in ["list"] if arm.kind == "list" else ["gold", "open"]:
            chosen = [
                i for i in sides[0] if i in sides[1] and (which != "gold") == (gold[i] is None)
            ]
            if chosen:
                boards.append(_board(arm, MEASURES[which], sides, sorted(chosen)))
    return boards


def _board(
    arm: Arm, measures: tuple[str, ...], sides: Sequence[Mapping[str, Sample]], items: Sequence[str]
) -> Board:
    few: dict[str, str] = {}
    for item in items:
        numbers = [len(side[item].options) for side in sides]
        if min(numbers) < MIN_ANSWERS:
            few[item] = (
                f"{numbers[0]} answers in the field and {numbers[1]} under {arm.condition}: "
                f"{MIN_ANSWERS} of each are needed"
            )
    kept = [{item: side[item] for item in items if item not in few} for side in sides]
    return Board(
        arm.model, arm.task, arm.kind, arm.condition, measures, kept[0], kept[1], few
    )  # fmt: skip


def measure_rank_agreement(
    answers: pd.DataFrame, items: pd.DataFrame, *, n_permutations: int, seed: int
) -> list[RankAgreement]:
    """Rank correlations over items for each model, and over models where three have field answers.

    One row for each measure of each board. P-values are corrected over the predictors of a model,
    task, kind and measure. In order of model (NULL last), task, kind, measure and predictor.

    Raises:
        StudyError: no permutations, or an answer's item is not in `items`.
    """
    require_permutations(n_permutations)
    boards = read_boards(answers, items)
    reliable: dict[tuple[str, ...], Reliability] = {}
    rows = [
        _over_items(board, measure, n_permutations, seed, reliable)
        for board in boards
        for measure in board.measures
    ]
    rows += _over_models(boards, n_permutations, seed)
    return sorted(
        correct_rows(rows, lambda r: (r.model, r.task, r.kind, r.measure)),
        key=lambda r: (r.model is None, r.model or "", r.task, r.kind, r.measure, r.predictor),
    )


def _over_items(
    board: Board,
    measure: str,
    n_permutations: int,
    seed: int,
    reliable: dict[tuple[str, ...], Reliability],
) -> RankAgreement:
    names = (board.model, board.task, board.predictor, measure)
    sides = {FIELD: board.field, board.predictor: board.other}
    values = {side: [v.value for v in board.values(measure, side, seed=seed)] for side in sides}
    row = _ranked(list(values[FIELD]), list(values[board.predictor]), names, n_permutations, seed)
    row = replace(
        row,
        model=board.model,
        task=board.task,
        kind=board.kind,
        n_left_out=len(board.few),
        n_equal=board.n_equal if board.field else None,
    )
    if len(board.field) < MIN_RANKED:
        return row
    found: list[Reliability] = []
    for side, samples in sides.items():
        key = (board.model, board.task, side, measure, *samples)
        if key not in reliable:
            reliable[key] = reliability(
                samples, measure, seed=seed, names=(board.model, board.task, side)
            )
        found.append(reliable[key])
    return _with_ceiling(row, *found)


def _with_ceiling(row: RankAgreement, own: Reliability, other: Reliability) -> RankAgreement:
    ceiling, why = None, row.reason
    if own.whole is not None and other.whole is not None and min(own.whole, other.whole) > 0:
        ceiling = (own.whole * other.whole) ** 0.5
    elif row.rho is not None:
        side = "the field" if own.whole is None or own.whole <= 0 else row.predictor
        why = f"no ceiling: halves of the answers of {side} do not rank the items alike" + (
            f"; {why}" if why else ""
        )
    return replace(
        row,
        reliability_field=own.whole,
        reliability_predictor=other.whole,
        ceiling=ceiling,
        reason=why,
    )


def _ranked(
    own: Sequence[float],
    other: Sequence[float],
    names: tuple[str, str, str, str],
    n_permutations: int,
    seed: int,
    over: str = "items",
) -> RankAgreement:
    """The row of two sets of values, without what it knows of the board."""
    found, reason = agree(own, other), None
    tested, reach = None, None
    if len(own) < MIN_RANKED:
        found = found._replace(rho=None, tau_b=None)
        reason = f"{len(own)} {over} with answers enough on both sides, {MIN_RANKED} are needed"
    elif found.tau_b is None:
        reason = f"one side has the same value for all {over}"
    else:
        random = generator(seed, "order", over, *names)
        tested = order_test(own, other, n_permutations=n_permutations, random=random)
        reach = bootstrap(own, other, random=generator(seed, "items", over, *names))
        reason = _no_interval(len(own), over) if reach.tau_b is None else None
    return RankAgreement(
        model=None,
        task=names[1],
        kind="list",
        over=over,
        predictor=names[2],
        measure=names[3],
        rho=found.rho,
        rho_low=reach.rho.low if reach and reach.rho else None,
        rho_high=reach.rho.high if reach and reach.rho else None,
        tau_b=found.tau_b,
        tau_low=reach.tau_b.low if reach and reach.tau_b else None,
        tau_high=reach.tau_b.high if reach and reach.tau_b else None,
        p_value=tested.p_value if tested else None,
        p_holm=None,
        p_least=tested.p_least if tested else None,
        n_permutations=tested.n_permutations if tested else None,
        n_discordant=found.pairs.discordant if found.tau_b is not None else None,
        n_tied=found.pairs.tied if found.tau_b is not None else None,
        n_pairs=found.pairs.total,
        n_ranked=len(own),
        n_left_out=0,
        n_equal=None,
        reliability_field=None,
        reliability_predictor=None,
        ceiling=None,
        reason=reason,
    )


def _no_interval(n: int, over: str) -> str:
    if n < MIN_BOOTSTRAP:
        return f"no interval: {n} {over}, the bootstrap holds from {MIN_BOOTSTRAP} on"
    return "no interval: samples of the items have one order, or a side with one value for all"


def _over_models(
    boards: Sequence[Board], n_permutations: int, seed: int
) -> Iterator[RankAgreement]:
    """Models ranked by the mean over the items that all of them answer, from three models on."""
    families: dict[tuple[str, ItemKind, str, tuple[str, ...]], list[Board]] = {}
    for board in boards:
        key = (board.task, board.kind, board.predictor, board.measures)
        families.setdefault(key, []).append(board)
    for (task, kind, predictor, measures), family in families.items():
        shared = set.intersection(*(set(board.field) for board in family))
        if len(family) < MIN_RANKED or not shared:
            continue
        own = [_only(board, shared) for board in family]
        n_equal = min(board.n_equal for board in own)
        for measure in measures:
            sides = [
                [_mean(board.values(measure, side, seed=seed, n_equal=n_equal)) for board in own]
                for side in (FIELD, predictor)
            ]
            names = ("", task, predictor, measure)
            row = _ranked(sides[0], sides[1], names, n_permutations, seed, over="models")
            yield replace(row, kind=kind, n_equal=n_equal)


def _only(board: Board, items: set[str]) -> Board:
    return board._replace(
        field={item: s for item, s in board.field.items() if item in items},
        other={item: s for item, s in board.other.items() if item in items},
    )


def _mean(values: Sequence[Value]) -> float:
    return sum(value.value for value in values) / len(values)
