"""The sections about the offline score beside other ways of asking, and the sentence about it."""

from collections.abc import Sequence

from fieldwork.markdown_text import literal
from fieldwork.metrics.claims.measures import score_reading
from fieldwork.metrics.findings.layout import Finding, FindingsSection
from fieldwork.metrics.findings.outline import StudyOutline
from fieldwork.metrics.findings.verdicts import StudyClaims, missing_test
from fieldwork.metrics.findings.wording import count_phrase, interval_cell, number_cell
from fieldwork.metrics.practice.ways import MIN_MODELS
from fieldwork.records.practice import PracticeDrop, PracticeOrder, PracticeTurn

_COLUMNS = (
    "Task",
    "Asked as",
    "Condition",
    "ρ",
    "Pairs that turn",
    "Beyond chance",
    "Change",
    "Verdict",
)


MOST_NAMED = 3
"""Pairs of models whose order turns that one cell names."""


def practice_sections(
    rows: Sequence[PracticeOrder],
    turns: Sequence[PracticeTurn],
    drops: Sequence[PracticeDrop],
    claims: StudyClaims,
    outline: StudyOutline,
) -> list[FindingsSection]:
    """The order of models in each way of asking, and what each variant takes from the score.

    The first is left out with too few models to have an order, the second without variants that can be
    told apart.
    """
    return [*_order_sections(rows, turns, claims, outline), *_drop_sections(drops, outline)]


def _order_sections(
    rows: Sequence[PracticeOrder],
    turns: Sequence[PracticeTurn],
    claims: StudyClaims,
    outline: StudyOutline,
) -> list[FindingsSection]:
    orders = _study_rows(rows, outline)
    if not orders:
        return []
    findings = [
        Finding(
            (
                literal(row.task),
                literal(row.way_task),
                outline.label(row.condition),
                interval_cell(row.rho, row.ci_low, row.ci_high, digits=2),
                f"{row.n_discordant:,} of {row.n_pairs:,}",
                _turned_pairs(row, turns, outline),
                number_cell(None if row.difference is None else 100 * row.difference, 1),
            ),
            claims.verdict("practice_order", row),
        )
        for row in orders
    ]
    return [
        FindingsSection(
            "The offline score and practice",
            "Does the order of the models by their offline score hold another way of asking? ρ is the "
            "rank correlation. Beyond chance are pairs of which neither lead's interval holds 0, each by "
            "itself, with the model first that is ahead that way. The change is that of the mean score "
            "in points.",
            _COLUMNS,
            findings,
            ["practice_turns", "practice"],
            "No task has scores of several models.",
        )
    ]


def _turned_pairs(
    order: PracticeOrder, turns: Sequence[PracticeTurn], outline: StudyOutline
) -> str:
    """How many pairs turn beyond chance, and the first of them by name."""
    way = (order.task, order.metric, order.way_task, order.condition)
    pairs = [
        f"{outline.models[turn.other]} before {outline.models[turn.model]}"
        for turn in turns
        if turn.is_beyond_chance and (turn.task, turn.metric, turn.way_task, turn.condition) == way
    ]
    names = [*pairs[:MOST_NAMED], *(["…"] if len(pairs) > MOST_NAMED else [])]
    return f"{order.n_beyond_chance:,}" + (f": {', '.join(names)}" if names else "")


def _drop_sections(rows: Sequence[PracticeDrop], outline: StudyOutline) -> list[FindingsSection]:
    """A row for each variant of a task's harshest way of asking; one alone is the whole loss."""
    drops = [
        row
        for row in rows
        if row.model is None
        and row.n_combinations > 2
        and row.drop is not None
        and row.metric == score_reading(outline.baseline)
    ]
    if not drops:
        return []
    return [
        FindingsSection(
            "What the score loses, and by what",
            "How much of the loss from the offline score to the way of asking with the lowest score goes "
            "with each variant? Points of the mean score; the parts sum to the whole loss. They are "
            "described, not tested.",
            ("Task", "Variant", "Its part", "Whole loss", "Share, %", "Models", "Verdict"),
            [_drop_finding(row, outline) for row in drops],
            ["practice_drops"],
            "Nothing is lost.",
        )
    ]


def _drop_finding(row: PracticeDrop, outline: StudyOutline) -> Finding:
    cells = (
        literal(row.task),
        outline.label(row.variant) if row.variant in outline.conditions else literal(row.variant),
        interval_cell(row.drop, row.ci_low, row.ci_high, digits=1, scale=100),
        number_cell(None if row.total_drop is None else 100 * row.total_drop, 1),
        number_cell(None if row.share is None else 100 * row.share, 0),
        f"{row.n_models:,}",
    )
    # a part with an interval has no reason, and so no test without one
    return Finding(cells, missing_test((row.reason or "").removeprefix("no interval: ")))


def practice_sentence(
    rows: Sequence[PracticeOrder], claims: StudyClaims, outline: StudyOutline
) -> str:
    """Whether the order of the models holds; empty with too few models to have an order.

    Asking the baseline again is no other way of asking. Pairs that turn are not corrected over pairs and
    ways, so they stand in the table alone.
    """
    orders = [
        row
        for row in _study_rows(rows, outline)
        if row.way_task != row.task or row.condition not in outline.controls
    ]
    if not orders:
        return ""
    n_models = max(row.n_models for row in orders)
    verdicts = [(row, claims.verdict("practice_order", row)) for row in orders]
    tests = [row for row, verdict in verdicts if verdict.is_tested]
    if not tests:
        return f"whether the order of the {n_models} models holds cannot be tested"
    shown_orders = [row for row, verdict in verdicts if verdict.is_shown]
    n_same = sum((row.rho or 0.0) > 0 for row in shown_orders)
    n_opposite = len(shown_orders) - n_same
    opposite = f" and turned round in {n_opposite:,}" if n_opposite else ""
    return (
        f"the order of the {n_models} models is shown to hold in {n_same:,} of "
        f"{count_phrase(len(tests), 'other way')} of asking{opposite}"
    )


def _study_rows(rows: Sequence[PracticeOrder], outline: StudyOutline) -> list[PracticeOrder]:
    """Rows of the score that claims are made of, with enough models, in the study's order."""
    orders = [
        row
        for row in rows
        if row.metric == score_reading(row.condition) and row.n_models >= MIN_MODELS
    ]
    conditions = [*outline.conditions]
    by_task = {task: place for place, task in enumerate(outline.tasks)}
    return sorted(
        (row for row in orders if row.task in by_task and row.condition in conditions),
        key=lambda row: (by_task[row.task], row.way_task, conditions.index(row.condition)),
    )
