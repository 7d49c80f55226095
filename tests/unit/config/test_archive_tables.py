"""Which tables an archive holds, and which of their columns are blank."""

import csv
import json
import re
from pathlib import Path
from typing import Any

import pytest

from fieldwork.config.archive_tables import ANSWER_COLUMNS, GROUP_COLUMNS, TEXT_COLUMNS
from fieldwork.exports.archive.contents import ArchivePlan
from unit.config.archive_plans import CLOSED, left_out_files, plan, reasons
from unit.shipped_config import study

MEMORY = "studies/personalisation.yaml"
COLUMNS = {
    **{"item": "question_id", "question": "question", "options": "choices", "gold": "right"},
    **{"answer": "reply", "user": "persona", "replicate": "run"},
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of a study with the tables of memory and judging."""
    for name in (
        "memory/attributes",
        "memory/selected/recommendations_lite/memory_relevant",
        "memory/texts/recommendations_lite/memory_relevant",
        "judging/judgements",
        "judging/units",
        *(f"judging/texts/{units}" for units in ("attributes", "relevance", "answers")),
    ):
        path = tmp_path / f"results/personalisation/{name}.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def texts_of(a_plan: ArchivePlan) -> dict[str, bool]:
    """Whether the texts of units are blank, by their entry."""
    return {
        Path(path).stem: "question" in columns
        for path, columns in a_plan.first_tables.items()
        if path.startswith("judging/texts/")
    }


def test_units_show_no_question_that_may_not_be_handed_on() -> None:
    whole, closed = plan(study(MEMORY)), plan(study(MEMORY, datasets={"recommendations": CLOSED}))
    assert texts_of(whole) == {"attributes": False, "relevance": False, "answers": False}
    assert texts_of(closed) == {"attributes": False, "relevance": True, "answers": True}
    judged_tasks = {f"tasks/judging.{name}.parquet" for name in ("relevance", "answers")}
    assert judged_tasks < {*whole.first_tables}
    assert not judged_tasks & {*closed.first_tables}
    assert "tasks/judging.attributes.parquet" in closed.first_tables
    assert not any("judging.answers" in path for path in closed.ledgers["smollm2"])
    memory_texts = "memory/texts/recommendations_lite/memory_relevant.parquet"
    assert closed.first_tables[memory_texts] == TEXT_COLUMNS
    assert whole.first_tables[memory_texts] == ()


def test_figures_print_no_question_that_may_not_be_handed_on() -> None:
    closed = plan(study(datasets={"sample_mmlu": CLOSED}))
    assert not [path for path in closed.pages if re.search("fig2|values", path)]
    assert {"figures/fig1.svg", "figures/fig3.svg"} <= {*closed.pages}
    (row,) = [what for what in reasons(closed) if what.startswith("figures ")]
    assert "fig2" in row
    assert not any(what.startswith("figures ") for what in reasons(plan(study())))


@pytest.mark.parametrize("task", ["survey", "quiz"])
def test_a_recording_that_may_not_be_handed_on_stays_out(folder: Path, task: str) -> None:
    """Of answers that were collected elsewhere, with their questions, and corrections of them."""
    (folder / "corrections.csv").write_text("task,item_id,raw,canonical\n")
    with (folder / "answers.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS.values())
        writer.writerow(["q1", "Secret?", json.dumps(["x", "y"]), "A", "A, it is secret", "", "1"])
    recording = {"format": "table", "path": str(folder / "answers.csv"), "columns": COLUMNS}
    sources = {"survey": ("recording", "last"), "quiz": ("mmlu", "sample_mmlu")}
    tasks = {
        name: {
            "sources": [{"format": form, "dataset": dataset, "kind": "choice"}],
            **{"runs": 10, "max_tokens": 100},
        }
        for name, (form, dataset) in sources.items()
    }
    closed = plan(
        study(
            recordings={"last": recording | {"license": "LMSYS-Chat-1M agreement"}},
            models={"gpt": {"provider": "recorded", "label": "GPT", "recording": "last"}},
            conditions={"blank": {"context": "none", "label": "No", "temperature": 1}},
            tasks=tasks,
            metrics={"baseline": "blank"},
            parsing={"overrides": "corrections.csv"},
            study={"models": ["gpt"], "conditions": ["blank"], "tasks": [task], "primary": []},
        )
    )
    assert not closed.is_whole
    assert not closed.explorer
    assert [*closed.prompts] == ([] if task == "survey" else ["tasks/quiz.parquet"])
    assert closed.first_tables[f"responses/gpt/{task}/blank.parquet"] == ANSWER_COLUMNS
    assert closed.tables["answers/answers.parquet"] == ANSWER_COLUMNS
    assert "answers/items.csv" not in closed.tables
    assert [*closed.remade] == ["metrics/claims.parquet", "metrics/claims.csv"]
    files = ["corrections.csv", "inputs/recordings.last.path/answers.csv"]
    assert left_out_files(closed) == files
    assert not {*files} & {*closed.inputs}
    assert {"texts of recordings.last", "parsing.overrides"} <= {*reasons(closed)}
    assert any(what.startswith("tables/answers/items.csv") for what in reasons(closed))


def test_groups_of_users_stay_out_of_tables_too(folder: Path) -> None:
    (folder / "groups.csv").write_text("user_id,group\nu1,patients\n")
    grouped: Any = plan(study(MEMORY, judging={"groups": "groups.csv"}))
    assert {*grouped.first_tables["judging/units.parquet"]} >= {*GROUP_COLUMNS}
    assert grouped.first_tables["judging/texts/answers.parquet"] == GROUP_COLUMNS
    assert "groups.csv" not in grouped.inputs
    # made again from units without groups they would be others
    estimates = {f"metrics/judgements{end}" for end in (".parquet", ".csv")}
    assert estimates <= {*grouped.first_tables} & {*grouped.tables}
    assert not estimates & {*grouped.remade}
    assert grouped.is_whole
    assert "groups of users (judging.groups)" in reasons(grouped)
    assert GROUP_COLUMNS[0] not in plan(study(MEMORY)).first_tables["judging/units.parquet"]


def test_a_memory_study_of_a_closed_corpus() -> None:
    closed = plan(study(MEMORY, archive={"texts": {"sample": False}}))
    assert closed.is_whole
    assert closed.first_tables["memory/attributes.parquet"] == TEXT_COLUMNS
    assert all(texts_of(closed).values())
    assert not any("tasks/memory" in path for path in closed.first_tables)


def test_a_task_with_one_closed_source_of_two_is_closed() -> None:
    ethics = {"format": "items", "kind": "choice", "dataset": "sample_ethics"}
    tasks = {"choices_lite": {"sources": [{"format": "mmlu", "dataset": "sample_mmlu"}, ethics]}}
    prompts = "tasks/choices_lite.parquet"
    assert prompts not in plan(study(tasks=tasks, datasets={"sample_mmlu": CLOSED})).prompts
    assert prompts in plan(study(tasks=tasks)).prompts
