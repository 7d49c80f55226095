"""Calibration: what it recovers, where it declines, and that no weight leaves without its verdict."""

import dataclasses

import numpy as np
import pandas as pd
import pytest
from calibration_answers import ARMS, letter, settings, study

from fieldwork.errors import StudyError
from fieldwork.metrics.calibration.noise import gain_interval
from fieldwork.metrics.calibration.reuse import calibrated_shares, given_weights
from fieldwork.metrics.calibration.rows import CALIBRATED
from fieldwork.metrics.calibration.table import Calibrations, measure_calibration
from fieldwork.records.field import Calibration, CalibrationWeight
from unit.metrics.metric_frames import answer_frame

MIXTURE = (0.5, 0.5, 0.0)


def verdicts(found: Calibrations) -> dict[str | None, str | None]:
    return {r.puppets_of: r.verdict for r in found.summary if r.comparator == "calibrated"}


def row(found: Calibrations, comparator: str, arm: str | None = None) -> Calibration:
    (one,) = (r for r in found.summary if (r.comparator, r.arm) == (comparator, arm))
    return one


@pytest.fixture(scope="module")
def mixed() -> pd.DataFrame:
    return study(MIXTURE, n_field=200, n_arm=100)


@pytest.fixture(scope="module")
def calibrated(mixed: pd.DataFrame) -> Calibrations:
    return measure_calibration(mixed, settings=settings())


def test_known_weights_come_back_and_beat_every_arm(calibrated: Calibrations) -> None:
    own = row(calibrated, "calibrated")
    assert (own.verdict, own.reason) == ("calibrated", None)
    weights = {w.condition: w.weight for w in calibrated.weights}
    assert weights == pytest.approx(dict(zip(ARMS, MIXTURE, strict=True)), abs=0.1)
    assert sum(w for w in weights.values() if w) == pytest.approx(1)
    for each in calibrated.weights:
        assert each.fold_low is not None
        assert each.weight is not None
        assert each.fold_high is not None
        assert each.fold_low - 0.05 <= each.weight <= each.fold_high + 0.05
    (best,) = (r for r in calibrated.summary if r.is_best)
    assert (own.js_bits or 1) < (best.js_bits or 0)
    assert (best.ci_low or 0) > 0
    assert (best.p_holm or 1) <= 0.05
    assert {r.comparator for r in calibrated.summary} == {"calibrated", "equal", "arm", "field"}


def test_the_mean_of_the_prompts_is_the_summary(calibrated: Calibrations) -> None:
    for each in calibrated.summary:
        own = [r for r in calibrated.items if (r.comparator, r.arm) == (each.comparator, each.arm)]
        assert len(own) == each.n_prompts == 8
        assert np.mean([r.js_bits for r in own]) == pytest.approx(each.js_bits)


@pytest.mark.parametrize(
    ("mixture", "n_field", "verdict"),
    [
        ((0.0, 1.0, 0.0), 200, "no better"),
        ((1 / 3, 1 / 3, 1 / 3), 200, "no better"),
        (MIXTURE, 12, "cannot support"),
        (None, 0, "cannot support"),
    ],
    ids=["field is an arm", "equal weights do", "few answers", "no field"],
)
def test_it_declines_and_gives_no_weight(
    mixture: tuple[float, ...] | None, n_field: int, verdict: str
) -> None:
    found = measure_calibration(study(mixture, n_field=n_field), settings=settings())
    assert verdicts(found) == {None: verdict}
    assert row(found, "calibrated").reason
    assert [w.condition for w in found.weights] == list(ARMS)
    for each in found.weights:
        assert (each.weight, each.fold_low, each.fold_high) == (None, None, None)
        assert each.reason is not None
        assert each.reason.startswith(verdict)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"minimum_prompts": 9}, "8 of 8 prompts"),
        ({"minimum_answers": 300}, "0 of 8 prompts"),
        ({"conditions": ["offline"]}, "fewer than two conditions"),
        ({"tasks": ["other"]}, "no readable answer"),
    ],
)
def test_why_nothing_can_be_said(mixed: pd.DataFrame, change: dict, told: str) -> None:
    own = row(measure_calibration(mixed, settings=settings(**change)), "calibrated")
    assert own.verdict == "cannot support"
    assert told in (own.reason or "")
    assert own.js_bits is None


def test_an_arm_with_few_answers_is_left_out_with_its_reason(mixed: pd.DataFrame) -> None:
    few = mixed[(mixed["condition"] != "profile") | (mixed["puppet_id"] < "p005")]
    found = measure_calibration(few, settings=settings())
    lost = row(found, "arm", "profile")
    assert lost.js_bits is None
    assert (lost.reason or "").startswith("5 answers to i00")
    assert {w.condition for w in found.weights} == {"offline", "history"}


def test_no_order_of_rows_moves_a_bit(mixed: pd.DataFrame) -> None:
    few = mixed[mixed["item_id"] < "i06"]
    asked = settings(over=["conditions", "puppets"], conditions=["offline", "history"])
    turned = few.sample(frac=1, random_state=1)
    assert measure_calibration(few, settings=asked) == measure_calibration(turned, settings=asked)


def puppet_study(nearer: int) -> pd.DataFrame:
    """Puppets of one arm, of which the first `nearer` answer as the field does."""
    random = np.random.default_rng(8)
    rows = []
    for item in range(10):
        one, other = random.permutation(list("ABCD"))[:2]
        for k in range(30):
            common = one if k < nearer else other
            given = str(common if random.random() < 0.8 else random.choice(list("ABCD")))
            rows.append(letter("history", item, f"p{k:03}", 0, given))
        for k in range(60):
            given = str(one if random.random() < 0.8 else random.choice(list("ABCD")))
            rows.append(letter("field", item, f"person{k:03}", 0, given))
    return answer_frame(rows)


@pytest.mark.parametrize(("nearer", "verdict"), [(15, "calibrated"), (0, "no better")])
def test_puppets_are_weighed_where_some_are_nearer(nearer: int, verdict: str) -> None:
    asked = settings(over=["puppets"], conditions=["history"], folds=5)
    found = measure_calibration(puppet_study(nearer), settings=asked)
    assert verdicts(found) == {"history": verdict}
    own = row(found, "calibrated")
    assert own.n_members == 30
    assert own.n_effective is not None
    if nearer:
        assert own.n_effective < 25
        assert sum(w.weight or 0 for w in found.weights[:nearer]) > 0.8
    else:
        assert own.n_effective > 20
        assert all(w.weight is None and w.puppet_id for w in found.weights)


def test_overfit_is_what_held_out_prompts_lose(calibrated: Calibrations) -> None:
    own = row(calibrated, "calibrated")
    assert own.overfit_bits == pytest.approx((own.js_bits or 0) - (own.in_sample_bits or 0))
    assert (own.overfit_bits or -1) > -0.002
    assert row(calibrated, "field").excess_bits == 0


def reused(
    frame: pd.DataFrame, weights: list[CalibrationWeight], **asked
) -> tuple[Calibrations, list]:
    study_ = settings(**asked)
    given = given_weights(weights, file="other.parquet", settings=study_)
    found = measure_calibration(frame, settings=study_, given=given)
    shares = calibrated_shares(
        frame, found.summary, found.weights, settings=study_, baseline="offline", given=given
    )
    return found, shares


def test_weights_of_one_study_are_judged_in_another(calibrated: Calibrations) -> None:
    found, shares = reused(study(MIXTURE, n_field=200, n_arm=100, seed=4), calibrated.weights)
    own = row(found, "calibrated")
    assert (own.verdict, own.weights_from) == ("calibrated", "other.parquet")
    assert (own.in_sample_bits, own.overfit_bits, own.n_folds) == (None, None, None)
    assert found.weights[0].weight == pytest.approx(
        next(w.weight for w in calibrated.weights if w.condition == found.weights[0].condition)
    )
    off = [abs((s.share or 0) - (s.field_share or 0)) for s in shares]
    assert max(off) < 0.25
    assert np.mean(off) < np.mean(
        [abs((s.baseline_share or 0) - (s.field_share or 0)) for s in shares]
    )


def test_without_a_field_there_are_shares_and_no_verdict_but_that(
    calibrated: Calibrations,
) -> None:
    frame = study(None)
    found, shares = reused(frame, calibrated.weights)
    assert verdicts(found) == {None: "cannot support"}
    of = [s for s in shares if s.item_id == "i00"]
    assert sum(s.share or 0 for s in of) == pytest.approx(1)
    assert {s.field_share for s in of} == {None}
    history = frame[(frame["condition"] == "history") & (frame["item_id"] == "i00")]["letter"]
    weights = {w.condition: w.weight or 0 for w in calibrated.weights}
    by_hand = {
        arm: (
            frame[(frame["condition"] == arm) & (frame["item_id"] == "i00")]["letter"]
            == of[0].answer
        ).mean()
        for arm in ARMS
    }
    assert len(history) == 40
    assert of[0].share == pytest.approx(sum(weights[arm] * by_hand[arm] for arm in ARMS))


def test_a_declined_calibration_gives_no_share() -> None:
    frame = study((0.0, 1.0, 0.0), n_field=200)
    found = measure_calibration(frame, settings=settings())
    shares = calibrated_shares(
        frame, found.summary, found.weights, settings=settings(), baseline="offline", given=None
    )
    assert {s.share for s in shares} == {None}
    assert all((s.reason or "").startswith("no better") for s in shares)
    assert all(s.field_share is not None for s in shares)


def weight(**values) -> CalibrationWeight:
    blank = CalibrationWeight("m", "conditions", "offline", None, 1.0, None, None, CALIBRATED, None)
    return dataclasses.replace(blank, **values)


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ([weight(model="other")], "has no model m (there are other)"),
        ([weight(condition="web")], "weighs condition web of m"),
        (
            [weight(weight=None, verdict="no better", reason="no better: near enough")],
            "no usable weights of m (no better: near enough)",
        ),
        ([], "has no model m (there are none)"),
    ],
)
def test_weights_that_do_not_fit_are_one_sentence(rows: list, told: str) -> None:
    with pytest.raises(StudyError) as error:
        given_weights(rows, file="w.parquet", settings=settings())
    assert str(error.value).startswith("calibration.weights: w.parquet ")
    assert told in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(("there", "fits"), [(30, True), (29, False)])
def test_puppet_weights_need_their_puppets(there: int, fits: bool) -> None:
    names = [f"p{k:03}" for k in range(30)]
    rows = [
        weight(level="puppets", condition="history", puppet_id=name, weight=1 / 30)
        for name in names
    ]
    frame = puppet_study(15)
    frame = frame[(frame["condition"] == "field") | frame["puppet_id"].isin(names[:there])]
    asked = {"over": ["puppets"], "conditions": ["history"]}
    found, shares = reused(frame, rows, **asked)
    own = row(found, "calibrated")
    assert (own.js_bits is not None) == fits
    assert all((s.share is not None) == fits for s in shares)
    if not fits:
        assert "29 of the 30 puppets that other.parquet weighs" in (own.reason or "")


@pytest.mark.parametrize("shared", [True, False], ids=["people shared", "people of each prompt"])
def test_the_interval_holds_a_mean_over_crossed_prompts_and_people(shared: bool) -> None:
    random = np.random.default_rng(4)
    held, prompts, people = 0, 9, 40
    for _ in range(300):
        # a prompt's own effect, a person's over all prompts or in each, and an answer's
        of_people = random.normal(0, 1, size=(people, 1 if shared else prompts))
        of_prompts = random.normal(0, 0.3, size=(1, prompts))
        answers = of_prompts + of_people + random.normal(0, 1, size=(people, prompts))
        groups = np.arange(people) % 10
        without = np.stack([answers[groups != g].mean(axis=0) for g in range(10)])
        gain = gain_interval(answers.mean(axis=0), without)
        held += gain.interval.low <= 0 <= gain.interval.high
    assert 0.92 <= held / 300 <= 0.99


@pytest.mark.parametrize("values", [[0.1], [0.0, 1e-17, 0.0]], ids=["one prompt", "one mixture"])
def test_without_a_variance_there_is_no_interval(values: list[float]) -> None:
    gain = gain_interval(np.array(values), np.tile(values, (10, 1)))
    assert gain.interval == (-np.inf, np.inf)


def test_equal_weights_gain_nothing_and_say_so() -> None:
    asked = settings(over=["puppets"], conditions=["history"], folds=5)
    found = measure_calibration(puppet_study(0), settings=asked)
    own, arm = row(found, "calibrated"), row(found, "arm", "history")
    assert (own.penalty_bits, own.verdict) == (None, "no better")
    assert own.reason == "the weights that do best are those of history"
    assert (arm.ci_low, arm.ci_high) == (None, None)


def test_a_prompt_that_no_weighted_puppet_answers_is_the_arms_own() -> None:
    frame = puppet_study(15)
    lost = (frame["condition"] == "history") & (frame["item_id"] == "i00")
    frame = frame[~(lost & (frame["puppet_id"] < "p010"))]
    rows = [
        weight(level="puppets", condition="history", puppet_id=f"p{k:03}", weight=w)
        for k, w in enumerate([0.1] * 10 + [0.0] * 20)
    ]
    found, _ = reused(frame, rows, over=["puppets"], conditions=["history"])
    of = {r.comparator: r.js_bits for r in found.items if r.item_id == "i00"}
    assert of["calibrated"] == of["arm"]
