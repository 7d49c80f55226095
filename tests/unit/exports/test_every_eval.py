"""A study's answers as records of every_eval_ever, and back as a recording."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from fieldwork.exports.every_eval import ExportedModel, ModelExport, StudyTables, every_eval_exports
from fieldwork.files.recordings.answers import Recording, read_answers
from fieldwork.records.estimates import Estimate
from fieldwork.records.generation import Response
from fieldwork.records.parsing import Answer
from fieldwork.records.tasks import Item
from unit.table_rows import answer_of, response_of, row_of

ENTRY = {"provider": "openai", "label": "GPT-4o mini", "model": "gpt-4o-mini"}

REQUIRED = {
    *("schema_version", "evaluation_id", "model_id", "evaluation_name", "sample_id"),
    *("interaction_type", "input", "answer_attribution", "evaluation"),
}
ALLOWED = REQUIRED | {
    *("evaluation_result_id", "sample_hash", "output", "messages", "token_usage", "performance"),
    *("error", "metadata"),
}
"""Keys of a line, by the schema of 0.3: further ones are refused."""


def response(**more: Any) -> Response:
    keys = {"model": "gpt", "task": "quiz", "condition": "history", "item_id": "q1"}
    user = {"context_id": "c1", "puppet_id": "u1", "text": "A"}
    call = {"input_tokens": 9, "output_tokens": 1, "latency_s": 0.25}
    return response_of(**keys | user | call | more)


def answer_to(row: Response, letter: str | None) -> Answer:
    names = ("model", "task", "condition", "item_id", "puppet_id", "replicate", "outcome")
    key = {name: getattr(row, name) for name in names}
    return answer_of(**key, letter_strict=letter, letter=letter)


def item(name: str, gold: str | None) -> Item:
    choices = {"prompt": "Round?\nA. yes\nB. no", "choices": ["yes", "no"], "gold": gold}
    return row_of(Item, item_id=name, kind="choice", question="Round?", **choices)


def score(**more: Any) -> Estimate:
    keys = {"model": "gpt", "task": "quiz", "condition": "history", "measure": "em_strict"}
    sizes = {"n_units": 2, "n_items": 1, "unit": "puppet", "reference": "baseline"}
    return row_of(Estimate, **keys | sizes | {"value": 0.5, "ci_low": 0.25, "ci_high": 0.75} | more)


def exported(rows: list[tuple[Response, str | None]], *scores: Estimate) -> ModelExport:
    study = StudyTables(
        name="mine",
        version="0.1.0",
        items={("quiz", "q1"): item("q1", "A"), ("quiz", "q2"): item("q2", None)},
        responses=[row for row, _ in rows],
        answers=[answer_to(*pair) for pair in rows],
        scores=scores or [score()],
        temperatures={"history": 1.0, "offline": None},
        max_tokens={"quiz": 5},
    )
    (export,) = every_eval_exports(study, [ExportedModel("gpt", ENTRY)])
    return export


def test_an_export_bears_the_time_of_the_last_answer() -> None:
    """So two exports of one study are the same."""
    times = [datetime(2026, 3, day, tzinfo=UTC) for day in (2, 9, 4)]
    rows = [response(puppet_id=f"u{n}", started_at=t) for n, t in enumerate([*times, None])]
    record = exported([(row, "A") for row in rows]).record
    assert record["retrieved_timestamp"] == str(int(times[1].timestamp()))


def test_a_line_for_each_scored_answer() -> None:
    rows = [
        (response(), "A"),
        (response(puppet_id="u2", text="No idea", input_tokens=None, latency_s=None), None),
        (response(item_id="q2"), "A"),
        (response(condition="offline", puppet_id=None, context_id=None), "A"),
    ]
    export = exported(rows, score(), score(measure="format_failure", value=0.1))
    first, second = map(json.loads, export.samples.splitlines())
    assert REQUIRED <= set(first) <= ALLOWED
    assert first["evaluation"] == {"score": 1.0, "is_correct": True}
    assert first["metadata"]["user"] == "u1"
    assert first["metadata"]["condition"] == "history"
    assert all(isinstance(value, str) for value in first["metadata"].values())
    assert first["token_usage"]["total_tokens"] == 10
    assert first["performance"] == {"latency_ms": 250.0}
    assert second["evaluation"]["is_correct"] is False
    assert second["answer_attribution"] == []
    assert not {"token_usage", "performance"} & set(second)


def test_the_record_and_its_samples_belong_together() -> None:
    export = exported([(response(), "A")])
    record = export.record
    detail = record["detailed_evaluation_results"]
    assert detail["file_path"] == export.samples_path == export.path[:-5] + "_samples.jsonl"
    assert detail["total_rows"] == 1
    line = json.loads(export.samples)
    assert line["evaluation_id"] == record["evaluation_id"]
    assert line["model_id"] == record["model_info"]["id"] == "openai/gpt-4o-mini"
    assert export.path.startswith("data/mine/openai/gpt-4o-mini/")
    (result,) = record["evaluation_results"]
    assert line["evaluation_result_id"] == result["evaluation_result_id"]
    assert result["score_details"]["uncertainty"]["confidence_interval"]["lower"] == 0.25
    assert result["generation_config"]["generation_args"] == {"temperature": 1.0, "max_tokens": 5}


@pytest.mark.parametrize(
    ("entry", "identity"),
    [
        (ENTRY, "openai/gpt-4o-mini"),
        ({"provider": "recorded", "recorded_as": "meta-llama/Llama-3.1"}, "meta-llama/Llama-3.1"),
        ({"provider": "recorded", "recorded_as": None}, "recorded/gpt"),
        ({"provider": "local_chat", "repo": "Qwen/Qwen3-0.6B"}, "Qwen/Qwen3-0.6B"),
    ],
)
def test_names_of_models(entry: dict[str, Any], identity: str) -> None:
    assert ExportedModel("gpt", entry).identity == identity


def test_what_is_exported_is_read_again(tmp_path: Path) -> None:
    rows = [(response(), "A"), (response(replicate=1, text="B"), "B")]
    export = exported(rows)
    path = tmp_path / "x_samples.jsonl"
    path.write_text(export.samples)
    answers = [*read_answers([path], Recording(name="own", format="every_eval_ever"))]
    assert [(a.item, a.user, a.replicate, a.text) for a in answers] == [
        ("q1", "u1", "0", "A"),
        ("q1", "u1", "1", "B"),
    ]
    assert answers[0].latency_s == 0.25
    assert (answers[0].gold, answers[0].options) == ("A", ["yes", "no"])
