"""The table of claims: each test of the study with its correction, its margin and its verdict."""

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from statistics import NormalDist
from types import MappingProxyType
from typing import Any

from fieldwork.metrics.claims.families import (
    ClaimRules,
    CorrectedTest,
    correct_family,
    correction_of,
    family_of,
)
from fieldwork.metrics.claims.keys import ArmKey, ClaimKey
from fieldwork.metrics.claims.measures import MEASURES, confirm, study_tests
from fieldwork.metrics.claims.study_test import StudyTest
from fieldwork.records.claims import Claim, Verdict
from fieldwork.records.columns import table_of
from fieldwork.records.metrics import ControlTest
from fieldwork.statistics.families import LEVEL
from fieldwork.statistics.intervals import CONFIDENCE

SAME_ANSWERS = "the same answers as under "
"""Of a test: why it is none, with the condition that they belong to."""
TESTED_BY_DRIFT = "a later wave is compared with its first in metrics/drift alone"

AGAINST_CONTROL = "against the baseline asked again"

POWER = 0.8
"""Share of studies in which a test finds the smallest effect that is said of it."""


def row_types() -> dict[str, type[Any]]:
    """The row types of the metric tables that have tests, by the table's name."""
    types: list[type[Any]] = [ControlTest, *(measure.row_type for measure in MEASURES.values())]
    return {table_of(row_type).name: row_type for row_type in types}


def measure_claims(
    tables: Mapping[str, Sequence[Any]],
    rules: ClaimRules,
    repeats: Mapping[ArmKey, str] = MappingProxyType({}),
) -> list[Claim]:
    """Every test of the study's metric tables.

    Args:
        tables: rows by the table's name; a table that the study lacks may be absent.
        repeats: arms that have the answers of another condition, and are not tested again.
    """
    families: dict[str, list[StudyTest]] = {}
    control_tests: dict[ClaimKey, list[ControlTest]] = {}
    for row in tables.get(table_of(ControlTest).name, ()):
        control_tests.setdefault(ClaimKey.of(row), []).append(row)
    for test in chain.from_iterable(
        study_tests(name, tables.get(table_of(measure.row_type).name, ()))
        for name, measure in MEASURES.items()
    ):
        reason = _exclusion(test.key, rules, repeats)
        one_test = test._replace(p_value=None, reason=reason) if reason else test
        for row in control_tests.get(test.key, ()):
            one_test = confirm(one_test, row.p_value, row.direction, AGAINST_CONTROL)
        families.setdefault(family_of(test.key, rules), []).append(one_test)
    return [claim for family, tests in families.items() for claim in _claims(family, tests, rules)]


def _exclusion(key: ClaimKey, rules: ClaimRules, repeats: Mapping[ArmKey, str]) -> str | None:
    """Why a test is none of the study's: its arm repeats another, or is a later wave."""
    first = repeats.get(ArmKey(key.model, key.task, key.condition))
    if first:
        return f"{SAME_ANSWERS}{first}"
    return TESTED_BY_DRIFT if key.condition in rules.later_waves else None


def _claims(family: str, tests: Sequence[StudyTest], rules: ClaimRules) -> Iterator[Claim]:
    for test, family_test in zip(tests, correct_family(tests, family), strict=True):
        margin = rules.margins[test.margin] if test.margin else None
        verdict = _verdict(test, family_test, margin)
        yield Claim(
            family=family,
            source=test.source,
            **test.key._asdict(),
            **test.sides,
            estimate=test.estimate,
            ci_low=test.ci_low,
            ci_high=test.ci_high,
            p_value=test.p_value,
            p_least=test.p_least or None,
            p_confirmed=test.p_confirmed
            if test.confirmations and test.p_value is not None
            else None,
            p_corrected=family_test.p_corrected if verdict != "cannot be shown" else None,
            correction=correction_of(family),
            n_tests=family_test.n_tests,
            margin=margin,
            smallest_effect=_smallest_effect(test, family_test),
            verdict=verdict,
            direction=test.direction if verdict == "differs" else None,
            unconfirmed=_missing_confirmation(test, family_test)
            if verdict == "undecided"
            else None,
            reason=_resolution(test, family_test) if verdict == "cannot be shown" else test.reason,
        )


def _missing_confirmation(test: StudyTest, family_test: CorrectedTest) -> str | None:
    """What keeps a difference from being claimed that the test alone would show."""
    if family_test.p_alone is None or family_test.p_alone >= LEVEL:
        return None
    # where each confirms it alone and none over the family, the least sure one
    least_sure = max(test.confirmations, key=lambda confirmation: confirmation.p_value or 0.0)
    return "; ".join(dict.fromkeys(test.missing_confirmations(LEVEL) or [least_sure.of]))


def _verdict(test: StudyTest, family_test: CorrectedTest, margin: float | None) -> Verdict:
    if test.p_value is None:
        return "not tested"
    if family_test.p_corrected is not None and family_test.p_corrected < LEVEL:
        return "differs"
    if margin is not None and is_equivalent(test, margin):
        return "equivalent"
    return "undecided" if family_test.can_be_shown else "cannot be shown"


def is_equivalent(test: StudyTest, margin: float) -> bool:
    """Whether the whole 95 % interval lies within the margin.

    Two one-sided tests (Schuirmann 1987), each at 2.5 %, and not corrected over the family.
    """
    if test.ci_low is None or test.ci_high is None:
        return False
    return test.ci_high < margin and (test.is_one_sided or test.ci_low > -margin)


def _smallest_effect(test: StudyTest, family_test: CorrectedTest) -> float | None:
    """Difference that a test with this error finds in `POWER` of studies at its corrected level.

    (z of the level + z of the power) standard errors, normal, the level divided by the number of
    tests as Holm's first step does; the error is taken from the width of the interval.
    """
    if test.ci_low is None or test.ci_high is None or not family_test.n_tests:
        return None
    normal = NormalDist()
    error = (test.ci_high - test.ci_low) / (2 * normal.inv_cdf(0.5 + CONFIDENCE / 2))
    quantile = normal.inv_cdf(1 - LEVEL / family_test.n_tests / 2) + normal.inv_cdf(POWER)
    return quantile * error if math.isfinite(error) else None


def _resolution(test: StudyTest, family_test: CorrectedTest) -> str:
    p_least = test.p_least
    if p_least >= LEVEL:
        return f"with so few or so equal answers, p is at least {p_least:.2g}"
    return (
        f"p is at least {p_least:.2g}, too much for {family_test.n_tests:,} tests; raise "
        "metrics.permutations or ask more users"
    )
