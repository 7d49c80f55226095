"""Counting the puppets of small files before anything runs: what is enough is not counted again."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from fieldwork.config import plan_inputs
from fieldwork.config.plan_inputs import COUNTS_FILE, require_sources
from fieldwork.config.reading import read_study
from fieldwork.config.study import Study
from fieldwork.errors import StudyError

HOME = Path(__file__).resolve().parents[3]


@pytest.fixture
def n_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The processes that were started to count, in a folder of its own."""
    started: list[str] = []
    run = subprocess.run

    def counting_run(*arguments: Any, **settings: Any) -> Any:
        started.append("count")
        return run(*arguments, **settings)

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(plan_inputs.subprocess, "run", counting_run)
    return started


def study_of(folder: Path, conversations: int, runs: int) -> Study:
    talks = [
        {"user": f"u{k}", "conversation": f"c{k}", "role": role, "text": "words"}
        for k in range(conversations)
        for role in ("user", "assistant") * 2
    ]
    lines = "\n".join(map(json.dumps, talks))
    (folder / "talks.jsonl").write_text(lines, encoding="utf-8")
    overlay = {
        "study": {
            "name": "own",
            "corpus": "own",
            "conditions": ["history"],
            "tasks": ["mmlu_lite"],
        },
        "corpora": {"own": {"format": "messages", "path": "talks.jsonl"}},
        "filters": {"min_user_turns": 2, "languages": []},
        "tasks": {"mmlu_lite": {"runs": runs}},
        "metrics": {"baseline": "history"},
    }
    (folder / "own.yaml").write_text(yaml.safe_dump(overlay), encoding="utf-8")
    files = [folder / "own.yaml"]
    return read_study(HOME, [HOME / "config.yaml"], files, command_line={}, overlay=overlay)


def test_enough_is_not_counted_again_until_something_changes(
    tmp_path: Path, n_counts: list[str]
) -> None:
    study = study_of(tmp_path, 4, runs=3)
    require_sources(study)
    require_sources(study)
    assert len(n_counts) == 1
    # another need, then another file
    require_sources(study_of(tmp_path, 4, runs=4))
    assert len(n_counts) == 2
    with pytest.raises(StudyError, match="3"):
        require_sources(study_of(tmp_path, 3, runs=4))
    assert len(n_counts) == 3


def test_too_few_are_counted_every_time(tmp_path: Path, n_counts: list[str]) -> None:
    study = study_of(tmp_path, 2, runs=3)
    for _ in range(2):
        with pytest.raises(StudyError):
            require_sources(study)
    assert len(n_counts) == 2
    assert not COUNTS_FILE.exists()
