"""The sections about the study's tests as such: its primary comparisons, and all families of tests."""

from collections.abc import Sequence

from fieldwork.markdown_text import literal
from fieldwork.metrics.claims.families import (
    BENJAMINI_HOCHBERG,
    CONTROL,
    HOLM,
    PRIMARY,
    REAL_USERS,
    WITHOUT_USER,
)
from fieldwork.metrics.findings.evidence import StudyEvidence
from fieldwork.metrics.findings.sections import ARM, Cell, Section, TableColumn
from fieldwork.metrics.findings.verdicts import (
    MEASURE_NAMES,
    FindingVerdict,
    claim_verdict,
    effect_text,
)
from fieldwork.metrics.findings.wording import NOTHING, interval_cell, p_cell
from fieldwork.records.claims import Claim, Verdict
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


def _primary_claims(study: StudyEvidence) -> list[Claim]:
    claims = study.in_order(claim for claim in study.claims if claim.family == PRIMARY)
    return sorted(claims, key=lambda claim: [*MEASURE_NAMES].index(claim.measure))


def _meaning(study: StudyEvidence) -> str:
    n_tests = _primary_claims(study)[0].n_tests
    meaning = (
        f"One family: if nothing differed at all, any of the {n_tests} tests would say so in at most "
        f"{100 * LEVEL:g} % of studies. p is corrected for this and intervals are not: one may exclude 0 "
        "where no difference is detected."
        if n_tests
        else "Nothing of this can be tested here."
    )
    return f"What is this study about (`study.primary`)? {meaning}"


def _measure(claim: Claim, _: StudyEvidence) -> str:
    name = MEASURE_NAMES[claim.measure]
    if claim.measure in _OF_VALUES and claim.item_id is None:
        return f"{name}: all scales together"
    if claim.measure in _OF_ANSWERS or not (claim.item_id or claim.detail):
        return name
    return f"{name}: {literal(', '.join(filter(None, (claim.item_id, claim.detail))))}"


def _difference(claim: Claim, _: StudyEvidence) -> str:
    if claim.estimate is None:
        return NOTHING
    effect = effect_text(claim.measure, claim.estimate)
    if not effect:
        ends = (claim.ci_low, claim.ci_high)
        return interval_cell(claim.estimate, *ends, digits=2, is_difference=True)
    low, high = (
        effect_text(claim.measure, end).partition(" ")[0] for end in (claim.ci_low, claim.ci_high)
    )
    return f"{effect} ({low}…{high})" if low else f"{effect} (none)"


PRIMARY_COMPARISONS = Section(
    "Primary comparisons",
    _meaning,
    ["claims"],
    _primary_claims,
    [
        *ARM,
        TableColumn("Measure", _measure),
        TableColumn("Difference", _difference),
        TableColumn("p", lambda claim, _: p_cell(claim.p_corrected)),
    ],
    lambda claim, _: claim_verdict(claim),
)


def _families(study: StudyEvidence) -> list[list[Claim]]:
    families: dict[str, list[Claim]] = {name: [] for name in _FAMILIES}
    for claim in study.claims:
        families.get(_row_of(claim.family), []).append(claim)
    return [family for family in families.values() if family]


def _row_of(family: str) -> str:
    return next(
        (group for group in (CONTROL, REAL_USERS) if family.startswith(f"{group}_")), family
    )


def _correction(family: Sequence[Claim]) -> str:
    corrections = {claim.correction for claim in family}
    return corrections.pop() if len(corrections) == 1 else "by measure"


def _promise(family: Sequence[Claim], _: StudyEvidence) -> FindingVerdict:
    share = f"at most {100 * LEVEL:g} %"
    promises = {
        HOLM: f"any in {share} of studies",
        BENJAMINI_HOCHBERG: f"{share} of claims on average",
    }
    return FindingVerdict(promises.get(_correction(family), "as above, of each measure"))


def _n_with(verdict: Verdict) -> Cell:
    return lambda family, _: f"{sum(claim.verdict == verdict for claim in family):,}"


FAMILIES = Section(
    "All tests",
    "How many tests were made, how many of them had answers enough to show something, and how many "
    "false claims are to be expected? Holm holds "
    f"the chance of any false claim of its tests at {100 * LEVEL:g} %; after Benjamini and Hochberg "
    f"at most {100 * LEVEL:g} % of the claims are false on average over many studies; of one study "
    "they may be more.",
    ["claims"],
    _families,
    [
        TableColumn(
            "Tests", lambda family, _: f"{_FAMILIES[_row_of(family[0].family)]}: {len(family):,}"
        ),
        TableColumn(
            "Large enough",
            lambda family, _: f"{sum(claim_verdict(claim).is_tested for claim in family):,}",
        ),
        TableColumn("Correction", lambda family, _: _correction(family).replace("-", " and ")),
        TableColumn("Differ", _n_with("differs")),
        TableColumn("Equivalent", _n_with("equivalent")),
        TableColumn("Not shown", _n_with("undecided")),
    ],
    _promise,
    verdict_heading="False claims",
)
