"""The study that the scale benchmark times, from requests to figures: that its steps still run."""

import importlib
from pathlib import Path

import pandas as pd
import pytest

ROOT = Path(__file__).resolve().parents[2]


def test_every_step_of_the_study_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks/scale/clients"))
    study_step = importlib.import_module("study_step")
    monkeypatch.setattr(study_step, "PERMUTATIONS", 19)
    monkeypatch.setattr(study_step, "HISTORIES", 1)
    monkeypatch.setattr(study_step, "TASKS", {"recommendations": 3, "mmlu_lite": 2})
    study = study_step.Study(tmp_path / "study", scale=1)
    # every candidate is encoded, which is not what is tried here
    few = pd.read_csv(ROOT / "resources/tasks/candidates.csv").groupby("item_id").head(6)
    few.to_csv(tmp_path / "candidates.csv", index=False)
    sources = study._sources
    fewer = {"candidates": str(tmp_path / "candidates.csv"), "shots": 0}
    monkeypatch.setattr(
        study,
        "_sources",
        lambda task: [
            source.model_copy(update={k: v for k, v in fewer.items() if getattr(source, k)})
            for source in sources(task)
        ],
    )
    study.prepare()
    for step in study.steps().values():
        step()
    written = {path.name for path in (tmp_path / "study").iterdir()}
    assert written > {*(f"fig{k}.pdf" for k in range(1, 6)), "findings.md", "study.duckdb"}
