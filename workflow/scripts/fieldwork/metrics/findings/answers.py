"""The sections about answers: who asks, how far answers move, and which options."""

from collections.abc import Sequence

from fieldwork.markdown_text import literal
from fieldwork.metrics.findings.layout import Finding, FindingsSection
from fieldwork.metrics.findings.outline import (
    StudyOutline,
    arm_columns,
    groups,
    row_cells,
    study_rows,
)
from fieldwork.metrics.findings.verdicts import (
    FindingVerdict,
    StudyClaims,
    joined_verdict,
    prompts_verdict,
)
from fieldwork.metrics.findings.wording import (
    interval_cell,
    join_words,
    number_cell,
    p_cell,
    signed_number,
)
from fieldwork.records.field import between
from fieldwork.records.metrics import Comparison, NestedVariance, Shift, VarianceShare
from fieldwork.records.parsing import UNKNOWN
from fieldwork.records.tasks import LETTER_KINDS

TOP_SHIFTS = 5
"""Options that moved which are listed for each task and model."""


def who_asks(
    rows: Sequence[VarianceShare], claims: StudyClaims, outline: StudyOutline
) -> FindingsSection:
    """The share of the variance of answers that lies between contexts, or between real users."""
    units = between([row.condition for row in rows if row.condition in outline.users])
    question = (
        f"How much of the variance of answers to one prompt lies between {units}, and not between "
        "repeats?"
    )
    if outline.simulated_users:
        question += (
            " A simulated user has one context (a conversation, a history or a profile), so that user "
            "and context cannot be told apart."
        )
    if outline.retrieval:
        labels = join_words([outline.label(name) for name in outline.retrieval])
        question += f" With {labels} it is another context for each prompt."
    shown_rows = study_rows(rows, outline, outline.users)
    findings = [
        Finding(
            (
                *row_cells(row, outline),
                interval_cell(row.share_who, row.ci_low, row.ci_high, digits=0, scale=100),
                p_cell(claims.p_value("share_who", row)),
                str(row.n_puppets),
                str(row.n_items),
                f"{row.n_responses:,}",
            ),
            claims.verdict("share_who", row),
        )
        for row in shown_rows
        # with users who are asked once there is no share at all, which the limits say
        if any(row.share_who is not None for row in shown_rows)
    ]
    return FindingsSection(
        "Who asks, and in which context",
        question,
        (
            *arm_columns(outline),
            "Share, %",
            "p",
            units.capitalize(),
            "Prompts",
            "Answers",
            "Verdict",
        ),
        findings,
        ["variance"],
        "No condition of this study has a user.",
    )


def users_and_contexts(
    rows: Sequence[NestedVariance], claims: StudyClaims, outline: StudyOutline
) -> FindingsSection:
    """The shares of the variance between users, and between contexts of one user."""
    return FindingsSection(
        "Users and contexts",
        "Is it the user or the context? The same users were asked with other conversations of their own: "
        "how much of the variance of answers to one prompt lies between users, and how much between "
        "contexts of one user?",
        (
            *arm_columns(outline),
            *("Users, %", "p", "Contexts of a user, %", "p of contexts", "Users", "Contexts each"),
            *("Prompts", "Verdict"),
        ),
        [
            _nested_finding(row, claims, outline)
            for row in study_rows(rows, outline, outline.simulated_users)
        ],
        ["users_and_contexts"],
        "No users were asked with several contexts.",
    )


def _nested_finding(row: NestedVariance, claims: StudyClaims, outline: StudyOutline) -> Finding:
    cells = (
        interval_cell(row.share_user, row.user_low, row.user_high, digits=0, scale=100),
        p_cell(claims.p_value("share_user", row)),
        interval_cell(row.share_context, row.context_low, row.context_high, digits=0, scale=100),
        p_cell(claims.p_value("share_context", row)),
        str(row.n_users),
        str(row.n_contexts),
        str(row.n_items),
    )
    verdict = joined_verdict(
        _plural(claims.verdict("share_user", row), "users"),
        _plural(claims.verdict("share_context", row), "contexts"),
    )
    return Finding((*row_cells(row, outline), *cells), verdict)


def _plural(verdict: FindingVerdict, units: str) -> FindingVerdict:
    """A difference with those who differ: `users differ`."""
    if not verdict.is_shown:
        return verdict
    return verdict._replace(text=verdict.text.replace("differs", f"{units} differ", 1))


def distance(
    rows: Sequence[Comparison], claims: StudyClaims, outline: StudyOutline
) -> FindingsSection:
    """On how many prompts answers differ from the baseline's."""
    bits = [row for row in rows if row.metric == "js_bits"]
    comparisons = study_rows(bits, outline, [*outline.users, *outline.controls])
    arms = groups(comparisons, lambda row: (row.model, row.task, row.condition))
    baseline = outline.label(outline.baseline)
    return FindingsSection(
        f"Distance from {baseline}",
        "On how many prompts do answers differ? The clearest is named, in bits (0 to 1) beyond chance.",
        (
            *arm_columns(outline),
            *("Prompts that differ", "Clearest", "Bits", "p", "n", "Verdict"),
        ),
        [_distance_finding(arm, claims, outline) for arm in arms],
        ["comparisons"],
        f"No condition has answers to compare with {baseline}.",
    )


def _distance_finding(
    arm: Sequence[Comparison], claims: StudyClaims, outline: StudyOutline
) -> Finding:
    verdicts = [claims.verdict("distance", row) for row in arm]
    cells, verdict = row_cells(arm[0], outline), prompts_verdict(verdicts)
    if not verdict.is_tested:
        return Finding((*cells, *["–"] * 5), verdict)
    row = _clearest(arm, claims)
    n_tested = sum(verdict.is_tested for verdict in verdicts)
    count = f"{sum(verdict.is_shown for verdict in verdicts)}/{n_tested}"
    if n_tested < len(arm):
        count += f", {len(arm) - n_tested} untested"
    numbers = (
        literal(row.item_id),
        signed_number(row.excess or 0.0, 3),
        p_cell(claims.p_value("distance", row)),
        _sizes(row.n_units, row.n_units_baseline),
    )
    return Finding((*cells, count, *numbers), verdict)


def _sizes(n: int, n_baseline: int) -> str:
    return str(n) if n == n_baseline else f"{n}, baseline {n_baseline}"


def _clearest(arm: Sequence[Comparison], claims: StudyClaims) -> Comparison:
    """The furthest prompt of those that differ; where none does, the nearest to a difference."""
    differing = [row for row in arm if claims.verdict("distance", row).is_shown]
    if differing:
        return max(differing, key=lambda row: row.excess or 0.0)
    tests = [row for row in arm if claims.verdict("distance", row).is_tested]
    return min(tests, key=lambda row: (row.p_value or 0.0, -(row.excess or 0.0)))


def options_moved(
    rows: Sequence[Shift], claims: StudyClaims, outline: StudyOutline
) -> FindingsSection:
    """The options whose share a user moves furthest."""
    findings: list[Finding] = []
    other_verdicts: list[FindingVerdict] = []
    shifts = [row for row in study_rows(rows, outline, outline.users) if row.shift is not None]
    for family in groups(shifts, lambda row: (row.model, row.task)):
        family_shifts = by_shift(family)
        verdicts = {id(row): claims.verdict("option_share", row) for row in family_shifts}
        movers = [row for row in family_shifts if verdicts[id(row)].is_shown][:TOP_SHIFTS]
        table_rows = movers or family_shifts[:1]
        findings += [_shift_finding(row, claims, outline) for row in table_rows]
        row_ids = {id(row) for row in table_rows}
        other_verdicts += [verdict for key, verdict in verdicts.items() if key not in row_ids]
    baseline = outline.label(outline.baseline)
    return FindingsSection(
        "Options that moved",
        f"Which options do users move? Listed: the {TOP_SHIFTS} furthest that moved in a task, or else "
        "the furthest. Chance helped the largest: expect less when you ask again. Intervals are of one "
        "option alone.",
        (
            *arm_columns(outline),
            *("Option (prompt)", f"{baseline}, %", "With user, %", "Points", "p"),
            "Verdict",
        ),
        findings,
        ["item_shares", "shifts"],
        "No option has a share both with and without a user.",
        other_verdicts,
    )


def by_shift(rows: Sequence[Shift]) -> list[Shift]:
    """Shifts, the largest first."""
    return sorted(rows, key=lambda row: (-abs(row.shift or 0.0), row.item_id, row.answer or ""))


def option_name(row: Shift) -> str:
    """An option with its prompt: `Tesla (cars)`."""
    is_unread = row.kind in LETTER_KINDS and row.answer == UNKNOWN
    name = "no readable letter" if is_unread else literal(row.answer or "")
    return f"{name} ({literal(row.item_id)})"


def _shift_finding(row: Shift, claims: StudyClaims, outline: StudyOutline) -> Finding:
    cells = (
        option_name(row),
        _share(row.baseline_share, row.n_named_baseline, row.n_baseline),
        _share(row.share, row.n_named, row.n_answers),
        interval_cell(row.shift, row.ci_low, row.ci_high, digits=0, scale=100, is_difference=True),
        p_cell(claims.p_value("option_share", row)),
    )
    return Finding((*row_cells(row, outline), *cells), claims.verdict("option_share", row))


def _share(share: float | None, n_named: int, n: int) -> str:
    return f"{number_cell(None if share is None else 100 * share, 1)} ({n_named}/{n})"
