"""The sections about the study's tests as such: its primary comparisons, and all families of tests."""

from collections.abc import Iterable, Sequence

from fieldwork.markdown_text import literal
from fieldwork.metrics.claims.families import (
    BENJAMINI_HOCHBERG,
    CONTROL,
    HOLM,
    PRIMARY,
    REAL_USERS,
    WITHOUT_USER,
)
from fieldwork.metrics.findings.layout import Finding, FindingsSection
from fieldwork.metrics.findings.outline import (
    StudyOutline,
    arm_cells,
    arm_columns,
    ordered_rows,
)
from fieldwork.metrics.findings.verdicts import (
    MEASURE_NAMES,
    FindingVerdict,
    claim_verdict,
    effect_text,
)
from fieldwork.metrics.findings.wording import interval_cell, p_cell
from fieldwork.records.claims import Claim
from fieldwork.statistics.families import LEVEL

_FAMILIES = {
    PRIMARY: "primary",
    **MEASURE_NAMES,
    WITHOUT_USER: "other conditions without a user",
    REAL_USERS: "real users, by measure",
    CONTROL: "repeated without a user, by measure",
}
"""Families of tests, and groups of families that stand in one row."""


_OF_ANSWERS = ("share_who", "share_user", "share_context")
"""Measures of all answers to a task, whose kind goes without saying."""

_OF_VALUES = ("value", "field_value")
"""Measures of single questions, and of all scales together where no question is named."""


def primary_comparisons(claims: Iterable[Claim], outline: StudyOutline) -> FindingsSection:
    """The comparisons that the study is about, one family of tests."""
    primary = [claim for claim in claims if claim.family == PRIMARY]
    arms = ordered_rows(primary, outline, lambda row: (row.task, row.model, row.condition))
    rows = sorted(arms, key=lambda row: [*MEASURE_NAMES].index(row.measure))
    n_tests = rows[0].n_tests if rows else 0
    meaning = (
        f"One family: if nothing differed at all, any of the {n_tests} tests would say so in at most "
        f"{100 * LEVEL:g} % of studies. p is corrected for this and intervals are not: one may exclude 0 "
        "where no difference is detected."
    )
    return FindingsSection(
        "Primary comparisons",
        "What is this study about (`study.primary`)? "
        f"{meaning if n_tests else 'Nothing of this can be tested here.'}",
        (*arm_columns(outline), "Measure", "Difference", "p", "Verdict"),
        [_primary_finding(claim, outline) for claim in rows],
        ["claims"],
        "The study names no primary comparison that it can make.",
    )


def _primary_finding(claim: Claim, outline: StudyOutline) -> Finding:
    cells = (
        *arm_cells(outline, claim.task, claim.model, claim.condition),
        _measure(claim),
        _difference(claim),
        p_cell(claim.p_corrected),
    )
    return Finding(cells, claim_verdict(claim))


def _measure(claim: Claim) -> str:
    if claim.measure in _OF_VALUES and claim.item_id is None:
        return f"{MEASURE_NAMES[claim.measure]}: all scales together"
    names = [
        name for name in (claim.item_id, claim.detail) if name and claim.measure not in _OF_ANSWERS
    ]
    name = MEASURE_NAMES[claim.measure]
    return f"{name}: {literal(', '.join(names))}" if names else name


def _difference(claim: Claim) -> str:
    if claim.estimate is None:
        return "–"
    effect = effect_text(claim.measure, claim.estimate)
    if not effect:
        ends = (claim.ci_low, claim.ci_high)
        return interval_cell(claim.estimate, *ends, digits=2, is_difference=True)
    low, high = (effect_text(claim.measure, end) for end in (claim.ci_low, claim.ci_high))
    return (
        f"{effect} ({low.partition(' ')[0]}…{high.partition(' ')[0]})"
        if low
        else f"{effect} (none)"
    )


def families(claims: Iterable[Claim]) -> FindingsSection:
    """How many tests there were, how they are corrected, and how many false claims to expect."""
    return FindingsSection(
        "All tests",
        "How many tests were made, how many of them had answers enough to show something, and how many "
        "false claims are to be expected? Holm holds "
        f"the chance of any false claim of its tests at {100 * LEVEL:g} %; after Benjamini and Hochberg "
        f"at most {100 * LEVEL:g} % of the claims are false on average over many studies; of one study "
        "they may be more.",
        (
            "Tests",
            "Large enough",
            "Correction",
            "Differ",
            "Equivalent",
            "Not shown",
            "False claims",
        ),
        [
            _family_finding(family)
            for name in _FAMILIES
            if (family := [claim for claim in claims if _row_of(claim.family) == name])
        ],
        ["claims"],
        "Nothing was tested.",
    )


def _row_of(family: str) -> str:
    return next(
        (group for group in (CONTROL, REAL_USERS) if family.startswith(f"{group}_")), family
    )


def _family_finding(family: Sequence[Claim]) -> Finding:
    n_shown, *n_others = (
        sum(claim.verdict == verdict for claim in family)
        for verdict in ("differs", "equivalent", "undecided")
    )
    n_could_show = sum(claim_verdict(claim).is_tested for claim in family)
    corrections = {claim.correction for claim in family}
    correction = corrections.pop() if len(corrections) == 1 else "by measure"
    cells = (
        f"{_FAMILIES[_row_of(family[0].family)]}: {len(family):,}",
        f"{n_could_show:,}",
        correction.replace("-", " and "),
        *(f"{n:,}" for n in (n_shown, *n_others)),
    )
    share = f"at most {100 * LEVEL:g} %"
    promise = {
        HOLM: f"any in {share} of studies",
        BENJAMINI_HOCHBERG: f"{share} of claims on average",
    }.get(correction, "as above, of each measure")
    return Finding(cells, FindingVerdict(promise))
