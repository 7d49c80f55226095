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
    "10k_prompts": {
        "gemini_flash": (0.31, 0.67),
        "gemini_pro": (0.08, 0.63),
        "gpt-4o": (0.69, 0.76),
        "llama-31": (0.15, 0.67),
        "gpt-4o-mini": (0.92, 0.80),
        "mistral-v03": (0.15, 0.67),
    },
    "wax": {
        "gemini_flash": (0.38, 0.69),
        "gemini_pro": (0.50, 0.74),
        "gpt-4o": (0.50, 0.73),
        "llama-31": (0.00, 0.57),
        "gpt-4o-mini": (0.00, 0.59),
        "mistral-v03": (0.00, 0.50),
    },
    "cebab_stars": {
        "gemini_flash": (0.60, 0.82),
        "gemini_pro": (0.80, 0.87),
        "gpt-4o": (0.90, 0.90),
        "llama-31": (0.60, 0.85),
        "gpt-4o-mini": (0.90, 0.89),
        "mistral-v03": (0.50, 0.83),
    },
}
PENALTIES = {"10k_prompts": 0.15, "wax": 0.1, "cebab_stars": 0.1}


def read(path: str) -> pd.DataFrame:
    return pq.read_table(DATA / path).to_pandas()


@pytest.mark.parametrize("dataset", ANNOTATORS)
def test_the_alternative_annotator_test_gives_its_published_verdicts(dataset: str) -> None:
    frame = read("ratings/alttest_per_rater_annotations.parquet").query("dataset == @dataset")
    labels = frame["label"].astype(str)
    rows = pd.DataFrame(
        {
            "unit_id": frame["item"].astype(str),
            "rater": frame["rater"],
            "rater_kind": frame["rater_type"].map({"human": "person", "llm": "model"}),
            "value": labels,
        }
    )
    level = "nominal" if dataset == "wax" else "interval"
    scale = Scale(
        name=dataset,
        level=level,  # type: ignore[arg-type]
        options=sorted(labels.unique()),
        penalty=PENALTIES[dataset],
    )
    sample = sample_of(*tables_of(rows, scale), scale, 0.05)
    for judge, published in ANNOTATORS[dataset].items():
        tests = [t for t in alternative_annotators(sample, judge) if t.judge_share is not None]
        rates = [mean(bool(t.is_replaceable) for t in tests), mean(t.judge_share for t in tests)]
        assert rates == pytest.approx(published, abs=0.0051), judge


def test_ikats_two_groups_of_assessors_agree_as_its_data_say() -> None:
    frame = read("relevance/ikat2023_ptkb_relevance_two_groups.parquet")
    rows = pd.DataFrame(
        {
            "unit_id": frame["topic_turn_id"] + "/" + frame["statement_id"],
            "user_id": frame["topic_id"],
            "rater": frame["group"],
            "rater_kind": "person",
            "value": frame["relevant"].astype(str),
        }
    )
    shared = rows[rows.groupby("unit_id")["rater"].transform("size") == 2]
    found = estimates(shared, Scale(name="relevance", options=["0", "1"], accepted=["1"]))
    kappa, exact = (found[measure, "people", "people"] for measure in ("kappa", "exact_agreement"))
    assert (kappa.n_judgements, kappa.n_units) == (398, 398)
    assert kappa.estimate == pytest.approx(0.362, abs=5e-4)
    assert exact.estimate == pytest.approx(0.791, abs=5e-4)
    shares = shared.groupby("rater")["value"].apply(lambda values: (values == "1").mean())
    assert dict(shares) == pytest.approx({"nist": 0.259, "org": 0.141}, abs=5e-4)
    # the two do not choose alike many, so that no agreement could be perfect
    assert kappa.largest is not None
    assert kappa.largest < 0.65


def test_mt_benchs_people_agree_with_each_other_as_with_gpt_4() -> None:
    frame = read("pairwise/mtbench_votes_even_questions.parquet")
    keys = ["question_id", "turn", "model_a", "model_b"]
    rows = pd.DataFrame(
        {
            "unit_id": frame[keys].astype(str).agg("/".join, axis=1),
            "user_id": frame["question_id"].astype(str),
            "rater": frame["rater"],
            "rater_kind": frame["rater_kind"].map({"human": "person", "gpt4": "model"}),
            "value": frame["vote"].replace({"tie (inconsistent)": "tie"}),
            "characters_a": frame["answer_a_chars"],
            "characters_b": frame["answer_b_chars"],
        }
    )
    scale = Scale(
        name="vote",
        options=["model_a", "tie", "model_b"],
        prefers_a=["model_a"],
        prefers_b=["model_b"],
    )
    found = estimates(rows, scale, rarest_users=0.2)
    people = found["exact_agreement", "people", "people"]
    judge = found["exact_agreement", "models", "people"]
    assert (people.n_judgements, judge.n_judgements) == (348, 874)
    assert (people.estimate, judge.estimate) == pytest.approx((0.621, 0.627), abs=5e-4)
    kappas = [found["kappa", side, "people"].estimate for side in ("people", "models")]
    assert kappas == pytest.approx([0.354, 0.326], abs=5e-4)
    longer = [found["prefers_longer", side, None].estimate for side in ("people", "gpt4")]
    assert longer == pytest.approx([0.68, 0.76], abs=0.006)
    assert people.ci_low is not None
    assert people.ci_high is not None
    assert people.ci_low < 0.621 < people.ci_high


def test_medperturbs_clinicians_agree_as_published() -> None:
    frame = read("clinical/medperturb_answers_even_vignettes.parquet").query(
        "question == 'RESOURCE' and answer == answer"
    )
    rows = pd.DataFrame(
        {
            "unit_id": frame["index"].astype(str),
            "user_id": frame["vignette"].astype(str),
            "rater": frame["rater"],
            "rater_kind": frame["rater_kind"].map({"clinician": "person", "model": "model"}),
            "value": frame["answer"].astype(int).astype(str),
        }
    )
    scale = Scale(name="resource", options=["0", "1"], accepted=["1"])
    found = estimates(rows, scale, rarest_users=0.1)
    # two texts have the same clinician twice among their three, who counts once here
    assert found["fleiss_kappa", "people", "people"].estimate == pytest.approx(0.33, abs=0.01)
    assert found["exact_agreement", "people", "people"].estimate == pytest.approx(0.696, abs=2e-3)
    accepted = [found["accepted", side, None].estimate for side in ("people", "models")]
    assert accepted == pytest.approx([0.651, 0.946], abs=2e-3)
