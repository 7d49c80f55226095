"""The sections about real users: differences between their groups, and who answers as they do.

Promises no section where the study has no answers of real users.
"""

from collections.abc import Iterable, Mapping, Sequence

from fieldwork.markdown_text import literal
from fieldwork.metrics.findings.estimates import beside_the_field
from fieldwork.metrics.findings.evidence import FindingsTables
from fieldwork.metrics.findings.layout import Finding, FindingsSection
from fieldwork.metrics.findings.outline import (
    StudyOutline,
    arm_cells,
    arm_columns,
    groups,
    ordered_rows,
)
from fieldwork.metrics.findings.verdicts import FindingVerdict, StudyClaims, prompts_verdict
from fieldwork.metrics.findings.wording import (
    count_phrase,
    interval_cell,
    join_words,
    number_cell,
    number_text,
    p_cell,
    percent,
    signed_number,
)
from fieldwork.records.estimates import Estimate
from fieldwork.records.field import (
    GroupDifference,
    ItemAgreement,
    RankAgreement,
)

_MEASURES = {
    "entropy_bits": "entropy, bits",
    "one_minus_top5_share": "1 − top-5 share, points",
    "share_correct": "share correct, points",
    "share_unread": "share that cannot be read, points",
    "js_bits": "distribution, bits",
}
_ORDERS = {
    "entropy_bits": "entropy",
    "top_share": "share of the commonest option",
    "share_correct": "share correct",
}


def field_sections(
    differences: Sequence[GroupDifference],
    ranks: Sequence[RankAgreement],
    items: Sequence[ItemAgreement],
    means: Sequence[Estimate],
    claims: StudyClaims,
    outline: StudyOutline,
) -> list[FindingsSection]:
    """The sections of a study with a field; none without."""
    means = [row for row in means if row.reference == "field"]
    if not (differences or ranks or items or means):
        return []
    group_section = [groups_of_users(differences, claims, outline)] if differences else []
    return [
        *group_section,
        *beside_the_field(means, claims, outline),
        predictors(ranks, claims, outline),
        near_the_field(items, claims, outline),
    ]


# ---- groups ------------------------------------------------------------------------------------------


def groups_of_users(
    rows: Sequence[GroupDifference], claims: StudyClaims, outline: StudyOutline
) -> FindingsSection:
    """Whether groups of participants answer differently: means over prompts, and prompts counted."""
    study = _study_differences(rows, outline)
    findings: list[Finding] = []
    for family in groups(study, lambda row: (row.task, row.model, row.variable)):
        means = [row for row in family if row.item_id is None]
        for metric in groups(means, lambda row: (row.metric, str(row.group is None))):
            findings += [
                _difference_finding(row, claims, outline) for row in _telling(metric, claims)
            ]
        findings += _prompt_findings(family, claims, outline)
    return FindingsSection(
        f"Groups of real users: {', '.join(sorted({literal(row.variable) for row in study}))}",
        "Do groups of participants answer differently? Where nothing is shown, the nearest is listed.",
        (
            *(_model_columns(outline)),
            *("Variable", "Groups", "Measure", "Difference", "Participants", "Prompts", "p"),
            "Verdict",
        ),
        findings,
        ["group_differences"],
        "No participants of this study belong to groups.",
    )


def _study_differences(
    rows: Sequence[GroupDifference], outline: StudyOutline
) -> list[GroupDifference]:
    tasks, models = list(outline.tasks), list(outline.models)
    members = [row for row in rows if row.model in models and row.task in tasks]
    return sorted(members, key=lambda row: (tasks.index(row.task), models.index(row.model)))


def _model_columns(outline: StudyOutline) -> tuple[str, ...]:
    return arm_columns(outline)[:-1]


def _model_cells(row: GroupDifference, outline: StudyOutline) -> tuple[str, ...]:
    return (*arm_cells(outline, row.task, row.model, "")[:-1], literal(row.variable))


def _telling(rows: Sequence[GroupDifference], claims: StudyClaims) -> Sequence[GroupDifference]:
    """The differences that are shown; without one the nearest to it, or the first untested."""
    verdicts = [(row, claims.verdict("group_difference", row)) for row in rows]
    tests = [row for row, verdict in verdicts if verdict.is_tested]
    differences = [row for row, verdict in verdicts if verdict.is_shown]
    return differences or [min(tests, key=lambda row: row.p_value or 0.0) if tests else rows[0]]


def _difference_finding(
    row: GroupDifference, claims: StudyClaims, outline: StudyOutline
) -> Finding:
    if row.group is None:
        pair, n = "all", str(row.n_group)
    else:
        versus = literal(row.versus) if row.versus else "mean of the others"
        pair, n = f"{literal(row.group)} − {versus}", f"{row.n_group}, {row.n_versus}"
    cells = (
        pair,
        _MEASURES[row.metric],
        _amount(row),
        n,
        str(row.n_items),
        p_cell(claims.p_value("group_difference", row)),
    )
    return Finding((*_model_cells(row, outline), *cells), claims.verdict("group_difference", row))


def _amount(row: GroupDifference) -> str:
    if row.difference is None:
        return "–"
    if row.group is None:
        return f"{number_text(row.value or 0.0, 3)}, by chance {number_text(row.value_versus or 0.0, 3)}"
    digits, scale = (2, 1) if row.metric == "entropy_bits" else (0, 100)
    return interval_cell(
        row.difference, row.ci_low, row.ci_high, digits=digits, scale=scale, is_difference=True
    )


def _prompt_findings(
    family: Sequence[GroupDifference], claims: StudyClaims, outline: StudyOutline
) -> list[Finding]:
    """One row a metric that differs on some prompts: how many tests of single prompts show it."""
    prompts = [row for row in family if row.item_id is not None]
    findings = []
    for rows in groups(prompts, lambda row: (row.metric,)):
        differences = [row for row in rows if claims.verdict("group_difference", row).is_shown]
        if differences:
            names = ", ".join(dict.fromkeys(_prompt_name(row) for row in differences))
            cells = ("by prompt", _MEASURES[rows[0].metric].partition(",")[0], names)
            verdict = FindingVerdict(f"{len(differences)} of {len(rows)} differ", True, True)
            numbers = ("–", "1", "–")
            findings.append(Finding((*_model_cells(rows[0], outline), *cells, *numbers), verdict))
    return findings


def _prompt_name(row: GroupDifference) -> str:
    return literal(row.item_id or "") + (f" ({literal(row.group)})" if row.group else "")


# ---- does a condition predict the field --------------------------------------------------------------


def study_orders(rows: Sequence[RankAgreement], outline: StudyOutline) -> list[RankAgreement]:
    """Rank agreements of the study, in the order of the page."""
    return ordered_rows(rows, outline, lambda row: (row.task, row.model, row.predictor))


def predictors(
    rows: Sequence[RankAgreement], claims: StudyClaims, outline: StudyOutline
) -> FindingsSection:
    """Whether a condition puts prompts, or models, in the field's order."""
    return FindingsSection(
        "Does it predict the field?",
        "Does a condition rank prompts, or models, as real users do? tau-b and rho are 1 for the same "
        "order, −1 for the opposite one; the ceiling is the rho to expect of one true order.",
        (
            *arm_columns(outline),
            *("Ranked", "tau-b", "p", "Pairs turned", "rho", "Ceiling", "Verdict"),
        ),
        [_order_finding(row, claims, outline) for row in study_orders(rows, outline)],
        ["rank_agreement"],
        "Nothing can be ranked and compared with the field.",
    )


def _order_finding(row: RankAgreement, claims: StudyClaims, outline: StudyOutline) -> Finding:
    ranking = f"{count_phrase(row.n_ranked, row.over.removesuffix('s'))} by {_ORDERS[row.measure]}"
    cells = (
        *arm_cells(outline, row.task, row.model, row.predictor),
        ranking,
        interval_cell(row.tau_b, row.tau_low, row.tau_high, digits=2, is_difference=True),
        p_cell(claims.p_value("field_order", row)),
        "–" if row.n_discordant is None else f"{row.n_discordant}/{row.n_pairs}",
        "–" if row.rho is None else signed_number(row.rho, 2),
        _ceiling(row),
    )
    return Finding(cells, claims.verdict("field_order", row))


def _ceiling(row: RankAgreement) -> str:
    if row.over != "items" or row.rho is None:
        return "–"
    return "unknown: too few answers" if row.ceiling is None else number_text(row.ceiling, 2)


# ---- how near the answers are ------------------------------------------------------------------------


def study_agreements(rows: Sequence[ItemAgreement], outline: StudyOutline) -> list[ItemAgreement]:
    """Agreements on prompts of the study, in the order of the page."""
    return ordered_rows(rows, outline, lambda row: (row.task, row.model, row.predictor))


def near_the_field(
    rows: Sequence[ItemAgreement], claims: StudyClaims, outline: StudyOutline
) -> FindingsSection:
    """On how many prompts a condition's answers differ from the field's, and change place."""
    arms = groups(
        study_agreements(rows, outline),
        lambda row: (row.task, row.model, row.kind, row.predictor),
    )
    return FindingsSection(
        "How near to the field",
        "On how many prompts do answers differ from real users'? The furthest is named with its "
        "Jensen-Shannon distance (0 to 1) and that of chance alone.",
        (
            *arm_columns(outline),
            *("Prompts that differ", "Furthest", "Distance", "Chance", "Change place"),
            *("Same commonest answer", "Verdict"),
        ),
        [_agreement_finding(arm, claims, outline) for arm in arms],
        ["item_agreement"],
        "No answers can be compared with real users'.",
    )


def _agreement_finding(
    arm: Sequence[ItemAgreement], claims: StudyClaims, outline: StudyOutline
) -> Finding:
    place = arm_cells(outline, arm[0].task, arm[0].model, arm[0].predictor)
    verdicts = [claims.verdict("field_distance", row) for row in arm]
    tests = [row for row, verdict in zip(arm, verdicts, strict=True) if verdict.is_tested]
    verdict = prompts_verdict(verdicts)
    if not tests:
        return Finding((*place, *["–"] * 6), verdict)
    n_differing = sum(verdict.is_shown for verdict in verdicts)
    furthest = max(tests, key=lambda row: row.js_distance or 0.0)
    n_same = sum(bool(row.is_same_top) for row in tests)
    cells = (
        f"{n_differing}/{len(tests)}",
        literal(furthest.item_id),
        number_cell(furthest.js_distance, 2),
        number_cell(furthest.js_expected_same, 2),
        _moves(tests, claims),
        f"{n_same} ({percent(n_same / len(tests))})",
    )
    return Finding((*place, *cells), verdict)


def _moves(rows: Sequence[ItemAgreement], claims: StudyClaims) -> str:
    verdicts = [(row, claims.verdict("field_place", row)) for row in rows]
    rank_tests = [(row, verdict) for row, verdict in verdicts if verdict.is_tested]
    if not rank_tests:
        return "–"
    names = [
        literal(row.item_id) for row, verdict in rank_tests if verdict.is_shown and row.rank_change
    ]
    return f"{len(names)}/{len(rank_tests)}" + (f": {join_words(names)}" if names else "")


def repeated_text_notes(quality: Iterable[Mapping[str, str]]) -> list[str]:
    """A caution where participants gave the same text to a prompt again.

    Args:
        quality: rows of `QualityCheck` as texts.
    """
    n = sum(int(row["n_flagged"]) for row in quality if row["check"] == "same_text")
    if not n:
        return []
    answers = f"{n:,} answers of real users are" if n > 1 else "one answer of real users is"
    return [
        f"{answers}, word for word, what the same person had answered before: asked again, or in a file "
        "that holds the rows of an earlier one, which makes asking again look as if it changed nothing "
        "(field/quality.csv, same_text)"
    ]


# ---- in one sentence ---------------------------------------------------------------------------------


def field_sentence(tables: FindingsTables, outline: StudyOutline) -> str:
    """How near the model's answers come to those of real users; empty without them."""
    if not outline.has_field:
        return ""
    rows = study_agreements(tables.item_agreement, outline)
    tests = [row for row in rows if tables.claims.verdict("field_distance", row).is_tested]
    if not tests:
        return "no answers can be compared with theirs"
    predictors = {row.predictor for row in tests}
    nearest = outline.baseline if outline.baseline in predictors else tests[0].predictor
    tests = [row for row in tests if row.predictor == nearest]
    shown_tests = [row for row in tests if tables.claims.verdict("field_distance", row).is_shown]
    n_differ, n = (len({(row.task, row.item_id) for row in rows}) for rows in (shown_tests, tests))
    order = _order_phrase(tables, outline)
    return (
        f"answers in their chats differ from those {outline.phrase(nearest)} on {n_differ:,} of "
        f"{count_phrase(n, 'question')} (other days, no controlled comparison){order}"
    )


def _order_phrase(tables: FindingsTables, outline: StudyOutline) -> str:
    """Which conditions rank prompts as the field does."""
    orders = [
        row
        for row in study_orders(tables.rank_agreement, outline)
        if tables.claims.verdict("field_order", row).is_shown and (row.tau_b or 0.0) > 0
    ]
    names = [outline.phrase(row.predictor) for row in orders]
    phrases = join_words([*dict.fromkeys(names)])
    return f"; {phrases}, questions rank as in their chats" if orders else ""
