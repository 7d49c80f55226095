"""Calibration: what it recovers, where it declines, and that no weight leaves without its verdict."""

import dataclasses
import re

import numpy as np
import pandas as pd
import pytest
from calibration_answers import ARMS, settings, study, users_letters

from fieldwork.errors import StudyError
from fieldwork.metrics.calibration.draws import PromptBits, gain_interval, ratio_interval
from fieldwork.metrics.calibration.reuse import calibrated_shares, read_external_weights
from fieldwork.metrics.calibration.rows import IS_CALIBRATED
from fieldwork.metrics.calibration.table import Calibrations, measure_calibration
from fieldwork.records.field import Calibration, CalibrationWeight
from unit.metrics.metric_frames import answer_frame

MIXTURE = (0.5, 0.5, 0.0)


def verdicts(tables: Calibrations) -> dict[str | None, str | None]:
    return {r.puppets_of: r.verdict for r in tables.summary if r.comparator == "calibrated"}


def row(tables: Calibrations, comparator: str, arm: str | None = None) -> Calibration:
    (one,) = (r for r in tables.summary if (r.comparator, r.arm) == (comparator, arm))
    return one


@pytest.fixture(scope="module")
def mixture_answers() -> pd.DataFrame:
    return study(MIXTURE, n_field=200, n_arm=100)


@pytest.fixture(scope="module")
def calibrations(mixture_answers: pd.DataFrame) -> Calibrations:
    return measure_calibration(mixture_answers, settings=settings())


def test_known_weights_come_back_and_beat_every_arm(calibrations: Calibrations) -> None:
    mixture = row(calibrations, "calibrated")
    assert (mixture.verdict, mixture.reason) == ("calibrated", None)
    weights = {w.condition: w.weight or 0.0 for w in calibrations.weights}
    assert weights == pytest.approx(dict(zip(ARMS, MIXTURE, strict=True)), abs=0.1)
    assert sum(weights.values()) == pytest.approx(1)
    for each in calibrations.weights:
        assert (each.fold_low or 0) - 0.05 <= (each.weight or 0) <= (each.fold_high or 1) + 0.05
    (best,) = (r for r in calibrations.summary if r.is_best)
    assert (mixture.js_bits or 1) < (best.js_bits or 0)
    assert (best.ci_low or 0) > 0
    assert (best.p_holm or 1) <= 0.05
    assert {r.comparator for r in calibrations.summary} == {"calibrated", "equal", "arm", "field"}
    overfit = (mixture.js_bits or 0) - (mixture.in_sample_bits or 0)
    assert mixture.overfit_bits == pytest.approx(overfit)


@pytest.mark.parametrize(
    ("mixture", "n_field", "verdict"),
    [
        ((0.0, 1.0, 0.0), 200, "no better"),
        (MIXTURE, 12, "cannot support"),
        (None, 0, "cannot support"),
    ],
    ids=["field is an arm", "few answers", "no field"],
)
def test_it_declines_and_gives_no_weight(
    mixture: tuple[float, ...] | None, n_field: int, verdict: str
) -> None:
    tables = measure_calibration(study(mixture, n_field=n_field), settings=settings())
    assert verdicts(tables) == {None: verdict}
    assert row(tables, "calibrated").reason
    assert [w.condition for w in tables.weights] == list(ARMS)
    assert {(w.weight, w.fold_low, w.fold_high) for w in tables.weights} == {(None,) * 3}
    assert all((w.reason or "").startswith(verdict) for w in tables.weights)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"rarest_prompts": 0.45}, "8 of 8 prompts"),
        ({"rarest_users": 0.02}, "0 of 8 prompts"),
        ({"conditions": ["offline"]}, "fewer than two conditions"),
        ({"tasks": ["other"]}, "no readable answer"),
    ],
)
def test_why_nothing_can_be_said(mixture_answers: pd.DataFrame, change: dict, text: str) -> None:
    mixture = row(measure_calibration(mixture_answers, settings=settings(**change)), "calibrated")
    assert mixture.verdict == "cannot support"
    assert text in (mixture.reason or "")
    assert mixture.js_bits is None


@pytest.mark.parametrize(
    ("items", "reason"),
    [
        (["i00"], "5 answers to i00 (t); an arm needs 20"),
        ([f"i{k:02}" for k in range(8)], "5 puppets answer, and 39 are needed"),
    ],
)
def test_an_arm_with_few_answers_or_puppets_is_left_out_with_its_reason(
    mixture_answers: pd.DataFrame, items: list[str], reason: str
) -> None:
    is_kept = (mixture_answers["condition"] != "profile") | (mixture_answers["puppet_id"] < "p005")
    subset = mixture_answers[is_kept | ~mixture_answers["item_id"].isin(items)]
    tables = measure_calibration(subset, settings=settings())
    exclusions = row(tables, "arm", "profile")
    assert exclusions.js_bits is None
    assert (exclusions.reason or "").startswith(reason)
    assert {w.condition for w in tables.weights} == {"offline", "history"}


def puppet_study(n_nearer: int) -> pd.DataFrame:
    """Puppets of one arm, of which the first `nearer` answer as the field does."""
    random = np.random.default_rng(8)
    rows = []
    for item in range(10):
        one, other = random.permutation(list("ABCD"))[:2].tolist()
        for condition, n, n_one in (("history", 40, n_nearer), ("field", 60, 60)):
            common = [one if k < n_one else other for k in range(n)]
            letters = [c if random.random() < 0.8 else random.choice(list("ABCD")) for c in common]
            rows += users_letters(condition, item, [str(letter) for letter in letters])
    return answer_frame(rows)


@pytest.mark.parametrize(("n_nearer", "verdict"), [(20, "calibrated"), (0, "no better")])
def test_puppets_are_weighed_where_some_are_nearer(n_nearer: int, verdict: str) -> None:
    options = settings(over=["puppets"], conditions=["history"], folds=5)
    tables = measure_calibration(puppet_study(n_nearer), settings=options)
    assert verdicts(tables) == {"history": verdict}
    mixture = row(tables, "calibrated")
    assert mixture.n_members == 40
    if n_nearer:
        assert (mixture.n_effective or 99) < 33
        assert sum(w.weight or 0 for w in tables.weights[:n_nearer]) > 0.8
    else:
        assert mixture.reason == "the best weights are those of history"
        assert all(w.weight is None and w.puppet_id for w in tables.weights)


def reuse_weights(
    frame: pd.DataFrame, weights: list[CalibrationWeight], **options
) -> tuple[Calibrations, list]:
    given = {"settings": settings(**options), "external": None}
    if weights:
        given["external"] = read_external_weights(
            weights, file="other.parquet", settings=given["settings"]
        )
    tables = measure_calibration(frame, **given)
    return tables, calibrated_shares(frame, *tables[:2], baseline="offline", **given)


def test_weights_of_one_study_are_judged_in_another(calibrations: Calibrations) -> None:
    tables, shares = reuse_weights(
        study(MIXTURE, n_field=200, n_arm=100, seed=4), calibrations.weights
    )
    mixture = row(tables, "calibrated")
    assert (mixture.verdict, mixture.weights_from) == ("calibrated", "other.parquet")
    assert (mixture.in_sample_bits, mixture.overfit_bits, mixture.n_folds) == (None, None, None)
    assert tables.weights[0].weight == pytest.approx(
        next(w.weight for w in calibrations.weights if w.condition == tables.weights[0].condition)
    )
    distances = [abs((s.share or 0) - (s.field_share or 0)) for s in shares]
    assert max(distances) < 0.25
    assert np.mean(distances) < np.mean(
        [abs((s.baseline_share or 0) - (s.field_share or 0)) for s in shares]
    )


def test_without_a_field_there_are_shares_and_no_verdict_but_that(
    calibrations: Calibrations,
) -> None:
    frame = study(None)
    tables, shares = reuse_weights(frame, calibrations.weights)
    assert verdicts(tables) == {None: "cannot support"}
    item_shares = [s for s in shares if s.item_id == "i00"]
    assert sum(s.share or 0 for s in item_shares) == pytest.approx(1)
    assert {s.field_share for s in item_shares} == {None}
    is_answer = frame[frame["item_id"] == "i00"].assign(
        hit=lambda rows: rows["letter"] == item_shares[0].answer
    )
    expected = is_answer.groupby("condition")["hit"].mean()
    weights = {w.condition: w.weight or 0 for w in calibrations.weights}
    assert item_shares[0].share == pytest.approx(sum(weights[arm] * expected[arm] for arm in ARMS))


def test_a_declined_calibration_gives_no_share() -> None:
    _, shares = reuse_weights(study((0.0, 1.0, 0.0), n_field=200), [])
    assert {s.share for s in shares} == {None}
    assert all((s.reason or "").startswith("no better") for s in shares)
    assert all(s.field_share is not None for s in shares)


def weight(**values) -> CalibrationWeight:
    blank = CalibrationWeight(
        "m", "conditions", "offline", None, 1.0, None, None, IS_CALIBRATED, None
    )
    return dataclasses.replace(blank, **values)


@pytest.mark.parametrize(
    ("rows", "text"),
    [
        ([weight(model="other")], "has no model m (it has other)"),
        ([weight(condition="web")], "has a weight for condition web of m"),
        (
            [weight(weight=None, verdict="no better", reason="no better: near enough")],
            "has no usable weights of m (no better: near enough)",
        ),
    ],
)
def test_weights_that_do_not_fit_are_one_sentence(rows: list, text: str) -> None:
    with pytest.raises(StudyError, match=re.escape(f"calibration.weights: w.parquet {text}")):
        read_external_weights(rows, file="w.parquet", settings=settings())


@pytest.mark.parametrize(("n_there", "fits"), [(40, True), (39, False)])
def test_puppet_weights_need_their_puppets(n_there: int, fits: bool) -> None:
    names = [f"p{k:03}" for k in range(40)]
    rows = [
        weight(level="puppets", condition="history", puppet_id=name, weight=1 / 40)
        for name in names
    ]
    frame = puppet_study(20)
    frame = frame[(frame["condition"] == "field") | frame["puppet_id"].isin(names[:n_there])]
    options = {"over": ["puppets"], "conditions": ["history"]}
    tables, shares = reuse_weights(frame, rows, **options)
    mixture = row(tables, "calibrated")
    assert (mixture.js_bits is not None) == fits
    assert all((s.share is not None) == fits for s in shares)
    if not fits:
        assert "only 39 of the 40 puppets with a weight in other.parquet answer" in (
            mixture.reason or ""
        )


@pytest.mark.parametrize("is_shared", [True, False], ids=["people shared", "people of each prompt"])
def test_the_interval_holds_a_mean_over_crossed_prompts_and_people(is_shared: bool) -> None:
    random = np.random.default_rng(4)
    hits, prompts, people = 0, 9, 40
    for _ in range(300):
        # a prompt's own effect, a person's over all prompts or in each, and an answer's
        of_people = random.normal(0, 1, size=(people, 1 if is_shared else prompts))
        of_prompts = random.normal(0, 0.3, size=(1, prompts))
        answers = of_prompts + of_people + random.normal(0, 1, size=(people, prompts))
        groups = np.arange(people) % 10
        without = np.stack([answers[groups != g].mean(axis=0) for g in range(10)])
        gain = gain_interval(answers.mean(axis=0), without)
        hits += gain.interval.low <= 0 <= gain.interval.high
    assert 0.92 <= hits / 300 <= 0.99


def crossed_gains(random: np.random.Generator, whole: float, share: float) -> list[PromptBits]:
    """Gains of a share, and the whole, by nine prompts and 40 people in ten groups."""
    groups, people = np.arange(40) % 10, random.normal(0, 0.6, size=(40, 1))
    noise = random.normal(0, 1, size=(2, 40, 9))
    sides = whole + random.normal(0, 0.1, size=(1, 9)) + people + noise[0]
    gains = share * sides + 0.3 * noise[1]
    return [
        PromptBits(
            answers.mean(axis=0), np.stack([answers[groups != g].mean(axis=0) for g in range(10)])
        )
        for answers in (gains, sides)
    ]


def test_the_interval_of_the_closed_share_holds_the_share() -> None:
    random = np.random.default_rng(5)
    intervals = [ratio_interval(*crossed_gains(random, 0.5, 0.4)) for _ in range(200)]
    bounded = [i for i in intervals if i is not None]
    assert len(bounded) > 150
    assert 0.91 <= np.mean([i.low <= 0.4 <= i.high for i in bounded]) <= 0.99
    assert all(-1 < i.low < i.high < 2 for i in bounded)
    # a gap that could be nothing has no share
    assert ratio_interval(*crossed_gains(np.random.default_rng(6), 0.0, 0.4)) is None


def test_a_prompt_that_no_weighted_puppet_answers_is_the_arms_own() -> None:
    frame = puppet_study(20)
    is_excluded = (frame["condition"] == "history") & (frame["item_id"] == "i00")
    frame = frame[~(is_excluded & (frame["puppet_id"] < "p010"))]
    rows = [
        weight(level="puppets", condition="history", puppet_id=f"p{k:03}", weight=w)
        for k, w in enumerate([0.1] * 10 + [0.0] * 30)
    ]

    def sums_of_bits(answers: pd.DataFrame) -> list[float]:
        tables, _ = reuse_weights(answers, rows, over=["puppets"], conditions=["history"])
        sides = [row(tables, "calibrated"), row(tables, "arm", "history")]
        return [side.n_prompts * (side.js_bits or 0.0) for side in sides]

    mixture, arm = np.subtract(*map(sums_of_bits, (frame, frame[frame["item_id"] != "i00"])))
    assert mixture == pytest.approx(arm) != 0
