"""Real answers to MMLU in eight languages: published accuracies, and changes against English."""

from pathlib import Path

import pandas as pd
import pytest
from scipy.stats import binomtest

from fieldwork.estimates.quantity import ChanceSettings
from fieldwork.metrics.robustness.table import measure_robustness
from fieldwork.records.robustness import Robustness

SHARED = Path(__file__).resolve().parents[5] / "shared" / "data"
FILE = SHARED / "crosslingual" / "mmlu_medical_8languages_o1mini.parquet"
pytestmark = pytest.mark.skipif(not FILE.exists(), reason="no real extracts at ../shared/data")

ACCURACIES = {
    "en": 78.3, "af": 75.5, "sn": 69.2, "zu": 67.4, "am": 62.7, "ig": 57.3, "st": 54.5, "bm": 34.8,
}  # fmt: skip


@pytest.fixture(scope="module")
def extract() -> pd.DataFrame:
    frame = pd.read_parquet(FILE)
    first = frame["response"].str.strip().str[:1]
    return frame.assign(letter=first.where(first.isin([*"ABCD"])))


@pytest.fixture(scope="module")
def rows(extract: pd.DataFrame) -> dict[tuple[str, str], Robustness]:
    frame = extract.rename(columns={"language": "task"})
    answers = frame.assign(condition="offline", kind="choice", puppet_id=None, replicate=0)
    answers = answers.assign(outcome="ok", items=None)
    items = frame[["task", "item_id", "gold"]].assign(kind="choice", applied=True)
    variants = {language: "en" for language in ACCURACIES if language != "en"}
    table = measure_robustness(answers, items, variants=variants, settings=ChanceSettings(1999, 1))
    return {(row.task, row.metric): row for row in table}


def test_pairs_of_items_give_the_published_accuracies(
    rows: dict[tuple[str, str], Robustness],
) -> None:
    for language, accuracy in ACCURACIES.items():
        row = rows[("af", "accuracy_origin") if language == "en" else (language, "accuracy")]
        assert round(100 * (row.estimate or 0), 1) == accuracy
        assert row.n_items == 604


def test_changes_are_those_of_a_table_of_pairs(
    rows: dict[tuple[str, str], Robustness], extract: pd.DataFrame
) -> None:
    """Losses and gains counted by pandas; McNemar's test by scipy."""
    is_right = (extract["letter"] == extract["gold"]).groupby(
        [extract["item_id"], extract["language"]]
    )
    table = is_right.first().unstack()
    for language in [*ACCURACIES][1:]:
        n_lost = int((table["en"] & ~table[language]).sum())
        n_won = int((~table["en"] & table[language]).sum())
        row = rows[language, "accuracy_change"]
        assert (row.n_lost, row.n_won) == (n_lost, n_won)
        assert row.estimate == pytest.approx((n_won - n_lost) / 604)
        assert row.p_value == pytest.approx(binomtest(n_won, n_won + n_lost).pvalue)
        assert (row.ci_high or 0) < 0
