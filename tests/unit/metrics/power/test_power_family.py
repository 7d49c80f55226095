"""Which tests are corrected with that of a supposed effect, and what is claimed after that."""

from typing import Any

import numpy as np
import pytest
from power_plans import RULES, place, planned_study

from fieldwork.metrics.claims.table import measure_claims
from fieldwork.metrics.power.family import (
    Family,
    OptionArms,
    draw_option_tests,
    effect_family,
    estimate_power,
)
from fieldwork.metrics.power.outcomes import SimulatedTest
from fieldwork.metrics.power.study import PlannedStudy, PlannedTask
from fieldwork.sections.study import PrimaryEntry
from fieldwork.statistics.fisher import Margins, fisher_p
from unit.metrics.findings.finding_rows import comparison_row, shift_row, variance_row

TASKS = {"lists": PlannedTask({"list": 2}), "letters": PlannedTask({"choice": 5}, 5)}
DEFAULT = [entry.model_dump() for entry in RULES.primary]
WHO = {"measure": "share_who"}
WHO_OF_LISTS = [WHO | {"tasks": ["lists"]}]
CARS = {"measure": "option_share", "tasks": ["lists"], "items": ["cars"], "options": ["Fiat"]}
CONDITIONS = ("rag", "history")
OPTIONS = (OptionArms("lists", 2, 4, True), OptionArms("letters", 5, 4, False))


def planned(*primary: dict[str, Any], **more: Any) -> PlannedStudy:
    study = planned_study(
        TASKS,
        models={"m": "m", "n": "n"},
        conditions=dict.fromkeys(CONDITIONS, ""),
        asked_again=CONDITIONS,
        rules=RULES._replace(
            primary=[PrimaryEntry(**entry) for entry in primary], users=CONDITIONS
        ),
    )
    return study._replace(**more)


@pytest.mark.parametrize(
    ("primary", "where", "family"),
    [
        # two models, two conditions: who asks of two tasks, entropy of one, scores of one
        (DEFAULT, ("share_who", "m", "lists", "rag"), Family("primary", 4 * 4 - 1)),
        # two prompts, and five
        (DEFAULT, ("distance", "m", "lists", "rag"), Family("distance", 4 * 7 - 1)),
        # real users are secondary, and families of their own
        (DEFAULT, ("share_who", "m", "lists", "field"), Family("real_users_share_who", 4 - 1)),
        (WHO_OF_LISTS, ("share_who", "m", "lists", "rag"), Family("primary", 4 - 1)),
        (WHO_OF_LISTS, ("share_who", "m", "letters", "rag"), Family("share_who", 3)),
        (
            [WHO | {"models": ["m"], "conditions": ["rag", "field"]}],
            ("share_who", "m", "lists", "field"),
            Family("primary", 2 * 2 - 1),
        ),
        # a named prompt is the one in which the share moves
        ([CARS], ("option_share", "m", "lists", "rag"), Family("primary", 4 - 1)),
        # where a named option is not meant, the effect is among all options
        (
            [{"measure": "option_share", "conditions": ["rag"], "options": ["Fiat"]}],
            ("option_share", "m", "lists", "history"),
            Family("option_share", 0, OPTIONS),
        ),
    ],
)
def test_the_family_of_an_effect(
    primary: list[dict[str, Any]], where: tuple[str, str, str, str], family: Family
) -> None:
    assert effect_family(place(*where), planned(*primary)) == family
    # an effect of who asks is in a study that asks twice
    study = planned(WHO, asked_again=[])
    family = effect_family(place("share_who", "m", "lists", "rag"), study)
    assert family == Family("primary", 2 * 2 - 1)


def count(p_value: float | None, family: Family, **more: Any) -> tuple[int, int | None]:
    """Studies of forty that claim it, and tests corrected together."""
    tests = [SimulatedTest(p_value, **more)] * 40
    power = estimate_power(tests, family, {"lists": 12, "letters": 12}, planned(*DEFAULT), 12)
    return round(40 * (power.power or 0.0)), power.n_tests


@pytest.mark.parametrize("p_value", [0.0, 0.004, 0.04, 0.06])
def test_an_effect_alone_is_claimed_as_in_claims(p_value: float) -> None:
    (claim,) = measure_claims({"variance": [variance_row(p_value)]}, planned(*DEFAULT).rules)
    is_claimed = claim.verdict == "differs"
    assert count(p_value, Family("primary", 0)) == (40 * is_claimed, 1)


def test_companions_are_corrected_with_it() -> None:
    margins = Margins(12, 12, 12)
    p_value = fisher_p(2, margins)
    assert 0.0025 < p_value < 0.025
    counts = {"n_named": 2, "n_named_baseline": 10, "n_answers": 12, "n_baseline": 12}
    rows = [shift_row(p_value, answer=answer, **counts) for answer in "AB"]
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


def test_the_tests_of_options_keep_their_level_together() -> None:
    """The smallest of them is claimed in one study of twenty at most."""
    study, random = planned(*DEFAULT, seed=3), np.random.default_rng(2)
    arms, alone = OptionArms("letters", 5, 4, has_place=False), Family("option_share", 0)
    n_claims = 0
    for _ in range(300):
        prompts = draw_option_tests(arms, 12, study, random)
        tests = sorted(pair for prompt in prompts for pair in prompt)
        test = SimulatedTest(*tests[0], tuple(tests[1:]))
        n_claims += round(estimate_power([test], alone, {}, study, 12).power or 0.0)
    assert n_claims <= 300 * 0.05 + 4 * (300 * 0.05 * 0.95) ** 0.5
