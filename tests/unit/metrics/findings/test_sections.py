"""What each section says of rows: every number with its interval, n and test, and nothing without it.

What holds of every section stands in test_layout.py.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from fieldwork.metrics.findings.answers import DISTANCE, OPTIONS_MOVED, USERS_AND_CONTEXTS, WHO_ASKS
from fieldwork.metrics.findings.arms import ARMS
from fieldwork.metrics.findings.drift import DRIFT
from fieldwork.metrics.findings.estimates import field_sections
from fieldwork.metrics.findings.field import GROUPS_OF_USERS, NEAR_THE_FIELD, PREDICTORS
from fieldwork.metrics.findings.group_gaps import GROUP_GAPS, GROUP_OPTIONS
from fieldwork.metrics.findings.practice import PRACTICE, PRACTICE_DROPS
from fieldwork.metrics.findings.scores import CATEGORIES, EXACT_ESTIMATES, NOVELTY, PLACES, SCORES
from fieldwork.metrics.findings.sections import Section
from fieldwork.metrics.findings.values import VALUES
from fieldwork.metrics.findings.wordings import ANSWERS_THAT_CHANGE, QUESTIONS_PUT_OTHERWISE
from unit.metrics.findings.finding_rows import (
    FIELD_OUTLINE,
    HETEROGENEITY,
    OUTLINE,
    agreement_row,
    arm_row,
    category_row,
    cells,
    change_row,
    comparison_row,
    drift_row,
    drop_row,
    entropy_row,
    exact_row,
    gap_row,
    group_row,
    nested_row,
    novelty_row,
    option_rows,
    order_row,
    practice_row,
    rank_row,
    score_row,
    section,
    shift_row,
    spread_row,
    value_row,
    variance_row,
)

VARIANTS = OUTLINE._replace(tasks=["mmlu", "typos"])
WAVES = OUTLINE._replace(tasks=["primes"], conditions={"w41": "Blank, 41", "w42": "Blank, 42"})
OUTLINES = {
    **dict.fromkeys((QUESTIONS_PUT_OTHERWISE, ANSWERS_THAT_CHANGE, PRACTICE), VARIANTS),
    DRIFT: WAVES,
}
(BESIDE_THE_FIELD,) = field_sections()


FIELD = {"reference": "field", "versus": "field", "difference_low": -0.05, "n_equal": 20}
FIELD |= {"difference_high": 0.24, "n_units_versus": 30}
AGAIN = {"condition": "again"}
PROMPTS = [
    comparison_row(0.01),
    comparison_row(0.02, "j", excess=0.05),
    comparison_row(0.6, "k"),
    comparison_row(None, "l", reason="no answer can be read"),
]
FILMS = {"js_distance": 0.2, "p_value": 0.6, "p_rank": 0.7, "is_same_top": False}
PROMPTS_OF_GROUPS = [
    group_row(item_id=item, p_value=p, metric="share_correct")
    for item, p in (("a", 0.01), ("b", 0.4))
]
CHANGES = [
    change_row(0.02, metric="excess_flips", estimate=0.2, ci_low=0.1, ci_high=0.3),
    change_row(None, metric="flips", estimate=0.3),
    change_row(None, metric="flips_rerun", estimate=0.1),
]

CASES: Sequence[tuple[Section, Any, str]] = [
    (
        USERS_AND_CONTEXTS,
        [nested_row(0.01, 0.02)],
        "rec|RAG|12 (5…20)|0.010|30 (20…40)|0.020|80|2|9|users differ, contexts differ",
    ),
    (
        USERS_AND_CONTEXTS,
        [nested_row(0.4, 0.3)],
        "rec|RAG|12 (5…20)|0.40|30 (20…40)|0.30|80|2|9|not detected (10.7 % would be)",
    ),
    (
        USERS_AND_CONTEXTS,
        [nested_row(reason="one context")],
        "rec|RAG|12 (5…20)|–|30 (20…40)|–|80|2|9|no test: one context",
    ),
    (WHO_ASKS, [variance_row(0.002)], "rec|RAG|16 (−12…20)|0.002|40|9|1,720|differs"),
    (DISTANCE, PROMPTS, "rec|RAG|2/3, 1 untested|j|+0.050|0.020|40, baseline 30|differs"),
    (
        OPTIONS_MOVED,
        [shift_row(0.0004, 0.4, kind="choice", answer="unknown")],
        "rec|RAG|no readable letter (cars)|57.5 (23/40)|17.5 (7/40)|+40 (−57…−19)|<0.001|more common",
    ),
    (
        HETEROGENEITY,
        [entropy_row(0.01, -0.2)],
        "rec|RAG|3.50 (3.40…3.60)|38|40|−0.20 (0.10…0.30)|−0.02…0.42|8/9|0.010|less varied",
    ),
    (
        BESIDE_THE_FIELD,
        [entropy_row(0.3, 0.1, **FIELD)],
        "rec|RAG|3.50|3.40|20|30|+0.10 (−0.05…0.24)|9|0.30|equivalent (±0.25 bits)",
    ),
    (
        VALUES,
        [value_row(0.001)],
        "mmlu|RAG|all scales together|T1|40 + 2 / 38|+0.10 (0.05…0.15)|70 %|0.20 (0.05)|0.001|higher",
    ),
    (
        SCORES,
        [score_row(0.01), spread_row(0.02)],
        "mmlu|RAG|50.0 (45.0…55.0)|2.0|10×514|−2.1 (−3.0…−1.0)|0.010|0.020|lower, wider spread",
    ),
    (PLACES, [rank_row()], "mmlu|RAG|35 to 52|90|Board|10|90|70|no test"),
    (NOVELTY, [novelty_row(0.001)], "mmlu|RAG|514|10|23 (20…30)|10|+13 (8…20)|0.001|more"),
    (
        CATEGORIES,
        [category_row(0.01), category_row(0.01, "law", 0.05), category_row(0.01, "rest", -0.04)],
        "mmlu|RAG|law 0.050 (18), STEM 0.020 (18), rest −0.040 (18)|0.010|categories differ",
    ),
    # of several reasons the test's own
    (
        CATEGORIES,
        [replace(category_row(None), reason="no interval: 1 subjects; no test: two are needed")],
        "mmlu|RAG|STEM 0.020 (18)|–|no test: two are needed",
    ),
    (
        EXACT_ESTIMATES,
        [exact_row()],
        "rec|RAG|variance between contexts, %|6.3 (5.1…7.9)|5.3 (−6.0…15.8)|240|1,480|no test",
    ),
    (
        QUESTIONS_PUT_OTHERWISE,
        [change_row(None, metric="accuracy", estimate=0.5), change_row(0.001)],
        "typos|T1|mmlu|50.0|−12.0 (−20.0…−4.0)|14, 3|lower",
    ),
    (ANSWERS_THAT_CHANGE, CHANGES, "typos|T1|letters that change|30.0|10.0|more than reruns"),
    # questions that are asked for groups alone
    (
        GROUP_GAPS,
        [gap_row(0.4, metric="excess_flips", group=None, n_groups=4, origin="hired")],
        "hired|T1|other letters for another group|4 groups|12.0|3.0|not detected",
    ),
    (GROUP_OPTIONS, option_rows(0.001), "mmlu|T1|cars|Tesla|men 75.0 %|women 35.0 %|differ"),
    (PRACTICE, [practice_row(0.001)], "mmlu|typos|T1|0.75 (none)|4 of 21|1|−2.0|same order"),
    (
        PRACTICE_DROPS,
        [drop_row("history", 0.15, ci_low=0.14, ci_high=0.16, share=0.75)],
        "mmlu|History|15.0 (14.0…16.0)|20.0|75|3|no test",
    ),
    (
        DRIFT,
        [drift_row(value=None, has_moved=None, reason="no answers in 2026-W42")],
        "primes|Blank, 42|2026-W42|accuracy|84.0|–|−32.9 (−50.0…−10.0)|"
        "not tested: no answers in 2026-W42",
    ),
    # without an interval a test says that conditions differ, not which one is higher
    (
        ARMS,
        [arm_row(ci_low=None)],
        "rec|History − RAG|variance between contexts, points|+10.0 (none)|40, 38|0.030|differs",
    ),
    (
        ARMS,
        [arm_row(test="trend", p_holm=0.2)],
        "rec|trend, History to RAG|variance between contexts, points|+10.0 (2.0…18.0)|40, 38|0.20|"
        "not detected",
    ),
    # of many groups without a difference the nearest
    (
        GROUPS_OF_USERS,
        [group_row(group=name, p_value=p) for name, p in (("a", 0.6), ("b", 0.3), ("c", 0.9))],
        "rec|gender|b − woman|entropy, bits|+0.50 (0.20…0.80)|20, 21|9|0.30|not detected",
    ),
    (
        GROUPS_OF_USERS,
        [*PROMPTS_OF_GROUPS, group_row(item_id="c", p_value=0.4)],
        "rec|gender|by prompt|share correct|a (man)|–|1|–|1 of 2 differ",
    ),
    (
        PREDICTORS,
        [order_row(p_value=0.08, p_least=0.08, over="models", n_discordant=None)],
        "rec|RAG|9 models by entropy|+0.80 (0.40…1.00)|–|–|+0.90|–|"
        "cannot be shown: with so few or so equal answers, p is at least 0.08",
    ),
    (
        NEAR_THE_FIELD,
        [agreement_row(), agreement_row(item_id="films", **FILMS)],
        "rec|RAG|1/2|books|0.40|0.10|1/2: books|1 (50 %)|differs",
    ),
]


@pytest.mark.parametrize(("declaration", "rows", "expected"), CASES)
def test_a_row_says(declaration: Section, rows: list[Any], expected: str) -> None:
    outline = OUTLINES.get(declaration, FIELD_OUTLINE)
    assert ["|".join(row) for row in cells(declaration, *rows, outline=outline)] == [expected]


@pytest.mark.parametrize(
    ("declaration", "rows"),
    [
        # with users who are asked once there is no share at all
        (WHO_ASKS, [variance_row(None, share_who=None, reason="no puppet answers twice")]),
        (EXACT_ESTIMATES, [exact_row("score", **AGAIN), exact_row("novelty", estimate=None)]),
        (PRACTICE, [practice_row(None, rho=None, n_models=1, reason="no order: 1 model")]),
        (PRACTICE_DROPS, [drop_row("typos", None), drop_row("typos", 0.2, n_combinations=2)]),
        (GROUP_OPTIONS, [gap_row(0.001)]),
    ],
)
def test_what_is_no_estimate_of_the_study_is_no_section(
    declaration: Section, rows: list[Any]
) -> None:
    assert cells(declaration, *rows, outline=VARIANTS) == []


def test_only_the_furthest_options_are_listed_and_the_others_counted() -> None:
    moved = [shift_row(0.01, k / 100, answer=f"o{k}") for k in range(1, 8)]
    made = section(OPTIONS_MOVED, *moved, shift_row(0.5, 0.9, answer="o9"))
    names = [finding.cells[2].split()[0] for finding in made.findings]
    assert names == ["o7", "o6", "o5", "o4", "o3"]
    others = [verdict.text for verdict in made.other_verdicts]
    assert others == ["more common", "more common", "not detected (27.2 points would be)"]
    undecided = [
        shift_row(0.5, k / 10, answer=f"o{k}", task=t) for k in (1, 2) for t in ("mmlu", "rec")
    ]
    made = section(OPTIONS_MOVED, *undecided)
    listed = [finding.cells[:3:2] for finding in made.findings]
    assert listed == [("rec", "o2 (cars)"), ("mmlu", "o2 (cars)")]


def test_a_score_in_any_form_stands_beside_where_it_is_another_one() -> None:
    row, flexible = score_row(0.01), score_row(measure="em_flexible", value=0.7)
    baseline = [score_row(condition="offline"), spread_row(condition="offline", sd=0.011)]
    made = section(SCORES, *baseline, row, spread_row(), flexible)
    assert made.columns[2:5] == ("Mean score", "In any form", "SD")
    first, users = made.findings
    assert first.cells[1:6] == ("T1", "50.0 (45.0…55.0)", "–", "1.1", "10×514")
    assert (first.verdict.text, first.is_reference) == ("baseline", True)
    assert (users.cells[3], users.is_reference) == ("70.0", False)
    same = section(SCORES, row, replace(flexible, value=0.5))
    assert "In any form" not in same.columns


def test_what_people_paste_is_scored_by_the_reading_of_whole_answers() -> None:
    """A strict reading scores a pasted sentence 0, which would say nothing of the people."""
    strict = score_row(0.003, value=0.217, difference=-0.31, condition="field")
    flexible = replace(strict, measure="em_flexible", value=0.796, difference=0.26)
    baseline = score_row(condition="offline", difference=None)
    made = section(SCORES, baseline, strict, flexible, outline=FIELD_OUTLINE)
    first, finding = made.findings
    # nothing but people is compared, in another reading than the baseline's
    assert first.cells[3] == "–"
    assert (finding.cells[2][:4], finding.cells[5][:5]) == ("79.6", "+26.0")
    assert finding.verdict.text == "higher"
    assert "Letters of real users are read out of whole answers." in made.question
