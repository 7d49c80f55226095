"""Which tables an archive holds, and which of their columns are blank."""

import csv
import json
import re
from pathlib import Path
from typing import Any

import pytest

from fieldwork.config.archive import archive_plan
from fieldwork.config.archive_tables import ANSWER_COLUMNS, GROUP_COLUMNS, TEXT_COLUMNS
from fieldwork.config.study import Study
from fieldwork.exports.archive.contents import ArchivePlan
from unit.config.test_study import study

MEMORY = "studies/personalisation.yaml"
CLOSED_QUESTIONS = {"recommendations": {"license": "all rights reserved"}}
COLUMNS = {
    "item": "question_id",
    "question": "question",
    "options": "choices",
    "gold": "right",
    "answer": "reply",
    "user": "persona",
    "replicate": "run",
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


def plan(a_study: Study) -> ArchivePlan:
    return ArchivePlan(**archive_plan(a_study))


def left_out(a_plan: ArchivePlan) -> dict[str, str]:
    return {what: why for what, why, _ in a_plan.left_out}


def texts_of(a_plan: ArchivePlan) -> dict[str, bool]:
    """Whether the texts of units are blank, by their entry."""
    return {
        Path(path).stem: "question" in columns
        for path, columns in a_plan.first_tables.items()
        if path.startswith("judging/texts/")
    }


# ---- questions -----------------------------------------------------------------------------------


def test_units_show_no_question_that_may_not_be_handed_on() -> None:
    whole, closed = plan(study(MEMORY)), plan(study(MEMORY, datasets=CLOSED_QUESTIONS))
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
    closed = plan(study(datasets={"sample_mmlu": {"license": "all rights reserved"}}))
    assert {path for path in closed.pages if re.search("fig2|values", path)} == set()
    assert {"figures/fig1.svg", "figures/fig3.svg"} <= {*closed.pages}
    (row,) = [what for what in left_out(closed) if what.startswith("figures ")]
    assert "fig2" in row
    assert not any(what.startswith("figures ") for what in left_out(plan(study())))


# ---- recordings ----------------------------------------------------------------------------------


def recorded(folder: Path, license_name: str, **changes: Any) -> ArchivePlan:
    """A study of answers that were collected elsewhere, with their questions, and corrections of them."""
    (folder / "corrections.csv").write_text("task,item_id,raw,canonical\n")
    with (folder / "answers.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS.values())
        writer.writerow(["q1", "Secret?", json.dumps(["x", "y"]), "A", "A, it is secret", "", "1"])
    source = {"format": "recording", "dataset": "last", "kind": "choice"}
    return plan(
        study(
            recordings={
                "last": {
                    "format": "table",
                    "path": str(folder / "answers.csv"),
                    "license": license_name,
                    "columns": COLUMNS,
                }
            },
            models={"gpt": {"provider": "recorded", "label": "GPT", "recording": "last"}},
            conditions={"blank": {"context": "none", "label": "No", "temperature": 1}},
            tasks={
                "survey": {"sources": [source], "runs": 10, "max_tokens": 100},
                "quiz": {
                    "sources": [{"format": "mmlu", "dataset": "sample_mmlu", "kind": "choice"}],
                    "runs": 10,
                    "max_tokens": 100,
                },
            },
            metrics={"baseline": "blank"},
            parsing={"overrides": "corrections.csv"},
            study={"models": ["gpt"], "conditions": ["blank"], "tasks": ["survey"], "primary": []}
            | changes,
        )
    )


@pytest.mark.parametrize("task", ["survey", "quiz"])
def test_a_recording_that_may_not_be_handed_on_stays_out(folder: Path, task: str) -> None:
    closed = recorded(folder, "LMSYS-Chat-1M agreement", tasks=[task])
    assert not closed.is_whole
    assert not closed.explorer
    assert [*closed.prompts] == ([] if task == "survey" else ["tasks/quiz.parquet"])
    assert closed.first_tables[f"responses/gpt/{task}/blank.parquet"] == ANSWER_COLUMNS
    assert closed.tables["answers/answers.parquet"] == ANSWER_COLUMNS
    assert "answers/items.csv" not in closed.tables
    assert [*closed.remade] == ["metrics/claims.parquet", "metrics/claims.csv"]
    files = ["corrections.csv", "inputs/recordings.last.path/answers.csv"]
    assert closed.config["archived"]["left_out"] == files
    assert not {*files} & {*closed.inputs}
    reasons = left_out(closed)
    assert {"texts of recordings.last", "parsing.overrides"} <= {*reasons}
    assert any(what.startswith("tables/answers/items.csv") for what in reasons)


# ---- people --------------------------------------------------------------------------------------


def test_groups_of_users_stay_out_of_tables_too(folder: Path) -> None:
    (folder / "groups.csv").write_text("user_id,group\nu1,patients\n")
    grouped = plan(study(MEMORY, judging={"groups": "groups.csv"}))
    tables = grouped.first_tables
    assert {*tables["judging/units.parquet"]} >= {*GROUP_COLUMNS}
    assert tables["judging/texts/answers.parquet"] == GROUP_COLUMNS
    assert "groups.csv" not in grouped.inputs
    # made again from units without groups they would be others
    estimates = {f"metrics/judgements{end}" for end in (".parquet", ".csv")}
    assert estimates <= {*tables} & {*grouped.tables}
    assert not estimates & {*grouped.remade}
    assert grouped.is_whole
    assert "groups of users (judging.groups)" in left_out(grouped)
    assert GROUP_COLUMNS[0] not in plan(study(MEMORY)).first_tables["judging/units.parquet"]


def test_a_memory_study_of_a_closed_corpus() -> None:
    closed = plan(study(MEMORY, archive={"texts": {"sample": False}}))
    assert closed.is_whole
    assert closed.first_tables["memory/attributes.parquet"] == TEXT_COLUMNS
    assert all(texts_of(closed).values())
    assert not any("tasks/memory" in path for path in closed.first_tables)


def test_a_task_with_one_closed_source_of_two_is_closed() -> None:
    sources = [
        {"format": "mmlu", "dataset": "sample_mmlu"},
        {"format": "items", "kind": "choice", "dataset": "sample_ethics"},
    ]
    tasks, prompts = {"choices_lite": {"sources": sources}}, "tasks/choices_lite.parquet"
    closed = plan(study(tasks=tasks, datasets={"sample_mmlu": {"license": "all rights reserved"}}))
    assert prompts not in closed.prompts
    assert prompts in plan(study(tasks=tasks)).prompts
