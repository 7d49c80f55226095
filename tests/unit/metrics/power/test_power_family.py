"""Which tests are corrected with that of a supposed effect, and what is claimed after that."""

from typing import Any

import numpy as np
import pytest

from fieldwork.metrics.claims.families import ClaimRules, PrimaryTests
from fieldwork.metrics.claims.table import measure_claims
from fieldwork.metrics.power.effects import LetterSource, ListSource
from fieldwork.metrics.power.family import (
    EffectPlace,
    Family,
    OptionArms,
    OptionPool,
    PlannedTask,
    PlannedTests,
    TaskQuestions,
    count_claims,
)
from fieldwork.metrics.power.outcomes import SimulatedTest
from fieldwork.statistics.fisher import Margins, fisher_p
from unit.metrics.findings.finding_rows import comparison_row, shift_row, variance_row

TASKS = {
    "lists": PlannedTask(ListSource(2, 6, 1.0), 3, 1, 12, TaskQuestions(lists=3)),
    "letters": PlannedTask(LetterSource(0.5), 5, 0, 12, TaskQuestions(choices=5, n_graded=5)),
}
DEFAULT = [{"measure": name} for name in ("share_who", "entropy_bits", "score")]


def planned(*primary: dict[str, Any], users: tuple[str, ...] = ("rag", "history")) -> PlannedTests:
    entries = [PrimaryTests(**entry) for entry in primary]
    margins = {"share_who": 0.05, "entropy_bits": 0.25, "score": 0.02, "share": 0.1}
    rules = ClaimRules(entries, users, [], margins)
    conditions = ["rag", "history"]
    return PlannedTests(["m", "n"], conditions, TASKS, rules, asked_again=conditions)


@pytest.mark.parametrize(
    ("primary", "place", "family"),
    [
        # two models, two conditions: who asks of two tasks, entropy of one, scores of one
        (DEFAULT, ("share_who", "m", "lists", "rag"), Family("primary", 4 * 4 - 1)),
        (DEFAULT, ("score", "m", "letters", "rag"), Family("primary", 4 * 4 - 1)),
        # two open prompts of three, and five
        (DEFAULT, ("distance", "m", "lists", "rag"), Family("distance", 4 * 7 - 1)),
        (
            DEFAULT,
            ("option_share", "m", "letters", "rag"),
            Family(
                "option_share",
                0,
                (OptionArms("lists", 2, 4, False), OptionArms("letters", 5, 4, True)),
            ),
        ),
        # real users are secondary, and families of their own
        (DEFAULT, ("share_who", "m", "lists", "field"), Family("real_users_share_who", 4 - 1)),
        (DEFAULT, ("distance", "m", "lists", "field"), Family("real_users_distance", 2 * 7 - 1)),
        ([{"measure": "share_who", "tasks": ["lists"]}], ("share_who", "m", "lists", "rag"),
         Family("primary", 4 - 1)),
        ([{"measure": "share_who", "tasks": ["lists"]}], ("share_who", "m", "letters", "rag"),
         Family("share_who", 4 - 1)),
        (
            [{"measure": "share_who", "models": ["m"], "conditions": ["rag", "field"]}],
            ("share_who", "m", "lists", "field"),
            Family("primary", 2 * 2 - 1),
        ),
        # a named prompt is the one in which the share moves
        ([{"measure": "distance", "tasks": ["lists"], "items": ["cars"]}],
         ("distance", "m", "lists", "rag"), Family("primary", 4 - 1)),
        (
            [{"measure": "option_share", "tasks": ["lists"], "items": ["cars"], "options": ["Fiat"]},
             {"measure": "score"}],
            ("option_share", "m", "lists", "rag"),
            Family("primary", 4 + 4 - 1),
        ),
        # where a named option is not meant, the effect is among all options
        (
            [{"measure": "option_share", "conditions": ["rag"], "options": ["Fiat"]}],
            ("option_share", "m", "lists", "history"),
            Family(
                "option_share",
                0,
                (OptionArms("lists", 2, 4, True), OptionArms("letters", 5, 4, False)),
            ),
        ),
    ],
)  # fmt: skip
def test_the_family_of_an_effect(
    primary: list[dict[str, Any]], place: tuple[str, str, str, str], family: Family
) -> None:
    assert planned(*primary).family(EffectPlace(*place)) == family


def test_scales_and_numbers_are_in_the_family_of_the_primary_tests() -> None:
    """As in claims: each question, several scales together, and no comparison with real users."""
    questions = TaskQuestions(scales=4, numbers=1)
    task = PlannedTask(LetterSource(0.5), 4, 0, 12, questions)
    conditions = ["rag", "history"]
    rules = planned({"measure": "share_who"}, {"measure": "value"}).rules
    tests = PlannedTests(["m"], conditions, {"scales": task}, rules, asked_again=conditions)
    place = EffectPlace("share_who", "m", "scales", "rag")
    # who asks has a test for scales and one for numbers
    assert tests.family(place) == Family("primary", 2 * (5 + 1) + 2 * 2 - 1)
    one = tests._replace(tasks={"scales": task._replace(questions=TaskQuestions(scales=1))})
    assert one.family(place) == Family("primary", 2 * 1 + 2 - 1)
    entries = [PrimaryTests("share_who"), PrimaryTests("value", items=["jobs"])]
    narrow = tests._replace(rules=rules._replace(primary=entries))
    assert narrow.family(place).n_plain == 2 + 4 - 1
    value = EffectPlace("value", "m", "scales", "rag")
    assert narrow.family(value) == Family("primary", 2 + 4 - 1)
    assert narrow.family(value._replace(is_together=True)) == Family("value", 2 * 5 - 1)


@pytest.mark.parametrize(
    ("changes", "n_plain"),
    [
        # who asks of two tasks, entropy and score, of two models under two conditions
        ({}, 2 * (4 + 2 + 2) - 1),
        # a condition that asks once has no test of who asks
        ({"asked_again": ["rag"]}, 2 * (2 + 2 + 2) - 1),
        ({"asked_again": []}, 2 * (2 + 2) - 1),
    ],
)
def test_only_repeated_conditions_have_a_test_of_who_asks(
    changes: dict[str, Any], n_plain: int
) -> None:
    tests = planned(*DEFAULT)._replace(**changes)
    assert tests.family(EffectPlace("score", "m", "letters", "rag")).n_plain == n_plain


def test_an_effect_of_who_asks_is_in_a_study_that_asks_twice() -> None:
    tests = planned({"measure": "share_who"})._replace(asked_again=[])
    place = EffectPlace("share_who", "m", "lists", "rag")
    assert tests.family(place) == Family("primary", 2 * 2 - 1)


def test_scores_are_counted_only_where_there_are_right_answers() -> None:
    opinions = TASKS["letters"]._replace(questions=TaskQuestions(choices=5))
    tests = planned(*DEFAULT)._replace(tasks=TASKS | {"letters": opinions})
    place = EffectPlace("share_who", "m", "letters", "rag")
    assert tests.family(place) == Family("primary", 4 * 3 - 1)


def test_the_other_families_are_counted_as_claims_counts_them() -> None:
    """The number of tests is that of a table of claims over the same arms."""
    tests = planned(*DEFAULT)
    rows = [
        variance_row(0.5, model=model, task=task, condition=condition)
        for model in tests.models
        for task in TASKS
        for condition in tests.conditions
    ]
    claims = measure_claims({"variance": rows}, tests.rules)
    who_alone = planned({"measure": "share_who"}).family(
        EffectPlace("share_who", "m", "lists", "rag")
    )
    assert {claim.n_tests for claim in claims} == {who_alone.n_plain + 1}


def count(p_value: float | None, family: Family, **more: Any) -> tuple[int, int]:
    pool = OptionPool(planned(*DEFAULT), 1)
    tests = [SimulatedTest(p_value, **more)] * 40
    sizes = {"lists": 12, "letters": 12}
    return tuple(count_claims(tests, family, sizes, pool, np.random.default_rng(1)))  # type: ignore[return-value]


@pytest.mark.parametrize("p_value", [0.0, 0.004, 0.04, 0.06])
def test_an_effect_alone_is_claimed_as_in_claims(p_value: float) -> None:
    (claim,) = measure_claims({"variance": [variance_row(p_value)]}, planned(*DEFAULT).rules)
    is_claimed = claim.verdict == "differs"
    assert count(p_value, Family("primary", 0)) == (40 * is_claimed, 1)


def test_companions_are_corrected_with_it() -> None:
    margins = Margins(12, 12, 12)
    p_value = fisher_p(2, margins)
    assert 0.0025 < p_value < 0.025
    rows = [
        shift_row(
            p_value, answer=answer, n_named=2, n_named_baseline=10, n_answers=12, n_baseline=12
        )
        for answer in ("A", "B")
    ]
    own, _ = measure_claims({"shifts": rows}, planned(*DEFAULT).rules)
    assert own.p_corrected == pytest.approx(2 * p_value)
    twin = ((p_value, margins),)
    alone = Family("option_share", 0)
    assert count(p_value, alone, support=margins, companions=twin) == (40, 2)
    twins = twin * 20
    assert count(p_value, alone, support=margins, companions=twins) == (0, 21)


def test_a_test_that_could_not_have_been_claimed_is_not() -> None:
    few = [comparison_row(0.34, n_permutations=2)]
    (claim,) = measure_claims({"comparisons": few}, planned(*DEFAULT).rules)
    assert claim.verdict == "cannot be shown"
    assert count(0.01, Family("distance", 0), support=0.34) == (0, 1)
    assert count(None, Family("distance", 0)) == (0, 1)


def test_options_of_other_prompts_are_taken_from_tasks_without_an_effect() -> None:
    tests = planned(*DEFAULT)
    family = tests.family(EffectPlace("option_share", "m", "letters", "rag"))
    claimed, n_tests = count(1e-12, family, support=Margins(12, 12, 12))
    assert claimed == 40
    # both letters of four arms' five prompts, but for the effect's own, and what lists name often
    assert 2 * (4 * 5 - 1) < n_tests <= 2 * 4 * 5 + 4 * 2 * 6
    assert count(0.01, family, support=Margins(12, 12, 12))[0] == 0


def test_the_tests_of_options_keep_their_level_together() -> None:
    """The smallest of them is claimed in one study of twenty at most."""
    tests = planned(*DEFAULT)
    pool, random = OptionPool(tests, 3), np.random.default_rng(2)
    arms = OptionArms("letters", 5, 4, False)
    n_claims = 0
    for _ in range(300):
        parts = [*pool.draw(arms, 12, random)]
        p_values = [p for part in parts for p in part.p_values]
        place = int(np.argmin(p_values))
        supports = [support for part in parts for support in part.supports]
        others = [*zip(p_values, supports, strict=True)]
        p_value, support = others.pop(place)
        test = SimulatedTest(p_value, support, tuple(others))
        n_claims += count_claims([test], Family("option_share", 0), {}, pool, random).n_claimed
    assert n_claims <= 300 * 0.05 + 4 * (300 * 0.05 * 0.95) ** 0.5


def test_a_size_moves_the_task_of_the_effect_alone() -> None:
    assert planned(*DEFAULT).sizes_with("lists")(40) == {"lists": 40, "letters": 12}
