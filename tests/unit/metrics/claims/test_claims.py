"""Every test of a study belongs to one family, is corrected there, and gets one of five verdicts."""

import dataclasses
from pathlib import Path
from typing import Any

import pytest

from fieldwork import tables
from fieldwork.measures import claimed_measures
from fieldwork.metrics.claims.families import ClaimRules, family_of
from fieldwork.metrics.claims.keys import ClaimKey
from fieldwork.metrics.claims.lookup import add_corrections, read_corrected
from fieldwork.metrics.claims.measures import MEASURES, claim_key
from fieldwork.metrics.claims.table import measure_claims, row_types
from fieldwork.records.claims import Claim
from fieldwork.records.columns import table_of
from fieldwork.records.field import GroupDifference
from fieldwork.records.metrics import ControlTest
from fieldwork.sections.metrics import MarginsSection
from fieldwork.sections.study import TESTED, PrimaryEntry
from unit.metrics.findings.finding_rows import (
    comparison_row,
    entropy_row,
    filled,
    gap_row,
    group_row,
    order_row,
    practice_row,
    row_maker,
    score_row,
    shift_row,
    value_row,
    variance_row,
    variant_row,
)

MARGINS = {"share_who": 0.05, "entropy_bits": 0.25, "score": 0.02, "share": 0.1}
RULES = ClaimRules(
    [PrimaryEntry(measure="share_who"), PrimaryEntry(measure="score", tasks=["mmlu"])],
    ["rag", "history", "field"],
    ["again"],
    MARGINS,
)


def claims(rules: ClaimRules = RULES, **tables: list[Any]) -> list[Claim]:
    return measure_claims(tables, rules)


def test_the_settings_name_every_measure() -> None:
    # those that are declared are added to it where a study is read
    assert {*TESTED, *claimed_measures()} == {*MEASURES}
    margins = {measure.margin for measure in MEASURES.values()} - {None}
    assert margins == {*MarginsSection.model_fields}


@pytest.mark.parametrize(
    ("measure", "row", "family"),
    [
        ("share_who", variance_row(0.1), "primary"),
        ("share_who", variance_row(0.1, condition="again"), "control_primary"),
        ("distance", comparison_row(0.1, condition="again"), "control_distance"),
        ("share_who", variance_row(0.1, condition="cold"), "without_user"),
        # real users are secondary unless named
        ("share_who", variance_row(0.1, condition="field"), "real_users_share_who"),
        ("score", score_row(0.1, task="other"), "score"),
        # how near the baseline is to the field is no control of the baseline
        ("field_order", order_row(predictor="again"), "field_order"),
        ("group_difference", group_row(), "group_difference"),
        # two tasks under one condition: neither the baseline nor its control makes them one
        ("variant_accuracy", variant_row(0.1, condition="cold"), "variant_accuracy"),
        ("group_gap", gap_row(0.1, condition="again"), "group_gap"),
    ],
)
def test_a_test_has_one_family(measure: str, row: Any, family: str) -> None:
    assert family_of(claim_key(measure, row), RULES) == family


@pytest.mark.parametrize(
    ("narrowed", "is_primary"),
    [
        ({}, True),
        ({"items": ["cars"], "options": ["Tesla"]}, True),
        ({"options": ["Fiat"]}, False),
        ({"conditions": ["history"]}, False),
    ],
)
def test_a_primary_entry_can_be_narrowed(narrowed: dict[str, list[str]], is_primary: bool) -> None:
    rules = RULES._replace(primary=[PrimaryEntry(measure="option_share", **narrowed)])
    (claim,) = claims(rules, shifts=[shift_row(0.01)])
    assert (claim.family == "primary") == is_primary


def test_primary_tests_of_several_tables_are_one_holm_family() -> None:
    variance = [variance_row(0.02), variance_row(0.9, condition="history")]
    primary = [c for c in claims(variance=variance, estimates=[score_row(0.03)]) if c.p_corrected]
    assert {(c.measure, c.condition): c.p_corrected for c in primary} == {
        ("share_who", "rag"): pytest.approx(0.06),
        ("score", "rag"): pytest.approx(0.06),
        ("share_who", "history"): pytest.approx(0.9),
    }
    assert {(c.family, c.correction, c.n_tests) for c in primary} == {("primary", "Holm", 3)}


def test_a_control_is_judged_as_the_users_are() -> None:
    """One test of nine measures among many of others could not warn."""
    many = [shift_row(0.9, item_id=f"i{k}", condition="again") for k in range(99)]
    rows = claims(
        estimates=[score_row(0.01, condition="again")],
        comparisons=[comparison_row(0.01, condition="again")],
        shifts=many,
    )
    differ = {c.measure: c.family for c in rows if c.verdict == "differs"}
    assert differ == {"score": "control_primary", "distance": "control_distance"}


control_row = row_maker(
    ControlTest, measure="score", task="mmlu", control="again", direction="lower"
)


@pytest.mark.parametrize(
    ("control", "verdict", "unconfirmed"),
    [
        (None, "differs", None),
        (control_row(0.01), "differs", None),
        (control_row(0.3), "undecided", "against the baseline asked again"),
        # lower than the baseline, and higher than the baseline asked again
        (control_row(0.01, direction="higher"), "undecided", "against the baseline asked again"),
    ],
)
def test_a_difference_is_claimed_where_the_baseline_asked_again_shows_it_too(
    control: ControlTest | None, verdict: str, unconfirmed: str | None
) -> None:
    tables = {"estimates": [score_row(0.01)]}
    (claim,) = claims(**tables, control_tests=[control] if control else [])
    assert (claim.verdict, claim.unconfirmed, claim.p_value) == (verdict, unconfirmed, 0.01)
    is_confirmed_by_a_test = control is not None and control.measure == "score"
    assert (claim.p_confirmed is not None) == is_confirmed_by_a_test


def test_the_baseline_asked_again_counts_over_the_whole_family() -> None:
    """Each test is below 5 %, and after Holm those against the baseline alone."""
    rows = [score_row(0.001), score_row(0.001, condition="history")]
    controls = [control_row(0.04), control_row(0.04, condition="history")]
    tests = [c for c in claims(estimates=rows, control_tests=controls) if c.measure == "score"]
    assert [c.p_corrected for c in tests] == [pytest.approx(0.08)] * 2
    assert {c.unconfirmed for c in tests} == {"against the baseline asked again"}


@pytest.mark.parametrize(
    ("in_any_form", "verdict"),
    [
        ({"p_value": 0.02}, "differs"),
        ({"p_value": 0.9}, "undecided"),
        ({"p_value": 0.01, "difference": 0.02}, "undecided"),
    ],
)
def test_a_lost_form_is_no_lost_score(in_any_form: dict[str, float], verdict: str) -> None:
    changes: dict[str, Any] = in_any_form
    rows = [score_row(0.01), dataclasses.replace(score_row(0.01, measure="em_flexible"), **changes)]
    claim = next(c for c in claims(estimates=rows) if c.measure == "score")
    assert claim.verdict == verdict
    assert claim.unconfirmed == (None if verdict == "differs" else "of answers in any form")


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({}, "higher"),
        ({"n_missing": 8, "p_worst": 0.06}, None),
        # numbers are ranked: their medians may be equal
        ({"kind": "number", "difference": 0.0, "superiority": 0.3}, "lower"),
    ],
)
def test_a_value_is_claimed_whatever_those_without_one_had_answered(
    values: dict[str, Any], said: str | None
) -> None:
    (claim,) = claims(value_comparisons=[value_row(0.001, "q", **{"n_missing": 0, **values})])
    assert claim.direction == said
    if said is None:
        assert claim.verdict == "undecided"
        assert claim.unconfirmed == "whatever the 8 without a value had answered"


@pytest.mark.parametrize(
    ("p", "interval", "verdict", "direction"),
    [
        (0.01, (0.1, 0.5), "differs", "more varied"),
        # a direction needs an interval
        (0.01, (None, None), "differs", "differs"),
        (0.3, (-0.1, 0.24), "equivalent", None),
        (0.3, (-0.26, 0.1), "undecided", None),
        (None, (0.1, 0.5), "not tested", None),
        (0.3, (None, None), "undecided", None),
    ],
)
def test_there_are_few_words_for_a_test(
    p: float | None, interval: Any, verdict: str, direction: str | None
) -> None:
    ends = dict(zip(("difference_low", "difference_high"), interval, strict=True))
    (claim,) = claims(estimates=[entropy_row(p, reason="none", **ends)])
    assert (claim.verdict, claim.direction) == (verdict, direction)


def test_what_could_not_be_shown_says_so() -> None:
    for claim in claims(comparisons=[comparison_row(0.34, i, n_permutations=2) for i in "ij"]):
        assert (claim.verdict, claim.p_corrected) == ("cannot be shown", None)
        assert claim.reason == "with so few or so equal answers, p is at least 0.33"
    # nor can many tests with few shuffles
    rules = RULES._replace(primary=[PrimaryEntry(measure="distance")])
    rows = [comparison_row(0.02, f"i{k}", n_permutations=99) for k in range(6)]
    assert {c.verdict for c in claims(rules, comparisons=rows)} == {"cannot be shown"}
    assert "raise metrics.permutations" in str(claims(rules, comparisons=rows)[0].reason)
    assert {c.verdict for c in claims(rules, comparisons=rows[:4])} == {"undecided"}


def test_the_smallest_effect_is_found_in_four_of_five_studies() -> None:
    """A difference of 2.8 standard errors has a power of 80 % at 5 %, alone in its family."""
    (claim,) = claims(estimates=[entropy_row(0.3, difference_low=-0.196, difference_high=0.196)])
    assert claim.smallest_effect == pytest.approx(0.28, abs=0.001)


def test_of_groups_the_gaps_and_options_with_a_test_are_claimed() -> None:
    metrics = ("accuracy", "accuracy_gap", "accuracy_ratio", "flips", "excess_flips")
    gaps = [gap_row(0.001, metric=metric) for metric in metrics]
    options = [
        gap_row(p, metric="option_gap", item_id="cars", option=option, p_least=p_least)
        for option, p, p_least in (("Tesla", 0.001, 0.0001), ("Ford", 0.3, 0.2))
    ]
    rows = claims(group_gaps=[*gaps, *options])
    assert [(c.measure, c.detail, c.verdict) for c in rows] == [
        ("group_gap", "accuracy_gap, choice", "differs"),
        ("group_gap", "excess_flips, choice", "differs"),
        ("group_option", "Tesla", "differs"),
        # what could never be shown costs the others nothing
        ("group_option", "Ford", "cannot be shown"),
    ]
    assert next(c for c in rows if c.detail == "Tesla").p_corrected == pytest.approx(0.001)


def test_of_the_order_of_models_one_score_is_claimed() -> None:
    flexible = {"metric": "em_flexible"}
    rows = [
        practice_row(0.001),
        practice_row(0.001, **flexible),
        practice_row(0.001, **flexible, condition="field", rho=-0.9),
        practice_row(0.2, condition="history", p_least=0.0833),
    ]
    assert [(c.condition, c.verdict, c.direction) for c in claims(practice=rows)] == [
        ("offline", "differs", "same order"),
        ("field", "differs", "opposite order"),
        ("history", "cannot be shown", None),
    ]


@pytest.mark.parametrize(
    ("row", "sides"),
    [
        (shift_row(0.1), (0.175, "offline", 0.575, 40, 40)),
        (entropy_row(0.1, n_units_versus=38), (3.5, "offline", 3.3, 40, 38)),
        (score_row(0.1, n_units=9, n_units_versus=8), (0.5, "offline", 0.521, 9, 8)),
        (group_row(), (3.5, "woman", 3.0, 20, 21)),
        (variance_row(0.1), (0.16, None, None, 40, None)),
        (value_row(0.001, "q", versus="field"), (None, "field", None, 40, 38)),
    ],
)
def test_a_claim_carries_both_sides_of_its_test(row: Any, sides: tuple[Any, ...]) -> None:
    row = dataclasses.replace(row, baseline="offline") if hasattr(row, "baseline") else row
    claim, *_ = claims(**{table_of(type(row)).name: [row]})
    names = ("value", "reference", "reference_value", "n", "n_reference")
    assert [getattr(claim, name) for name in names] == [
        pytest.approx(side) if isinstance(side, float) else side for side in sides
    ]


def test_every_row_type_has_a_key_of_its_own() -> None:
    for name, measure in MEASURES.items():
        key = claim_key(name, filled(measure.row_type))
        assert isinstance(key, ClaimKey)
        assert key.measure == name
    types = {ControlTest, *(measure.row_type for measure in MEASURES.values())}
    assert set(row_types().values()) == types


def test_a_later_wave_is_tested_by_drift_alone() -> None:
    rows = [score_row(0.001, condition=f"offline_w{week}") for week in (46, 47, 48)]
    rules = RULES._replace(later_waves=["offline_w47", "offline_w48"])
    scores = [claim for claim in claims(rules, estimates=rows) if claim.measure == "score"]
    first, *later = scores
    assert (first.verdict, first.n_tests) == ("differs", 1)
    assert [claim.verdict for claim in later] == ["not tested"] * 2
    assert all("metrics/drift" in (claim.reason or "") for claim in later)
    # a year of waves must not make the first one harder to show
    alone, *_ = claims(rules, estimates=rows[:1])
    assert first.p_corrected == alone.p_corrected


def test_a_table_is_read_with_the_corrections_of_the_claims(tmp_path: Path) -> None:
    rows = [
        group_row(),
        group_row(group="woman", versus="man", p_value=0.5),
        group_row(item_id="a"),
    ]
    paths = [str(tmp_path / f"{name}.parquet") for name in ("differences", "claims")]
    tables.write_table(paths[0], rows, GroupDifference)
    tables.write_table(paths[1], claims(group_differences=rows), Claim)
    frame = read_corrected(paths[0], GroupDifference, paths[1], "group_difference")
    corrected = {(r.p_value, r.group): r.p_corrected for r in frame.itertuples()}
    assert corrected == {(0.02, "man"): 0.03, (0.5, "woman"): 0.5}
    assert add_corrections(frame, [], "group_difference")["p_corrected"].isna().all()


def test_a_test_that_stopped_early_counts_with_what_it_could_have_had() -> None:
    """How far a test was drawn depends on what it found, so it says nothing of the smallest p-value."""
    rules = RULES._replace(primary=[PrimaryEntry(measure="distance")])
    drawn = [comparison_row(0.5, f"i{k}", n_permutations=1999, p_least=1e-5) for k in range(99)]
    rows = [*drawn, comparison_row(0.0004, "far", n_permutations=99_999, p_least=1e-5)]
    (claim,) = [c for c in claims(rules, comparisons=rows) if c.item_id == "far"]
    assert claim.p_corrected == pytest.approx(0.04)
