"""Recordings of real models, where the extracts of public data sets are beside the checkout."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from fieldwork.files.recordings.answers import Recording, read_answers
from fieldwork.sections.corpora import RecordingForm

REPOSITORY = Path(__file__).resolve().parents[4]
DATA = REPOSITORY.parent / "shared" / "data"
FILES = {
    "recorded_personas": ("top_five", "recommendations/top5_recommendation_answers.parquet"),
    "recorded_wordings": ("top_five", "recommendations/top5_recommendation_answers.parquet"),
    "recorded_repeats": ("repeats", "mmlu_model_outputs/llm_stability_repeated_runs.parquet"),
    "recorded_snapshots": (
        "opinions_gpt_4",
        "mmlu_model_outputs/llmdrift_opinionqa_letter_answers.csv.gz",
    ),
}


@pytest.mark.real_data
@pytest.mark.skipif(not DATA.is_dir(), reason="../shared/data is not on this machine")
@pytest.mark.parametrize(
    ("study", "n_answers", "n_users", "n_items"),
    [
        ("recorded_personas", 6200, 10, 20),
        ("recorded_wordings", 6200, 4, 20),
        ("recorded_repeats", 3285, 0, 657),
        ("recorded_snapshots", 3012, 0, 1498),
    ],
)
def test_what_the_studies_read(study: str, n_answers: int, n_users: int, n_items: int) -> None:
    name, file = FILES[study]
    text = (REPOSITORY / f"studies/{study}.yaml").read_text(encoding="utf-8")
    entry: dict[str, Any] = yaml.safe_load(text)["recordings"][name]
    recording = Recording(name=name, **RecordingForm.part_of(entry))
    answers = [*read_answers([DATA / file], recording)]
    assert len(answers) == n_answers
    assert len({answer.user for answer in answers} - {None}) == n_users
    assert len({answer.item for answer in answers}) == n_items
    assert all(answer.text for answer in answers)
