"""A study's scores as evaluations of every_eval_ever 0.3: a record a model, a line an answer.

Only questions with a right answer have a score, so lists and surveys are left out. A user's context
stands under `metadata`, by the ids of user and context: contexts may hold what real people wrote, and are
in the study's own tables. What is not known is left out, or `unknown` where the format needs a value.
"""

import hashlib
import json
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from uuid import UUID

from fieldwork.records.estimates import Estimate
from fieldwork.records.generation import Response
from fieldwork.records.parsing import Answer
from fieldwork.records.tasks import Item

JsonObject = dict[str, Any]

SCHEMA_VERSION = "0.3.0"
METRIC = "em_strict"
"""The metric that lines of answers belong to: HELM's exact match."""

_METRICS = {
    "em_strict": "Share of questions answered with the right letter, read as HELM reads it.",
    "em_flexible": "Share of questions answered with the right letter, wherever the answer states it.",
}
_DEVELOPERS = {
    "openai": "openai",
    "gemini": "google",
    "anthropic": "anthropic",
    "embedded": "fieldwork",
    "recorded": "recorded",
}
# providers whose weights are on the machine that asks
_LOCAL = ("embedded", "local_chat")


class ExportedModel(NamedTuple):
    """A model as the export names it.

    Attributes:
        name: in the config.
        entry: of `models`, with defaults.
    """

    name: str
    entry: Mapping[str, Any]

    @property
    def identity(self) -> str:
        """`developer/model`: the model's own id, or one under the name of its interface."""
        keys = ("model", "recorded_as", "encoder", "repo", "package")
        own_name = Path(self.entry["path"]).name if self.entry.get("path") else self.name
        model_id = str(next((self.entry[key] for key in keys if self.entry.get(key)), own_name))
        developer, slash, model = model_id.rpartition("/")
        if slash:
            return f"{portable_name(developer.replace('/', '_'))}/{portable_name(model)}"
        return f"{_DEVELOPERS.get(self.entry['provider'], 'local')}/{portable_name(model_id)}"


class StudyTables(NamedTuple):
    """The tables of a study that an export is made from, and its settings.

    Attributes:
        temperatures: of each condition; None where it is not known.
        max_tokens: of each task.
    """

    name: str
    version: str
    items: Mapping[tuple[str, str], Item]
    responses: Sequence[Response]
    answers: Sequence[Answer]
    scores: Sequence[Estimate]
    temperatures: Mapping[str, float | None]
    max_tokens: Mapping[str, int]

    @property
    def last_answer_time(self) -> int:
        """When the last answer was asked for, in seconds since 1970; without any time, the present one.

        So the same study is the same export, whenever it is written.
        """
        times = [row.started_at.timestamp() for row in self.responses if row.started_at]
        return int(max(times, default=time.time()))


class ModelExport(NamedTuple):
    """The two files of a model.

    Attributes:
        path: of the record, from the folder of the export; the samples lie beside it.
    """

    path: str
    record: JsonObject
    samples: str

    @property
    def samples_path(self) -> str:
        return self.path.removesuffix(".json") + "_samples.jsonl"


def portable_name(text: str) -> str:
    """A name that every file system allows."""
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", text).strip(".-") or "model"


def every_eval_exports(
    study: StudyTables, models: Sequence[ExportedModel]
) -> Iterator[ModelExport]:
    """The files of each model that has scores."""
    for model in models:
        results = [*_results(study, model)]
        lines = [*_samples(study, model)]
        if not results or not lines:
            continue
        samples = "".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in lines)
        digest = hashlib.sha256(f"{study.name}/{model.identity}".encode()).digest()
        folder = f"data/{portable_name(study.name)}/{model.identity}"
        path = f"{folder}/{UUID(bytes=digest[:16], version=4)}.json"
        record = _record(study, model, results)
        export = ModelExport(path, record, samples)
        record["detailed_evaluation_results"] = {
            "format": "jsonl",
            "file_path": export.samples_path,
            "hash_algorithm": "sha256",
            "checksum": hashlib.sha256(samples.encode()).hexdigest(),
            "total_rows": len(lines),
        }
        yield export


def _evaluation_id(study: StudyTables, model: ExportedModel) -> str:
    return f"{study.name}/{model.identity.replace('/', '_')}/{study.last_answer_time}"


def _record(study: StudyTables, model: ExportedModel, results: list[JsonObject]) -> JsonObject:
    provider = model.entry["provider"]
    details = {
        "deployment_type": "self_deployed" if provider in _LOCAL else "unknown",
        "model_availability": "open_weights" if provider in _LOCAL else "unknown",
        "provider": provider,
    }
    return {
        "schema_version": SCHEMA_VERSION,
        "evaluation_id": _evaluation_id(study, model),
        "retrieved_timestamp": str(study.last_answer_time),
        "source_metadata": {
            "source_name": f"Fieldwork study {study.name}",
            "source_type": "evaluation_run",
            "source_organization_name": "unknown",
            "evaluator_relationship": "other",
        },
        "eval_library": {"name": "fieldwork", "version": study.version},
        "model_info": {
            "name": model.entry["label"],
            "id": model.identity,
            "developer": model.identity.split("/")[0],
            "additional_details": details,
        },
        "evaluation_results": results,
    }


def _result_id(task: str, condition: str, metric: str) -> str:
    return f"{task}/{condition}/{metric}"


def _results(study: StudyTables, model: ExportedModel) -> Iterator[JsonObject]:
    for score in sorted(study.scores, key=lambda s: (s.task, s.condition, s.measure)):
        is_of_arm = score.reference == "baseline" and score.measure in _METRICS
        if score.model != model.name or not is_of_arm or score.value is None:
            continue
        unit = "puppet" if score.unit == "puppet" else "rerun"
        uncertainty: JsonObject = {"num_samples": score.n_units}
        if score.ci_low is not None and score.ci_high is not None:
            uncertainty["confidence_interval"] = {
                "lower": score.ci_low,
                "upper": score.ci_high,
                "confidence_level": 0.95,
                "method": f"over {unit}s (docs/methods.md)",
            }
        arguments: JsonObject = {"max_tokens": study.max_tokens[score.task]}
        if study.temperatures.get(score.condition) is not None:
            arguments["temperature"] = study.temperatures[score.condition]
        yield {
            "evaluation_result_id": _result_id(score.task, score.condition, score.measure),
            "evaluation_name": f"{score.task} ({score.condition})",
            "source_data": {"dataset_name": score.task, "source_type": "other"},
            "metric_config": {
                "evaluation_description": _METRICS[score.measure],
                "metric_id": score.measure,
                "metric_name": "Exact match",
                "metric_kind": "accuracy",
                "metric_unit": "proportion",
                "lower_is_better": False,
                "score_type": "continuous",
                "min_score": 0.0,
                "max_score": 1.0,
            },
            "score_details": {
                "score": score.value,
                "details": {
                    "unit": unit,
                    "n_runs": str(score.n_units),
                    "n_items": str(score.n_items),
                },
                "uncertainty": uncertainty,
            },
            "generation_config": {"generation_args": arguments},
        }


def _samples(study: StudyTables, model: ExportedModel) -> Iterator[JsonObject]:
    arms_with_scores = {
        (s.task, s.condition)
        for s in study.scores
        if s.model == model.name and s.measure == METRIC and s.value is not None
    }
    answers = {_key(answer): answer for answer in study.answers if answer.model == model.name}
    for response in study.responses:
        item = study.items[response.task, response.item_id]
        is_of_model = (
            response.model == model.name and (response.task, response.condition) in arms_with_scores
        )
        answer = answers.get(_key(response))
        if is_of_model and item.gold is not None and answer is not None:
            yield _sample(study, model, item, response, answer)


def _key(row: Response | Answer) -> tuple[str, str, str, str | None, int]:
    return (row.task, row.condition, row.item_id, row.puppet_id, row.replicate)


def _sample(
    study: StudyTables, model: ExportedModel, item: Item, response: Response, answer: Answer
) -> JsonObject:
    letter, gold = answer.letter_strict, item.gold or ""
    sample: JsonObject = {
        "schema_version": SCHEMA_VERSION,
        "evaluation_id": _evaluation_id(study, model),
        "model_id": model.identity,
        "evaluation_name": f"{response.task} ({response.condition})",
        "evaluation_result_id": _result_id(response.task, response.condition, METRIC),
        "sample_id": item.item_id,
        "sample_hash": hashlib.sha256(f"{item.question}{gold}".encode()).hexdigest(),
        "interaction_type": "single_turn",
        "input": {
            "raw": item.question,
            "formatted": item.prompt,
            "reference": [gold],
            "choices": item.choices,
        },
        "output": {"raw": [response.text or ""]},
        "messages": None,
        "answer_attribution": [_attribution(letter)] if letter is not None else [],
        "evaluation": {"score": float(letter == gold), "is_correct": letter == gold},
        "metadata": _metadata(item, response),
    }
    if response.input_tokens is not None and response.output_tokens is not None:
        sample["token_usage"] = {
            "input_tokens": response.input_tokens,
            "output_tokens": response.output_tokens,
            "total_tokens": response.input_tokens + response.output_tokens,
            "input_tokens_cache_read": response.cached_tokens,
            "reasoning_tokens": response.reasoning_tokens,
        }
    if response.latency_s is not None:
        sample["performance"] = {"latency_ms": response.latency_s * 1000}
    if response.outcome == "failed":
        sample["error"] = "no answer arrived"
    return sample


def _attribution(letter: str) -> JsonObject:
    return {
        "turn_idx": 0,
        "source": "output.raw",
        "extracted_value": letter,
        "extraction_method": "exact_match",
        "is_terminal": True,
    }


def _metadata(item: Item, response: Response) -> dict[str, str]:
    """What the format has no place for: who was before the question, and which repeat it is."""
    values = {
        "task": response.task,
        "condition": response.condition,
        "user": response.puppet_id,
        "context_id": response.context_id,
        "replicate": str(response.replicate),
        "subject": item.subject,
        "finish_reason": response.finish_reason,
        "outcome": response.outcome,
        "recorded_in": response.source,
    }
    return {name: value for name, value in values.items() if value is not None}
