"""The sections about answers: who asks, how far answers move, and which options."""

from collections.abc import Sequence

from fieldwork.markdown_text import literal
from fieldwork.metrics.claims.keys import arm_of
from fieldwork.metrics.findings.evidence import StudyEvidence
from fieldwork.metrics.findings.outline import groups
from fieldwork.metrics.findings.sections import (
    ARM,
    Section,
    TableColumn,
    count,
    if_tested,
    interval,
    p_value,
)
from fieldwork.metrics.findings.verdicts import (
    UNDECIDED_VERDICT,
    FindingVerdict,
    joined_verdict,
)
from fieldwork.metrics.findings.wording import PERCENT, join_words, number_cell, signed_number
from fieldwork.records.field import between
from fieldwork.records.metrics import Comparison, NestedVariance, Shift, VarianceShare
from fieldwork.records.parsing import UNKNOWN
from fieldwork.records.tasks import LETTER_KINDS

TOP_SHIFTS = 5
"""Options that moved which are listed for each task and model."""

# ---- who asks ----------------------------------------------------------------------------------------


def _shares(study: StudyEvidence) -> list[VarianceShare]:
    rows = study.rows(VarianceShare, study.outline.users)
    # with users who are asked once there is no share at all, which the limits say
    return rows if any(row.share_who is not None for row in rows) else []


def _units(study: StudyEvidence) -> str:
    return between([row.condition for row in _shares(study)])


def _variance_question(study: StudyEvidence) -> str:
    outline = study.outline
    question = (
        f"How much of the variance of answers to one prompt lies between {_units(study)}, and not "
        "between repeats?"
    )
    if outline.simulated_users:
        question += (
            " A simulated user has one context (a conversation, a history or a profile), so that user "
            "and context cannot be told apart."
        )
    if outline.retrieval:
        labels = join_words([outline.label(name) for name in outline.retrieval])
        question += f" With {labels} it is another context for each prompt."
    return question


WHO_ASKS = Section(
    "Who asks, and in which context",
    _variance_question,
    ["variance"],
    _shares,
    [
        *ARM,
        TableColumn("Share, %", interval("share_who", PERCENT)),
        TableColumn("p", p_value("share_who")),
        TableColumn(lambda study: _units(study).capitalize(), count("n_puppets")),
        TableColumn("Prompts", count("n_items")),
        TableColumn("Answers", count("n_responses")),
    ],
    "share_who",
)


def _nested_verdict(row: NestedVariance, study: StudyEvidence) -> FindingVerdict:
    """What both tests show, with those who differ: `users differ`."""
    users, contexts = (
        verdict._replace(text=verdict.text.replace("differs", f"{units} differ", 1))
        if verdict.is_shown
        else verdict
        for verdict, units in (
            (study.verdict("share_user", row), "users"),
            (study.verdict("share_context", row), "contexts"),
        )
    )
    return joined_verdict(users, contexts)


USERS_AND_CONTEXTS = Section(
    "Users and contexts",
    "Is it the user or the context? The same users were asked with other conversations of their own: "
    "how much of the variance of answers to one prompt lies between users, and how much between "
    "contexts of one user?",
    ["users_and_contexts"],
    lambda study: study.rows(NestedVariance, study.outline.simulated_users),
    [
        *ARM,
        TableColumn("Users, %", interval("share_user", PERCENT, "user_low", "user_high")),
        TableColumn("p", p_value("share_user")),
        TableColumn(
            "Contexts of a user, %",
            interval("share_context", PERCENT, "context_low", "context_high"),
        ),
        TableColumn("p of contexts", p_value("share_context")),
        TableColumn("Users", count("n_users")),
        TableColumn("Contexts each", count("n_contexts")),
        TableColumn("Prompts", count("n_items")),
    ],
    _nested_verdict,
)

# ---- distance ----------------------------------------------------------------------------------------


def _clearest_prompts(study: StudyEvidence) -> list[Comparison]:
    """Of each arm the furthest prompt of those that differ; without one the nearest to a difference."""
    outline = study.outline
    rows = study.rows(Comparison, [*outline.users, *outline.controls], metric="js_bits")
    return [_clearest(arm, study) for arm in groups(rows, arm_of)]


def _clearest(arm: Sequence[Comparison], study: StudyEvidence) -> Comparison:
    differing = study.differences("distance", arm)
    if differing:
        return max(differing, key=lambda row: row.excess or 0.0)
    tests = study.tests("distance", arm)
    return min(tests or arm[:1], key=lambda row: (row.p_value or 0.0, -(row.excess or 0.0)))


def _differing_prompts(row: Comparison, study: StudyEvidence) -> str:
    arm = study.rows_beside(Comparison, row, metric="js_bits")
    n_tested = len(study.tests("distance", arm))
    n_untested = len(arm) - n_tested
    rest = f", {n_untested} untested" if n_untested else ""
    return f"{len(study.differences('distance', arm))}/{n_tested}{rest}"


def _sizes(row: Comparison, _: StudyEvidence) -> str:
    n, n_baseline = row.n_units, row.n_units_baseline
    return str(n) if n == n_baseline else f"{n}, baseline {n_baseline}"


def prompts_verdict(measure: str, row: Comparison, study: StudyEvidence) -> FindingVerdict:
    """What tests of single prompts show of the whole condition, by the clearest of them."""
    verdict = study.verdict(measure, row)
    if not verdict.is_tested:
        return verdict
    text = "differs" if verdict.is_shown else UNDECIDED_VERDICT
    return FindingVerdict(text, True, verdict.is_shown)


DISTANCE = Section(
    lambda study: f"Distance from {study.outline.label(study.outline.baseline)}",
    "On how many prompts do answers differ? The clearest is named, in bits (0 to 1) beyond chance.",
    ["comparisons"],
    _clearest_prompts,
    [
        *ARM,
        *if_tested(
            "distance",
            TableColumn("Prompts that differ", _differing_prompts),
            TableColumn("Clearest", lambda row, _: literal(row.item_id)),
            TableColumn("Bits", lambda row, _: signed_number(row.excess or 0.0, 3)),
            TableColumn("p", p_value("distance")),
            TableColumn("n", _sizes),
        ),
    ],
    lambda row, study: prompts_verdict("distance", row, study),
)

# ---- options -----------------------------------------------------------------------------------------


def _shifts(study: StudyEvidence) -> list[Shift]:
    rows = study.rows(Shift, study.outline.users)
    return [row for row in rows if row.shift is not None]


def _furthest_shifts(rows: Sequence[Shift], study: StudyEvidence) -> list[Shift]:
    """Of each task and model those that moved, or else the furthest."""
    listed_shifts: list[Shift] = []
    for family in groups(rows, lambda row: (row.model, row.task)):
        shifts = sorted(
            family, key=lambda row: (-abs(row.shift or 0.0), row.item_id, row.answer or "")
        )
        listed_shifts += study.differences("option_share", shifts)[:TOP_SHIFTS] or shifts[:1]
    return listed_shifts


def _option(row: Shift, _: StudyEvidence) -> str:
    """An option with its prompt: `Tesla (cars)`."""
    is_unread = row.kind in LETTER_KINDS and row.answer == UNKNOWN
    name = "no readable letter" if is_unread else literal(row.answer or "")
    return f"{name} ({literal(row.item_id)})"


def _named_of(n_named: int | None, n_answers: int) -> str:
    """How many answers a share is of; a mean of probabilities is none of whole answers."""
    return "" if n_named is None else f" ({n_named}/{n_answers})"


OPTIONS_MOVED = Section(
    "Options that moved",
    f"Which options do users move? Listed: the {TOP_SHIFTS} furthest that moved in a task, or else "
    "the furthest. Chance helped the largest: expect less when you ask again. Intervals are of one "
    "option alone.",
    ["item_shares", "shifts"],
    _shifts,
    [
        *ARM,
        TableColumn("Option (prompt)", _option),
        TableColumn(
            lambda study: f"{study.outline.label(study.outline.baseline)}, %",
            lambda row, _: (
                number_cell(row.baseline_share, 1, 100)
                + _named_of(row.n_named_baseline, row.n_baseline)
            ),
        ),
        TableColumn(
            "With user, %",
            lambda row, _: number_cell(row.share, 1, 100) + _named_of(row.n_named, row.n_answers),
        ),
        TableColumn("Points", interval("shift", PERCENT.as_difference)),
        TableColumn("p", p_value("option_share")),
    ],
    "option_share",
    listed_rows=_furthest_shifts,
)
