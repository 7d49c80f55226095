"""From curves to rows, advice and sentences."""

from collections.abc import Sequence
from typing import Any

import pytest
from power_plans import (
    POWER,
    RULES,
    FakeArms,
    FakePrices,
    plan_power,
    planned_study,
    score_difference,
    share_change,
    value_difference,
    with_power,
)

from fieldwork.metrics.power.effects import Effect, LetterSource, Scenario, ValueSource
from fieldwork.metrics.power.family import Family, PowerEstimate
from fieldwork.metrics.power.likeness import CAUTIOUS, Likeness
from fieldwork.metrics.power.page import render
from fieldwork.metrics.power.simulation import PowerCurve, find_smallest_size, simulate_effects
from fieldwork.metrics.power.study import PlannedStudy, PlannedTask
from fieldwork.metrics.power.table import advice_rows, power_rows
from fieldwork.records.power import PowerAdvice
from fieldwork.sections.study import PrimaryEntry

OUTLINE = planned_study(
    {"small": PlannedTask({"list": 2}), "large": PlannedTask({"choice": 5}, 5)},
    runs={"small": 12, "large": 8},
    score_task="large",
)


def simulate_curves(study: PlannedStudy = OUTLINE, **more: Any) -> list[PowerCurve]:
    return simulate_effects(with_power(study, **more))


def test_every_effect_is_simulated_for_every_task_and_another_moves_no_number() -> None:
    def by_key(curves: list[PowerCurve]) -> dict[tuple[Any, ...], list[PowerCurve]]:
        """Curves of each effect: simulated users' family first, real ones' after it."""
        found: dict[tuple[Any, ...], list[PowerCurve]] = {}
        for curve in curves:
            own = curve.scenario
            key = own.task, own.measure, own.effect.label, own.replicates
            found.setdefault(key, []).append(curve)
        return found

    alone = by_key(simulate_curves())
    of_both = [("option_share", "0.9 -> 0.2", 1), ("distance", "0.9 -> 0.2", 1)]
    of_both += [("share_who", share, r) for share in ("0.5", "1") for r in (2, 3)]
    assert {*alone} == {
        *((task, *key) for task in ("small", "large") for key in of_both),
        ("small", "entropy_bits", "0.1", 1),
        ("large", "letter_entropy", "0.1", 1),
        ("large", "score", "0.02", 1),
    }
    who = alone["small", "share_who", "0.5", 2]
    assert [(power.family, power.arms) for power in who] == [
        (Family("primary", 3), [("m", "history")]),
        (Family("real_users_share_who", 1), [("m", "field")]),
    ]
    more = {"who": [0.1, *POWER["effects"]["who"]], "entropy": [0.05, 0.1]}
    beside = by_key(simulate_curves(effects=POWER["effects"] | more))
    assert len(beside) == len(alone) + 4 + 2
    assert all(beside[key] == curves for key, curves in alone.items())


@pytest.mark.parametrize(
    ("setting", "pilot", "expected"),
    [
        (0.0, {}, (0.0, "`power.likeness`")),
        (None, {}, (CAUTIOUS, "cautious, as no answers of users are stored")),
        (None, {("small", "list"): Likeness(0.4, 0.1, 25, "a pilot")}, (0.5, "a pilot")),
    ],
)
def test_likeness_is_the_configs_a_pilots_or_cautious(
    setting: float | None, pilot: Any, expected: tuple[float, str]
) -> None:
    study = OUTLINE._replace(pilot=pilot)
    curves = simulate_curves(study, likeness=setting, simulations=20, sizes=[6])
    found = {c.scenario.measure: c.scenario for c in curves if c.scenario.task == "small"}
    for measure, scenario in found.items():
        is_over_prompts = measure in ("share_who", "entropy_bits")
        supposed = expected if is_over_prompts else (None, "")
        assert (scenario.supposed_likeness, scenario.basis) == supposed


def estimates(*powers: float | None) -> list[PowerEstimate]:
    return [
        PowerEstimate(10 * (k + 1), power, power, power, 100 if power is not None else 0, 4, None)
        for k, power in enumerate(powers)
    ]


@pytest.mark.parametrize(
    ("powers", "n_users", "n_simulated"),
    [
        ((0.4, 0.6, 1.0), 25, 30),
        ((0.7999, 0.8, 1.0), 20, 20),
        ((0.3, 0.9, None), 19, 20),
        # a size that only chance lifts over the target does not count
        ((0.81, 0.7, 0.9), 25, 30),
        ((0.9, 0.7), None, 20),
    ],
)
def test_the_smallest_size(
    powers: Sequence[float | None], n_users: int | None, n_simulated: int
) -> None:
    size = find_smallest_size(estimates(*powers), 0.8)
    assert (size.n_needed, size.n_users) == (n_users, n_simulated)
    assert (size.reason or "").startswith("not reached with") == (n_users is None)


def curves_of(scenario: Scenario, *powers: float | None) -> list[PowerCurve]:
    """One family for simulated users of both models, another for real ones."""
    basis = "" if scenario.supposed_likeness is None else "`power.likeness`"
    own = scenario._replace(task="t", basis=basis)
    families = {"history": Family("primary", 3), "field": Family(scenario.measure, 1)}
    return [
        PowerCurve(own, family, [("paid", condition), ("free", condition)], estimates(*powers))
        for condition, family in families.items()
    ]


def changed(curves: list[PowerCurve], **more: Any) -> list[PowerCurve]:
    return [curve._replace(scenario=curve.scenario._replace(**more)) for curve in curves]


PLANNED = planned_study(
    {"t": PlannedTask({"list": 4})},
    models={"paid": "Paid", "free": "free"},
    score_task="t",
    power={"simulations": 100},
)
LETTERS = LetterSource(0.5)
SHARES = curves_of(Scenario("option_share", share_change(0.9, 0.2), LETTERS, 4), 0.4, 0.6, 1.0)
ASKED = Scenario("share_who", Effect("who", 0.1), LETTERS, 4, replicates=3, likeness=0.25)
USERS = curves_of(ASKED, 0.1, 0.9, None)
VALUES = curves_of(Scenario("value", value_difference(0.5, 4), ValueSource(5), 4), 0.4, 0.6, 1.0)
SCORE = Scenario("score", score_difference(0.006, 0.01, 0.01), LETTERS, 4)
SCORES = curves_of(SCORE, 0.1, 0.2, 0.3)


def test_power_rows_price_every_size_and_participants_as_the_config_says() -> None:
    dear = with_power(PLANNED, field_cost_usd=5.0)
    rows, dear_rows = (
        {
            (r.measure, r.model, r.condition, r.n_users): r
            for r in power_rows(curves, plan, FakePrices())
        }
        for curves, plan in ((SHARES + USERS, PLANNED), (USERS, dear))
    )
    assert len(rows) == 2 * 2 * 2 * 3
    row = rows["option_share", "paid", "history", 20]
    assert (row.n_calls, row.cost_usd) == (20, 20.0)
    assert (row.n_calls_baseline, row.cost_baseline_usd) == (200, 200.0)
    assert (row.n_tests, row.family, row.correction, row.power) == (4, "primary", "Holm", 0.6)
    row = rows["share_who", "free", "history", 30]
    assert (row.n_calls, row.cost_usd, row.n_calls_baseline) == (90, None, 0)
    assert (row.power, row.n_simulations, row.reason) == (None, 0, "no price")
    people, paid = (found["share_who", "paid", "field", 20] for found in (rows, dear_rows))
    assert (people.n_calls, people.cost_usd, people.basis) == (20 * 4 * 3, None, "participants")
    assert (paid.cost_usd, paid.reason) == (20 * 5.0, None)


def test_advice_has_the_size_and_its_price() -> None:
    paid, free, field, _ = advice_rows(SHARES, PLANNED, FakePrices())
    assert (paid.n_users, paid.n_simulated, paid.power) == (25, 30, 1.0)
    assert (paid.n_calls, paid.n_calls_baseline, paid.cost_usd) == (25, 250, 275.0)
    assert (free.n_calls, free.cost_usd, free.reason) == (25, None, "no price")
    assert (field.condition, field.n_calls, field.cost_usd) == ("field", 100, None)


def page(curves: list[PowerCurve], **more: Any) -> str:
    design = with_power(PLANNED, **more)
    advice: list[PowerAdvice] = list(advice_rows(curves, design, FakePrices()))
    return render(advice, design)


@pytest.mark.parametrize(
    ("curves", "words"),
    [
        (SHARES, "## t, 4 prompts"),
        (SHARES, "SP-History: primary comparisons, 4 tests corrected together (Holm)"),
        (SHARES, "Supposed: one answer of two; every user carries the effect."),
        (SHARES, "- **90 % → 20 %**: **25 users** (with 30 power is 1.00"),
        (SHARES, "free: SP-History 275 calls, cost unk"),
        (changed(SHARES, n_settled=3), "everybody answers 3 of the 4 prompts alike"),
        (changed(SHARES, odd_users=0.1), "10 % of the users carry the whole effect"),
        (
            curves_of(SHARES[0].scenario, None, None),
            "**90 % → 20 %**: no source of such an effect.",
        ),
        (curves_of(SHARES[0].scenario, 0.9, 1.0), "**10 users** or fewer (power 0.90"),
        (USERS, "- **10 % of the variance**, each asked 3 times: **19 users**"),
        (USERS, "a user's answers to two prompts correlate by 0.25 (`power.likeness`)."),
        (VALUES, "- **0.5 standard deviations** in the mean of 4 scales: **25 users**"),
        (SCORES, "- **0.6 points**: not reached with 30: power is 0.30 (0.30 to 0.30)."),
        ([], "# How large a study must be"),
    ],
)
def test_the_page_says_it_in_sentences(curves: list[PowerCurve], words: str) -> None:
    text = page(curves)
    assert words in text.replace("\n", " ") or words in text
    assert not [word for word in ("None", "nan", "Field") if word in text]
    priced = page(SHARES, field_cost_usd=5.0)
    assert "Field 100 pasted prompts and 250 calls, $375.00" in priced


def test_more_answers_are_not_advised_where_the_smallest_study_will_do() -> None:
    twice, thrice = (ASKED._replace(replicates=replicates) for replicates in (2, 3))
    enough = curves_of(twice, 0.9, 1.0) + curves_of(thrice, 0.9, 1.0)
    assert "asked twice" in page(enough)
    assert "asked 3 times" not in page(enough)
    assert "asked 3 times" in page(curves_of(twice, 0.7, 1.0) + curves_of(thrice, 0.9, 1.0))


def test_a_study_is_simulated_priced_and_described() -> None:
    power = plan_power(PLANNED, ["t"], FakeArms())
    measures = {"option_share", "distance", "share_who", "entropy_bits"}
    assert {row.measure for row in power.rows} == measures
    assert {row.n_items for row in power.rows} == {4}
    assert {row.source for row in power.rows} == {"lists of 2 of 6 options"}
    # every size of every curve, for two models, one condition and real users
    curves = {(row.measure, row.effect, row.replicates) for row in power.rows}
    assert len(power.rows) == len(curves) * 2 * 2 * 2
    assert len(power.advice) == len(curves) * 2 * 2
    primary = [row for row in power.rows if row.family == "primary" and row.power is not None]
    # two models' share_who and entropy
    assert {row.n_tests for row in primary if row.measure == "share_who"} == {4}
    page = power.page.replace("\n", " ")
    assert "Study: s. Power is the share of 100 simulated" in page
    assert f"correlate by {CAUTIOUS} (cautious, as no answers of users are stored)" in page


def test_a_task_of_texts_has_no_test() -> None:
    power = plan_power(PLANNED, ["t"], FakeArms("text"))
    assert power.rows == []
    assert "No test is planned for t, whose answers are texts." in power.page


def test_a_study_without_users_says_what_a_plan_needs() -> None:
    planned = PLANNED._replace(conditions={}, asked_again=[])
    assert [row.condition for row in plan_power(planned, ["t"], FakeArms()).advice] != []
    page = plan_power(planned, ["t"], FakeArms()).page.replace("\n", " ")
    assert "No condition of the study has a user" in page
    assert "## t" not in page


@pytest.mark.parametrize(
    ("measure", "words"),
    [
        ("novelty", "`study.primary` also names `novelty`, of which no effect is simulated."),
        (
            "practice_order",
            "`study.primary` also names `practice_order`, whose tests are not counted",
        ),
    ],
)
def test_the_page_says_what_it_leaves_out(measure: str, words: str) -> None:
    planned = PLANNED._replace(rules=RULES._replace(primary=[PrimaryEntry(measure=measure)]))
    power = plan_power(planned, ["t"], FakeArms())
    assert words in power.page.replace("\n", " ")
