"""Judgements of people and models through the workflow: files in, estimates and the database out."""

import re
from typing import Any

import pytest
import yaml

from workflow.conftest import REPOSITORY, Checkout, rows_of

pytestmark = pytest.mark.workflow


def votes() -> dict[str, Any]:
    """The study file that docs/judging.md prints."""
    text = (REPOSITORY / "docs/judging.md").read_text(encoding="utf-8")
    printed = re.search(r"```yaml\n(# my_votes\.yaml\n.*?)```", text, re.DOTALL)
    assert printed is not None
    loaded: dict[str, Any] = yaml.safe_load(printed[1])
    return loaded


def test_votes_become_estimates_and_nobody_is_named(folder: Checkout) -> None:
    study = folder.study("judged", {"judging": votes()["judging"]})
    target = "results/judged/metrics/judgements.csv"
    folder.make(target, study=study)
    ((n_judgements, n_units, n_people),) = rows_of(
        folder,
        """SELECT count(*), count(DISTINCT unit_id), count(DISTINCT rater) FILTER (rater_kind = 'person')
        FROM 'RESULTS/judged/judging/judgements.parquet'""",
    )
    assert (n_judgements, n_units, n_people) == (72, 24, 5)
    found = rows_of(
        folder,
        """SELECT raters, n_judgements, estimate FROM 'RESULTS/judged/metrics/judgements.parquet'
        WHERE measure = 'exact_agreement' AND versus = 'people' AND estimate IS NOT NULL ORDER BY 1""",
    )
    assert [row[:2] for row in found] == [("models", 48), ("people", 24)]
    assert all(0 < row[2] < 1 for row in found)
    written = [*folder.results("judged").rglob("*"), *(folder.directory / "logs/judged").rglob("*")]
    texts = [path.read_bytes() for path in written if path.is_file()]
    assert len(texts) >= 8
    assert not any(b"rater-1" in text for text in texts)
    again = folder.snakemake(target, "--configfile", str(study))
    assert "Nothing to be done" in again.stderr


def test_an_answer_of_another_scale_stops_the_study_before_anything_is_asked(
    folder: Checkout,
) -> None:
    judging = votes()["judging"]
    judging["scales"]["better"]["options"] = ["model_a", "model_b"]
    judging["scales"]["better"]["readings"] = {}
    study = folder.study("judged", {"judging": judging})
    failed = folder.fail("all", study=study)
    assert "the answer is no option of the scale better (model_a, model_b)" in failed.stderr
    assert "Traceback" not in failed.stderr
    assert not (folder.directory / "resources/ledger").exists()
