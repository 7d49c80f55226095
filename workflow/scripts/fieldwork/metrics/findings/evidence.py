"""The tables that the page of findings is written from, by name."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from fieldwork import tables
from fieldwork.metrics.findings.verdicts import StudyClaims
from fieldwork.records.arms import ArmTest
from fieldwork.records.claims import Claim
from fieldwork.records.columns import table_of
from fieldwork.records.drift import Drift
from fieldwork.records.estimates import Estimate
from fieldwork.records.field import (
    Calibration,
    GroupDifference,
    ItemAgreement,
    RankAgreement,
)
from fieldwork.records.judging import InterventionEstimate, JudgementEstimate
from fieldwork.records.memory import MemoryMatch
from fieldwork.records.metrics import (
    CategoryVariance,
    Comparison,
    ExactEstimate,
    ListLength,
    NestedVariance,
    Novelty,
    Rank,
    ScoreSpread,
    Shift,
    VarianceShare,
)
from fieldwork.records.practice import PracticeDrop, PracticeOrder, PracticeTurn
from fieldwork.records.robustness import GroupGap, Robustness
from fieldwork.records.service import ServiceMeasure
from fieldwork.records.values import ValueComparison, ValueEstimate

NO_CLAIMS = StudyClaims()


class FindingsTables(NamedTuple):
    """Rows of the metric tables; a study without real users lacks the last four.

    Attributes:
        claims: what may be claimed of them.
    """

    variance: Sequence[VarianceShare] = ()
    comparisons: Sequence[Comparison] = ()
    shifts: Sequence[Shift] = ()
    estimates: Sequence[Estimate] = ()
    score_spreads: Sequence[ScoreSpread] = ()
    ranks: Sequence[Rank] = ()
    novelty: Sequence[Novelty] = ()
    categories: Sequence[CategoryVariance] = ()
    group_differences: Sequence[GroupDifference] = ()
    rank_agreement: Sequence[RankAgreement] = ()
    item_agreement: Sequence[ItemAgreement] = ()
    calibration: Sequence[Calibration] = ()
    list_lengths: Sequence[ListLength] = ()
    users_and_contexts: Sequence[NestedVariance] = ()
    exact_estimates: Sequence[ExactEstimate] = ()
    service: Sequence[ServiceMeasure] = ()
    robustness: Sequence[Robustness] = ()
    group_gaps: Sequence[GroupGap] = ()
    practice: Sequence[PracticeOrder] = ()
    practice_turns: Sequence[PracticeTurn] = ()
    practice_drops: Sequence[PracticeDrop] = ()
    drift: Sequence[Drift] = ()
    judgements: Sequence[JudgementEstimate] = ()
    memory_matches: Sequence[MemoryMatch] = ()
    interventions: Sequence[InterventionEstimate] = ()
    value_comparisons: Sequence[ValueComparison] = ()
    values: Sequence[ValueEstimate] = ()
    arm_tests: Sequence[ArmTest] = ()
    claims: StudyClaims = NO_CLAIMS


ROW_TYPES: Mapping[str, type[Any]] = {
    table_of(row_type).name: row_type
    for row_type in (
        VarianceShare,
        Comparison,
        Shift,
        Estimate,
        ScoreSpread,
        Rank,
        Novelty,
        CategoryVariance,
        GroupDifference,
        RankAgreement,
        ItemAgreement,
        Calibration,
        ListLength,
        NestedVariance,
        ExactEstimate,
        ServiceMeasure,
        Robustness,
        GroupGap,
        PracticeOrder,
        PracticeTurn,
        PracticeDrop,
        Drift,
        JudgementEstimate,
        MemoryMatch,
        InterventionEstimate,
        ValueComparison,
        ValueEstimate,
        ArmTest,
    )
}
"""Row type of each table."""


def read_findings_tables(paths: Sequence[str]) -> FindingsTables:
    """The claims and the tables of findings among all tables; one that is not there stays empty."""
    rows = tables.read_row_lists(paths, ROW_TYPES)
    (claims,) = tables.read_row_lists(paths, {"claims": Claim}).values()
    return FindingsTables(**rows, claims=StudyClaims(claims))
