"""Counting the puppets of small files before anything runs: what is enough is not counted again."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from fieldwork.config import plan_inputs
from fieldwork.config.plan_inputs import COUNTS_FILE, require_sources
from fieldwork.errors import StudyError
from unit.shipped_config import study


def require(folder: Path, conversations: int, runs: int) -> None:
    """Count a corpus of so many users for a task of so many runs."""
    talks = [
        {"user": f"u{k}", "conversation": f"c{k}", "role": role, "text": "words"}
        for k in range(conversations)
        for role in ("user", "assistant") * 2
    ]
    file, text = folder / "talks.jsonl", "\n".join(map(json.dumps, talks))
    if not file.exists() or file.read_text(encoding="utf-8") != text:
        file.write_text(text, encoding="utf-8")
    selection = {"corpus": "own", "conditions": ["history"], "tasks": ["mmlu_lite"]}
    require_sources(
        study(
            study={**selection, "primary": []},
            corpora={"own": {"format": "messages", "path": "talks.jsonl"}},
            filters={"min_user_turns": 2, "languages": []},
            tasks={"mmlu_lite": {"runs": runs}},
            metrics={"baseline": "history"},
        )
    )


def test_enough_is_not_counted_again_until_something_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    starts: list[Any] = []
    run = subprocess.run

    def counting_run(*arguments: Any, **settings: Any) -> Any:
        starts.append(arguments)
        return run(*arguments, **settings)

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(plan_inputs.subprocess, "run", counting_run)
    # too few are counted every time
    for _ in range(2):
        with pytest.raises(StudyError):
            require(tmp_path, 2, runs=3)
    assert len(starts) == 2
    assert not COUNTS_FILE.exists()
    for _ in range(2):
        require(tmp_path, 4, runs=3)
    assert len(starts) == 3
    # another need, then another file
    require(tmp_path, 4, runs=4)
    assert len(starts) == 4
    with pytest.raises(StudyError, match="3"):
        require(tmp_path, 3, runs=4)
    assert len(starts) == 5
