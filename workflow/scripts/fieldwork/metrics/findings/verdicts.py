"""What the tests of a study show: one function for each kind of claim on the page.

Owns the whole rule: a difference is claimed only where its test, corrected by Holm, has p below
`LEVEL`. The summary, the warnings and the tables all ask here, so that they never disagree.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from fieldwork.metrics.findings.wording import literal
from fieldwork.records.field import Calibration, GroupDifference, ItemAgreement, RankAgreement
from fieldwork.records.metrics import (
    CategoryVariance,
    Comparison,
    Novelty,
    PromptMean,
    ScoreComparison,
    Shift,
    VarianceShare,
)

LEVEL = 0.05
"""Corrected p-values below this show a difference."""

NOT_SHOWN = "not shown"

_NO_TEST = re.compile(r"^no (?:interval and no )?(?:test|excess): ")


class FindingVerdict(NamedTuple):
    """What a test says, in the words of the table's last column.

    Attributes:
        is_tested: False where there is no test; the text then gives the reason.
        is_shown: the test shows a difference.
    """

    text: str
    is_tested: bool = False
    is_shown: bool = False


def is_significant(p: float | None) -> bool:
    """Whether a corrected p-value shows a difference."""
    return p is not None and p < LEVEL


def missing_test(reason: str | None) -> FindingVerdict:
    """No test, with the table's own reason: of several, the one that is about the test."""
    parts = (reason or "").split("; ")
    reasons = [_NO_TEST.sub("", part) for part in parts if _NO_TEST.match(part)] or parts
    # code signs of a reason would be escaped one by one
    text = literal("; ".join(reasons).replace("`", "'"))
    return FindingVerdict(f"no test: {text}" if text else "no test")


def _test_verdict(p: float, difference: str) -> FindingVerdict:
    is_shown = is_significant(p)
    return FindingVerdict(difference if is_shown else NOT_SHOWN, True, is_shown)


def variance_verdict(row: VarianceShare) -> FindingVerdict:
    """Whether it matters who asks."""
    if row.share_who is None or row.p_holm is None:
        return missing_test(row.reason)
    return _test_verdict(row.p_holm, "differs")


def comparison_verdict(row: Comparison) -> FindingVerdict:
    """Whether answers to a prompt differ from the baseline's."""
    if row.excess is None or row.p_holm is None:
        return missing_test(row.reason)
    return _test_verdict(row.p_holm, "differs")


def shift_verdict(row: Shift) -> FindingVerdict:
    """Whether an option becomes rarer or more common."""
    if row.shift is None or row.p_holm is None:
        return missing_test(row.reason)
    return _test_verdict(row.p_holm, "more common" if row.shift > 0 else "rarer")


def entropy_verdict(row: PromptMean) -> FindingVerdict:
    """Whether answers vary more or less than the baseline's."""
    if row.mean is None or row.difference is None or row.p_holm is None:
        return missing_test(row.reason)
    return _test_verdict(row.p_holm, "more varied" if row.difference > 0 else "less varied")


def score_verdict(row: ScoreComparison) -> FindingVerdict:
    """Whether the mean score differs from the baseline's."""
    if row.difference is None or row.p_holm is None:
        return missing_test(row.reason)
    return _test_verdict(row.p_holm, "higher" if row.difference > 0 else "lower")


def spread_verdict(row: ScoreComparison) -> FindingVerdict:
    """Whether scores spread further than the baseline's reruns."""
    if row.sd is None or row.sd_baseline is None or row.p_spread_holm is None:
        return missing_test(row.reason)
    return _test_verdict(row.p_spread_holm, "wider")


def run_verdict(row: ScoreComparison) -> FindingVerdict:
    """What both tests of scores show: of the mean, and of the spread."""
    mean, spread = score_verdict(row), spread_verdict(row)
    if not spread.is_shown:
        return mean
    text = f"{mean.text}, wider spread" if mean.is_shown else "wider spread"
    return FindingVerdict(text, True, True)


def novelty_verdict(row: Novelty) -> FindingVerdict:
    """Whether users bring more new answers than as many fresh reruns."""
    if row.share is None or row.excess is None or row.p_holm is None:
        return missing_test(row.reason)
    return _test_verdict(row.p_holm, "more" if row.excess > 0 else "fewer")


def category_verdict(arm: Sequence[CategoryVariance]) -> FindingVerdict:
    """Whether categories of subjects differ in how much it matters who asks.

    Args:
        arm: the categories of one model, task and condition, which share one test.
    """
    if arm[0].p_holm is None or all(row.var_who is None for row in arm):
        return missing_test(arm[0].reason)
    return _test_verdict(arm[0].p_holm, "categories differ")


def group_verdict(row: GroupDifference) -> FindingVerdict:
    """Whether groups of participants differ."""
    if row.difference is None or row.p_holm is None:
        return missing_test(row.reason)
    return _test_verdict(row.p_holm, "differ")


def order_verdict(row: RankAgreement) -> FindingVerdict:
    """Whether a condition ranks as the field does; a shown order may be the opposite one."""
    if row.tau_b is None or row.p_holm is None or row.rho is None:
        return missing_test(row.reason)
    if row.p_least is not None and row.p_least >= LEVEL:
        reason = f"cannot be shown: with so few or so many ties, p is at least {row.p_least:.2f}"
        return FindingVerdict(reason, True)
    return _test_verdict(row.p_holm, "same order" if row.tau_b > 0 else "opposite order")


def agreement_verdict(row: ItemAgreement) -> FindingVerdict:
    """Whether a condition's answers to a prompt differ from the field's."""
    if row.js_distance is None or row.p_holm is None:
        return missing_test(row.reason)
    return _test_verdict(row.p_holm, "differs")


def moves_rank(row: ItemAgreement) -> bool:
    """Whether a prompt stands at another place than in the field, beyond chance."""
    return is_significant(row.p_rank_holm) and bool(row.rank_change)


def calibration_verdict(row: Calibration, best: Calibration | None) -> FindingVerdict:
    """Whether weights come closer to the field than the best uncalibrated arm, `best`."""
    if row.js_bits is None or best is None:
        reason = f": {literal(row.reason)}" if row.reason else ""
        return FindingVerdict(f"{row.verdict}{reason}")
    if row.verdict == "calibrated":
        return FindingVerdict("calibrated: closer", True, True)
    if best.ci_high is not None and best.ci_high < 0 and is_significant(best.p_holm):
        return FindingVerdict(f"{row.verdict}: further", True, True)
    return FindingVerdict(f"{row.verdict}: gain not shown", True)


def prompts_verdict(verdicts: Sequence[FindingVerdict]) -> FindingVerdict:
    """What tests of single prompts show of the whole condition."""
    tests = [verdict for verdict in verdicts if verdict.is_tested]
    if not tests:
        return verdicts[0]
    is_shown = any(verdict.is_shown for verdict in tests)
    return FindingVerdict("differs" if is_shown else NOT_SHOWN, True, is_shown)
