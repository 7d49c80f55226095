"""The sections about the offline score beside other ways of asking, and the sentence about it."""

from fieldwork.markdown_text import literal
from fieldwork.metrics.claims.measures import score_reading
from fieldwork.metrics.findings.evidence import StudyEvidence
from fieldwork.metrics.findings.sections import (
    CONDITION,
    TASK,
    Section,
    TableColumn,
    count,
    interval,
    number,
    text,
)
from fieldwork.metrics.findings.verdicts import missing_test
from fieldwork.metrics.findings.wording import HUNDREDTHS, PERCENT, TENTHS_OF_PERCENT, count_phrase
from fieldwork.metrics.practice.ways import MIN_MODELS
from fieldwork.records.practice import PracticeDrop, PracticeOrder, PracticeTurn

MOST_NAMED = 3
"""Pairs of models whose order turns that one cell names."""


def _orders(study: StudyEvidence) -> list[PracticeOrder]:
    """Rows of the score that claims are made of, with enough models to have an order."""
    tasks, conditions = [*study.outline.tasks], [*study.outline.conditions]
    rows = [
        row
        for row in study.rows(PracticeOrder)
        if row.metric == score_reading(row.condition) and row.n_models >= MIN_MODELS
    ]
    return sorted(
        rows,
        key=lambda row: (
            tasks.index(row.task),
            row.way_task,
            conditions.index(row.condition),
        ),
    )


def _turned_pairs(row: PracticeOrder, study: StudyEvidence) -> str:
    """How many pairs turn beyond chance, and the first of them by name."""
    models = study.outline.models
    way = (row.task, row.metric, row.way_task, row.condition)
    pairs = [
        f"{models[turn.other]} before {models[turn.model]}"
        for turn in study.of(PracticeTurn)
        if turn.is_beyond_chance and (turn.task, turn.metric, turn.way_task, turn.condition) == way
    ]
    names = [*pairs[:MOST_NAMED], *(["…"] if len(pairs) > MOST_NAMED else [])]
    return f"{row.n_beyond_chance:,}" + (f": {', '.join(names)}" if names else "")


PRACTICE = Section(
    "The offline score and practice",
    "Does the order of the models by their offline score hold another way of asking? ρ is the "
    "rank correlation. Beyond chance are pairs of which neither lead's interval holds 0, each by "
    "itself, with the model first that is ahead that way. The change is that of the mean score "
    "in points.",
    ["practice_turns", "practice"],
    _orders,
    [
        TASK,
        TableColumn("Asked as", text("way_task")),
        CONDITION,
        TableColumn("ρ", interval("rho", HUNDREDTHS)),
        TableColumn("Pairs that turn", lambda row, _: f"{row.n_discordant:,} of {row.n_pairs:,}"),
        TableColumn("Beyond chance", _turned_pairs),
        TableColumn("Change", number("difference", TENTHS_OF_PERCENT)),
    ],
    "practice_order",
)


def _drops(study: StudyEvidence) -> list[PracticeDrop]:
    """A row for each variant of a task's harshest way of asking; one alone is the whole loss."""
    metric = score_reading(study.outline.baseline)
    return [
        row
        for row in study.of(PracticeDrop)
        if row.model is None
        and row.n_combinations > 2
        and row.drop is not None
        and row.metric == metric
    ]


PRACTICE_DROPS = Section(
    "What the score loses, and by what",
    "How much of the loss from the offline score to the way of asking with the lowest score goes "
    "with each variant? Points of the mean score; the parts sum to the whole loss. They are "
    "described, not tested.",
    ["practice_drops"],
    _drops,
    [
        TASK,
        TableColumn(
            "Variant",
            lambda row, study: study.outline.conditions.get(row.variant, literal(row.variant)),
        ),
        TableColumn("Its part", interval("drop", TENTHS_OF_PERCENT)),
        TableColumn("Whole loss", number("total_drop", TENTHS_OF_PERCENT)),
        TableColumn("Share, %", number("share", PERCENT)),
        TableColumn("Models", count("n_models")),
    ],
    # a part with an interval has no reason, and so no test without one
    lambda row, _: missing_test((row.reason or "").removeprefix("no interval: ")),
)


def practice_sentence(study: StudyEvidence) -> str:
    """Whether the order of the models holds; empty with too few models to have an order.

    Asking the baseline again is no other way of asking. Pairs that turn are not corrected over pairs and
    ways, so they stand in the table alone.
    """
    orders = [
        row
        for row in _orders(study)
        if row.way_task != row.task or row.condition not in study.outline.controls
    ]
    if not orders:
        return ""
    n_models = max(row.n_models for row in orders)
    tests = study.tests("practice_order", orders)
    if not tests:
        return f"whether the order of the {n_models} models holds cannot be tested"
    differences = study.differences("practice_order", orders)
    n_same = sum((row.rho or 0.0) > 0 for row in differences)
    n_opposite = len(differences) - n_same
    opposite = f" and turned round in {n_opposite:,}" if n_opposite else ""
    return (
        f"the order of the {n_models} models is shown to hold in {n_same:,} of "
        f"{count_phrase(len(tests), 'other way')} of asking{opposite}"
    )
