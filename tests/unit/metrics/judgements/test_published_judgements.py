"""Figures that others published of real judgements come out of our estimates."""

from pathlib import Path
from statistics import mean

import pandas as pd
import pyarrow.parquet as pq
import pytest
from judgement_frames import estimates, tables_of

from fieldwork.metrics.judgements.alternative_annotators import alternative_annotators
from fieldwork.metrics.judgements.sample import sample_of
from fieldwork.sections.judging import Scale

DATA = Path(__file__).resolve().parents[4].parent / "shared" / "data"
pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason=f"no real extracts at {DATA}")

# Calderon, Reichart and Dror 2025, from the notebook of their repository: winning rate, advantage
ANNOTATORS = {
    "10k_prompts": [0.31, 0.67, 0.08, 0.63, 0.69, 0.76, 0.15, 0.67, 0.92, 0.80, 0.15, 0.67],
    "wax": [0.38, 0.69, 0.50, 0.74, 0.50, 0.73, 0.00, 0.57, 0.00, 0.59, 0.00, 0.50],
    "cebab_stars": [0.60, 0.82, 0.80, 0.87, 0.90, 0.90, 0.60, 0.85, 0.90, 0.89, 0.50, 0.83],
}
JUDGES = ("gemini_flash", "gemini_pro", "gpt-4o", "llama-31", "gpt-4o-mini", "mistral-v03")
PENALTIES = {"10k_prompts": 0.15, "wax": 0.1, "cebab_stars": 0.1}


def read(path: str) -> pd.DataFrame:
    return pq.read_table(DATA / path).to_pandas()


def judged(frame: pd.DataFrame, unit: str, kinds: pd.Series, values: pd.Series) -> pd.DataFrame:
    """Judgements as the import writes them, of raters that are people unless they are models."""
    is_model = kinds.isin(["llm", "gpt4", "model"])
    return frame.assign(
        unit_id=frame[unit].astype(str),
        rater_kind=is_model.map({True: "model", False: "person"}),
        value=values.astype(str),
    )


@pytest.mark.parametrize("dataset", ANNOTATORS)
def test_the_alternative_annotator_test_gives_its_published_verdicts(dataset: str) -> None:
    frame = read("ratings/alttest_per_rater_annotations.parquet").query("dataset == @dataset")
    rows = judged(frame, "item", frame["rater_type"], frame["label"])
    options, level = sorted(rows["value"].unique()), "nominal" if dataset == "wax" else "interval"
    scale = Scale(name=dataset, level=level, options=options, penalty=PENALTIES[dataset])  # type: ignore[arg-type]
    sample = sample_of(*tables_of(rows, scale), scale, 0.05)
    rates = []
    for judge in JUDGES:
        tests = [t for t in alternative_annotators(sample, judge) if t.judge_share is not None]
        rates += [mean(bool(t.is_replaceable) for t in tests), mean(t.judge_share for t in tests)]
    assert rates == pytest.approx(ANNOTATORS[dataset], abs=0.0051)


def test_ikats_two_groups_of_assessors_agree_as_its_data_say() -> None:
    frame = read("relevance/ikat2023_ptkb_relevance_two_groups.parquet")
    units = frame["topic_turn_id"] + "/" + frame["statement_id"]
    frame = frame.assign(unit=units, rater=frame["group"], user_id=frame["topic_id"])
    rows = judged(frame, "unit", frame["group"], frame["relevant"])
    shared = rows[rows.groupby("unit_id")["rater"].transform("size") == 2]
    found = estimates(shared, Scale(name="relevance", options=["0", "1"], accepted=["1"]))
    kappa, exact = (found[measure, "people", "people"] for measure in ("kappa", "exact_agreement"))
    assert (kappa.n_judgements, kappa.n_units) == (398, 398)
    assert kappa.estimate == pytest.approx(0.362, abs=5e-4)
    assert exact.estimate == pytest.approx(0.791, abs=5e-4)
    shares = shared.groupby("rater")["value"].apply(lambda values: (values == "1").mean())
    assert dict(shares) == pytest.approx({"nist": 0.259, "org": 0.141}, abs=5e-4)
    # the two do not choose alike many, so that no agreement could be perfect
    assert (kappa.largest or 1) < 0.65


def test_mt_benchs_people_agree_with_each_other_as_with_gpt_4() -> None:
    frame = read("pairwise/mtbench_votes_even_questions.parquet")
    keys = ["question_id", "turn", "model_a", "model_b"]
    frame["unit"] = frame[keys].astype(str).agg("/".join, axis=1)
    frame["user_id"] = frame["question_id"].astype(str)
    frame = frame.rename(columns={f"answer_{side}_chars": f"characters_{side}" for side in "ab"})
    votes = frame["vote"].replace({"tie (inconsistent)": "tie"})
    rows = judged(frame, "unit", frame["rater_kind"], votes)
    sides = {"prefers_a": ["model_a"], "prefers_b": ["model_b"]}
    scale = Scale(name="vote", options=["model_a", "tie", "model_b"], **sides)
    found = estimates(rows, scale, rarest_users=0.2)
    people = found["exact_agreement", "people", "people"]
    judge = found["exact_agreement", "models", "people"]
    assert (people.n_judgements, judge.n_judgements) == (348, 874)
    assert (people.estimate, judge.estimate) == pytest.approx((0.621, 0.627), abs=5e-4)
    kappas = [found["kappa", side, "people"].estimate for side in ("people", "models")]
    assert kappas == pytest.approx([0.354, 0.326], abs=5e-4)
    longer = [found["prefers_longer", side, None].estimate for side in ("people", "gpt4")]
    assert longer == pytest.approx([0.68, 0.76], abs=0.006)
    assert (people.ci_low or 1) < 0.621 < (people.ci_high or 0)


def test_medperturbs_clinicians_agree_as_published() -> None:
    frame = read("clinical/medperturb_answers_even_vignettes.parquet").query(
        "question == 'RESOURCE' and answer == answer"
    )
    frame = frame.assign(user_id=frame["vignette"].astype(str))
    rows = judged(frame, "index", frame["rater_kind"], frame["answer"].astype(int))
    scale = Scale(name="resource", options=["0", "1"], accepted=["1"])
    found = estimates(rows, scale, rarest_users=0.1)
    # two texts have the same clinician twice among their three, who counts once here
    assert found["fleiss_kappa", "people", "people"].estimate == pytest.approx(0.33, abs=0.01)
    assert found["exact_agreement", "people", "people"].estimate == pytest.approx(0.696, abs=2e-3)
    accepted = [found["accepted", side, None].estimate for side in ("people", "models")]
    assert accepted == pytest.approx([0.651, 0.946], abs=2e-3)
