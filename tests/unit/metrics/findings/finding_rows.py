"""A study of one model, and rows of its tables for the page of findings."""

import dataclasses
import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeVar

from fieldwork.metrics.claims.families import ClaimRules
from fieldwork.metrics.claims.table import measure_claims
from fieldwork.metrics.findings.estimates import measure_sections
from fieldwork.metrics.findings.evidence import StudyEvidence
from fieldwork.metrics.findings.layout import FindingsSection
from fieldwork.metrics.findings.outline import StudyOutline
from fieldwork.metrics.findings.sections import Section, section_of
from fieldwork.records.arms import ArmTest
from fieldwork.records.claims import Claim
from fieldwork.records.columns import table_of
from fieldwork.records.drift import Drift
from fieldwork.records.estimates import Estimate
from fieldwork.records.field import Calibration, GroupDifference, ItemAgreement, RankAgreement
from fieldwork.records.judging import InterventionEstimate, JudgementEstimate
from fieldwork.records.memory import MemoryMatch
from fieldwork.records.metrics import (
    CategoryVariance,
    Comparison,
    ExactEstimate,
    NestedVariance,
    Novelty,
    Rank,
    ScoreSpread,
    Shift,
    VarianceShare,
)
from fieldwork.records.practice import PracticeDrop, PracticeOrder
from fieldwork.records.robustness import GroupGap, Robustness
from fieldwork.records.values import ValueComparison
from fieldwork.sections.study import PrimaryEntry

Row = TypeVar("Row")

OUTLINE = StudyOutline(
    name="s",
    models={"m": "Model"},
    tasks=["rec", "mmlu"],
    conditions={"offline": "T1", "again": "T1 again", "rag": "RAG", "history": "History"},
    baseline="offline",
    users=["rag", "history"],
    controls=["again"],
    rarest_users=0.09,
    notes=["Not a chat model"],
)

FIELD_OUTLINE = OUTLINE._replace(
    conditions={**OUTLINE.conditions, "field": "Field"}, users=["rag", "history", "field"]
)


PHRASES = {
    "offline": "without a user",
    "again": "repeated without a user",
    "rag": "after the most similar conversation",
    "history": "after a user's conversation",
    "field": "by real users",
}
"""How questions are asked under each condition, in the words of the page."""

RULES = ClaimRules(
    primary=[PrimaryEntry(measure="share_who", tasks=["mmlu"])],
    users=["rag", "history", "field"],
    controls=["again"],
    margins={"share_who": 0.05, "entropy_bits": 0.25, "score": 0.02, "share": 0.1},
)


def claims_of(*rows: Any) -> list[Claim]:
    """The claims of rows, each alone in its family, so that correction changes no p-value."""
    return [
        claim for row in rows for claim in measure_claims({table_of(type(row)).name: [row]}, RULES)
    ]


def evidence(*rows: Any, outline: StudyOutline = OUTLINE, **tables: Sequence[Any]) -> StudyEvidence:
    """A study with these rows and their claims; tables have the names that a reader likes."""
    rows = (*rows, *(row for table in tables.values() for row in table))
    by_type: dict[type[Any], list[Any]] = {}
    for row in rows:
        by_type.setdefault(type(row), []).append(row)
    return StudyEvidence(outline, rows={Claim: claims_of(*rows), **by_type})


def section(declaration: Section, *rows: Any, outline: StudyOutline = OUTLINE) -> FindingsSection:
    """A section that has rows."""
    made = section_of(declaration, evidence(*rows, outline=outline))
    assert made is not None
    return made


def cells(
    declaration: Section, *rows: Any, outline: StudyOutline = OUTLINE
) -> list[tuple[str, ...]]:
    """The rows of a section's table, with the verdict last."""
    made = section_of(declaration, evidence(*rows, outline=outline))
    return [(*finding.cells, finding.verdict.text) for finding in made.findings] if made else []


HETEROGENEITY = next(one for one in measure_sections() if "estimates/lists" in one.tables)


def without_links(text: str) -> str:
    """A sentence as it is read."""
    return re.sub(r"\[([^\]]*)\]\(explorer/index\.html#[^)]*\)", r"\1", text)


def filled(row_type: type[Row], **values: Any) -> Row:
    """A row of any table; what is not given is NULL, 0 or an empty text, as its type allows."""
    defaults = {"str": "", "int": 0, "float": 0.0, "bool": False}
    hints = {field.name: str(field.type) for field in dataclasses.fields(row_type)}  # type: ignore[arg-type]
    where = {"model": "m", "task": "rec", "condition": "rag"}
    missing = {
        name: None if "None" in hint else defaults.get(hint.partition("'")[2].rstrip("'>"), "")
        for name, hint in hints.items()
    }
    where = {name: value for name, value in where.items() if name in hints}
    return row_type(**{**missing, **where, **values})


def row_maker(row_type: type[Row], names: str = "p_value", **columns: Any) -> Callable[..., Row]:
    """Of rows with these columns; some can be given by their places, the p-value first."""

    def make(*places: Any, **values: Any) -> Row:
        named = dict(zip(names.split(), places, strict=False))
        return filled(row_type, **{**columns, **named, **values})

    return make


variance_row = row_maker(
    VarianceShare, share_who=0.16, ci_low=-0.124, ci_high=0.2,
    n_puppets=40, n_items=9, n_responses=1720, n_repeated=360,
)  # fmt: skip
variant_row = row_maker(
    Robustness, metric="accuracy_change", estimate=-0.1, ci_low=-0.15, ci_high=-0.05
)
gap_row = row_maker(
    GroupGap, origin="mmlu", condition="offline", kind="choice", metric="accuracy_gap",
    group="women", other_group="men", n_groups=2, estimate=0.12, expected_same=0.03, p_least=0.0005,
)  # fmt: skip
practice_row = row_maker(
    PracticeOrder, task="mmlu", way_task="typos", condition="offline", baseline="offline",
    n_models=7, n_pairs=21, n_discordant=4, n_beyond_chance=1, metric="em_strict", rho=0.75,
    p_least=0.0004, difference=-0.02,
)  # fmt: skip
nested_row = row_maker(
    NestedVariance, "p_user p_context", share_user=0.12, user_low=0.05, user_high=0.2, share_context=0.3,
    context_low=0.2, context_high=0.4, n_users=80, n_contexts=2, n_items=9,
)  # fmt: skip
exact_row = row_maker(
    ExactEstimate, "measure", measure="share_who", estimate=0.063, ci_low=0.051, ci_high=0.079,
    sampled=0.053, sampled_low=-0.06, sampled_high=0.158,
    n_users=40, n_items=6, n_calls=240, n_answers=1480,
)  # fmt: skip
comparison_row = row_maker(
    Comparison,
    "p_value item_id",
    item_id="i",
    metric="js_bits",
    excess=0.03,
    n_units=40,
    n_units_baseline=30,
)
shift_row = row_maker(
    Shift, "p_value shift", item_id="cars", answer="Tesla", kind="list", n_family=194, shift=-0.4,
    n_named_baseline=23, n_baseline=40, n_named=7, n_answers=40,
    baseline_share=0.575, share=0.175, ci_low=-0.57, ci_high=-0.19,
)  # fmt: skip
entropy_row = row_maker(
    Estimate, "p_value difference", measure="entropy_bits", value=3.5, ci_low=3.4, ci_high=3.6,
    reference="baseline",
    versus="offline", unit="puppet", difference=0.2, difference_low=0.1, difference_high=0.3,
    prompts_difference_low=-0.02, prompts_difference_high=0.42,
    n_items=9, n_equal=38, n_units=40, n_higher=8,
)  # fmt: skip
score_row = row_maker(
    Estimate, task="mmlu", measure="em_strict", value=0.5, ci_low=0.45, ci_high=0.55, n_units=10,
    n_items=514, difference=-0.021, difference_low=-0.03, difference_high=-0.01,
    reference="baseline", versus="offline", unit="puppet",
)  # fmt: skip
spread_row = row_maker(
    ScoreSpread, task="mmlu", metric="em_strict", baseline="offline",
    p_value=0.5, sd=0.02, sd_baseline=0.011, sd_ratio=1.8,
)  # fmt: skip
rank_row = row_maker(
    Rank, task="mmlu", metric="em_strict", n_models=90, n_units=10, unit="puppet",
    rank_best=35, rank_worst=52, p_change=0.9, p_change_baseline=0.6, p_change_rerun=0.7,
    leaderboard="Board",
)  # fmt: skip
novelty_row = row_maker(
    Novelty, task="mmlu", share=0.23, ci_low=0.2, ci_high=0.3, n_items=514, n_equal=10,
    control_share=0.1, excess=0.13, excess_low=0.08, excess_high=0.2,
)  # fmt: skip
category_row = row_maker(
    CategoryVariance,
    "p_value category var_who",
    task="mmlu",
    category="STEM",
    var_who=0.02,
    n_subjects=18,
)
group_row = row_maker(
    GroupDifference, kind="list", variable="gender", group="man", versus="woman",
    metric="entropy_bits", value=3.5, value_versus=3.0, difference=0.5, ci_low=0.2, ci_high=0.8,
    p_value=0.02, n_family=1, n_permutations=1999, n_items=9, n_group=20, n_versus=21,
)  # fmt: skip
order_row = row_maker(
    RankAgreement, kind="list", over="items", predictor="rag", measure="entropy_bits", rho=0.9,
    tau_b=0.8, tau_low=0.4, tau_high=1.0, ceiling=0.9, p_value=0.002, p_least=0.00001,
    reliability_field=0.9,
    n_discordant=3, n_pairs=36, n_ranked=9, n_equal=20,
)  # fmt: skip
agreement_row = row_maker(
    ItemAgreement, item_id="books", kind="list", predictor="rag", ranked_by="entropy_bits",
    js_distance=0.4, js_expected_same=0.1, p_value=0.01, is_same_top=True, rank_change=2.0, p_rank=0.01,
    n_ranked=9, n_field=20, n_predictor=40,
)  # fmt: skip
calibration_row = row_maker(
    Calibration, "comparator", model="m", tasks="rec", level="conditions", is_best=False, n_equal=18,
    n_prompts=9, n_field=40,
)  # fmt: skip
value_row = row_maker(
    ValueComparison, "p_value item_id", task="mmlu", versus="offline", kind="scale", difference=0.1,
    ci_low=0.05,
    ci_high=0.15, p_least=1e-6, superiority=0.7, distance=0.2, distance_same=0.05,
    n_units=40, n_missing=2, n_units_versus=38,
)  # fmt: skip
arm_row = row_maker(
    ArmTest, measure="share_who", test="difference", condition="history", other="rag",
    estimate=0.1, ci_low=0.02, ci_high=0.18, p_value=0.01, p_holm=0.03, n_puppets=40, n_puppets_other=38,
)  # fmt: skip
drift_row = row_maker(
    Drift, task="primes", condition="w42", wave="2026-W42", look=2, measure="accuracy",
    first_wave="2026-W40", first_condition="w40", first_value=0.84, value=0.511, change=-0.329,
    ci_low=-0.5, ci_high=-0.1, p_value=1e-9, p_holm=1e-8, level=0.05 / 52, has_moved=True,
)  # fmt: skip
EARLIER = {"condition": "w41", "wave": "2026-W41", "look": 1}
"""A wave before the last one."""
judgement_row = row_maker(
    JudgementEstimate, "measure raters versus", scale="helpful_1", estimate=0.5, ci_low=0.4, ci_high=0.6,
    n_units=120, n_judgements=1_440,
)  # fmt: skip
match_row = row_maker(
    MemoryMatch, stage="read", measure="recall", estimate=0.25, ci_low=0.1, ci_high=0.4,
    n_users=40, n_attributes=90, n_references=120, n_matches=30,
)  # fmt: skip
intervention_row = row_maker(
    InterventionEstimate, "arm labels_of", labels_of="people", units="right", kind="attributes",
    measure="precision", estimate=0.58, ci_low=0.5, ci_high=0.66, n_units=200, n_users=50,
)  # fmt: skip
change_row = partial(
    variant_row, task="typos", origin="mmlu", condition="offline", estimate=-0.12, ci_low=-0.2,
    ci_high=-0.04, n_lost=14, n_won=3,
)  # fmt: skip
drop_row = row_maker(
    PracticeDrop, "variant drop", task="mmlu", metric="em_strict", model=None, total_drop=0.2,
    n_models=3, n_combinations=4,
)  # fmt: skip


def calibration_rows(verdict: str, reason: str | None = None) -> list[Calibration]:
    best = {"gain_bits": 0.02, "ci_low": 0.01, "ci_high": 0.03, "js_bits": 0.05,
            "gap_closed": 0.4, "closed_low": 0.1, "closed_high": 0.7}  # fmt: skip
    bits = {"verdict": verdict, "reason": reason, "js_bits": 0.03, "in_sample_bits": 0.028}
    return [
        calibration_row("calibrated", **bits),
        calibration_row("arm", arm="rag", is_best=True, p_holm=0.004, **best),
        calibration_row("arm", arm="offline", js_bits=0.09),
    ]


def option_rows(p: float | None, **values: Any) -> list[GroupGap]:
    """The largest difference of an option between groups, and the two shares behind it."""
    names = {"item_id": "cars", "option": "Tesla", "kind": "list"}
    shares = [
        gap_row(None, metric="option_share", group=group, other_group=None, estimate=share, **names)
        for group, share in (("women", 0.35), ("men", 0.75))
    ]
    row = {"metric": "option_gap", "group": "men", "other_group": "women", "estimate": 0.4}
    return [gap_row(p, **{**names, **row, "expected_same": None, **values}), *shares]
