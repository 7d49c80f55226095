"""Answers read out of the logs of other tools; the files have the fields that those tools write."""

import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from fieldwork.errors import StudyError
from fieldwork.files.recordings.answers import RecordedAnswer, Recording, read_answers


def read(path: Path, form: str, columns: Mapping[str, Any] = {}) -> list[RecordedAnswer]:
    return [*read_answers([path], Recording(name="logs", format=form, columns=columns, rows={}))]


def refuses(path: Path, form: str, content: str, message: str) -> None:
    path.write_text(content)
    with pytest.raises(StudyError, match=message):
        read(path, form)


def inspect_sample(item: str, epoch: int, text: str | None, **more: Any) -> dict[str, Any]:
    """A sample as inspect_ai 0.3 writes it, without its events."""
    message = {"id": "m", "content": text, "source": "generate", "role": "assistant"}
    choice = {"message": message, "stop_reason": more.pop("stop_reason", "stop")}
    prompt = "Answer: What is 1+1?\n\nA) 1\nB) 2\nC) 3"
    output = {
        "model": "mockllm/model-2026", "choices": [] if text is None else [choice],
        "completion": text or "", "time": 0.25,
        "usage": {"input_tokens": 10, "output_tokens": 3, "total_tokens": 13},
    }  # fmt: skip
    return {
        "id": item, "epoch": epoch, "input": "What is 1+1?", "choices": ["1", "2", "3"],
        "target": "B", "messages": [{"role": "user", "content": prompt}], "output": output,
        "scores": {}, "metadata": {"persona": "p1", "subject": "sums"}, "store": {}, "events": [],
        "started_at": "2026-11-22T17:42:44.305351+00:00", "attachments": {}, **more,
    }  # fmt: skip


def inspect_log(*samples: dict[str, Any]) -> dict[str, Any]:
    return {
        "version": 2, "status": "success",
        "eval": {"task": "sums", "model": "mockllm/model", "model_generate_config": {}},
        "plan": {"name": "plan", "steps": [], "config": {"temperature": 0.5}},
        "samples": [*samples],
    }  # fmt: skip


def write_eval(path: Path, log: Mapping[str, Any], *, zstandard: bool) -> Path:
    """An `.eval` archive; Inspect writes its files with Zstandard, method 93, since 2025."""
    parts = {"header.json": {k: v for k, v in log.items() if k != "samples"}}
    parts |= {f"samples/{s['id']}_epoch_{s['epoch']}.json": s for s in log["samples"]}
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in parts.items():
            data = json.dumps(content).encode()
            archive.writestr(name, pa.compress(data, "zstd", asbytes=True) if zstandard else data)
    if zstandard:
        stored, method = b"PK\x03\x04", (93).to_bytes(2, "little")
        raw = bytearray(path.read_bytes())
        for signature, offset in ((stored, 8), (b"PK\x01\x02", 10)):
            place = raw.find(signature)
            while place >= 0:
                raw[place + offset : place + offset + 2] = method
                place = raw.find(signature, place + 4)
        path.write_bytes(raw)
    return path


@pytest.mark.parametrize("kind", ["json", "stored", "zstandard"])
def test_a_log_of_inspect(tmp_path: Path, kind: str) -> None:
    log = inspect_log(
        inspect_sample("q1", 1, "ANSWER: B"),
        inspect_sample("q1", 2, "ANSW", stop_reason="max_tokens"),
        inspect_sample("q2", 1, None, error={"message": "no route to host", "traceback": ""}),
    )
    path = tmp_path / ("log.json" if kind == "json" else "log.eval")
    if kind == "json":
        path.write_text(json.dumps(log))
    else:
        write_eval(path, log, zstandard=kind == "zstandard")
    first, second, third = read(path, "inspect", {"user": "metadata.persona"})
    assert (first.item, first.text, first.replicate, first.user) == ("q1", "ANSWER: B", "1", "p1")
    assert (first.question, first.options, first.gold) == ("What is 1+1?", ["1", "2", "3"], "B")
    assert (first.prompt or "").startswith("Answer: What is 1+1?")
    assert (first.model, first.returned_model) == ("mockllm/model", "mockllm/model-2026")
    assert (first.temperature, first.latency_s, first.input_tokens) == (0.5, 0.25, 10)
    assert (first.subject, first.cached_tokens) == ("sums", None)
    assert first.started_at is not None
    assert first.source == f"{path.name}: sample q1, epoch 1"
    assert second.finish_reason == "max_tokens"
    assert (third.text, third.error) == (None, "no route to host")


def test_parts_of_a_message_that_are_text_are_the_answer(tmp_path: Path) -> None:
    parts = [{"type": "reasoning", "reasoning": "hm"}, {"type": "text", "text": "B"}]
    sample = inspect_sample("q", 1, "x", input=[{"role": "user", "content": "Why?"}])
    sample["output"]["choices"][0]["message"]["content"] = parts
    path = tmp_path / "log.json"
    path.write_text(json.dumps(inspect_log(sample)))
    (answer,) = read(path, "inspect")
    assert (answer.text, answer.question) == ("B", "Why?")


@pytest.mark.parametrize(
    ("form", "name", "content", "message"),
    [
        ("inspect", "log.json", '{"samples": []}', r"log\.json: is no log of Inspect"),
        ("inspect", "log.json", "{", "the file is not JSON"),
        ("helm", "stats.json", "[]", r"is no scenario_state\.json of HELM"),
        (
            "every_eval_ever",
            "x_samples.jsonl",
            '{"evaluation_results": []}',
            "line 1 is no instance of",
        ),
        ("lm_eval", "samples.jsonl", '{"results": {}}', "line 1 is no sample of lm-evaluation-har"),
    ],
)
def test_other_files_are_refused(
    tmp_path: Path, form: str, name: str, content: str, message: str
) -> None:
    refuses(tmp_path / name, form, content, message)


def test_a_damaged_archive_of_inspect_is_refused_by_its_part(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "cut.eval", "w") as archive:
        archive.writestr("_journal/start.json", "{}")
    with pytest.raises(StudyError, match=r"has no header\.json"):
        read(tmp_path / "cut.eval", "inspect")
    log = inspect_log(inspect_sample("q", 1, "B"))
    path = write_eval(tmp_path / "log.eval", log, zstandard=True)
    raw = bytearray(path.read_bytes())
    place = raw.find(b"samples/q_epoch_1.json") + 40
    raw[place : place + 60] = bytes(60)
    path.write_bytes(raw)
    with pytest.raises(StudyError, match=r"samples/q_epoch_1\.json"):
        read(path, "inspect")


SUM = "Question: What is 1+1?\nAnswer:"


def requests(*pairs: tuple[str, str]) -> dict[str, Any]:
    return {f"gen_args_{n}": {"arg_0": c, "arg_1": text} for n, (c, text) in enumerate(pairs)}


def harness_line(doc_id: int, resps: list[Any], **more: Any) -> str:
    """A line as `save_results_samples` writes it: arguments as objects, responses as texts."""
    doc = {"question": "What is 1+1?", "choices": ["1", "2"], "subject": "sums", "answer": 1}
    line = {
        "doc_id": doc_id, "doc": doc, "target": "1", "arguments": requests((SUM, " A"), (SUM, " B")),
        "resps": resps, "filtered_resps": resps, "filter": "none", "metrics": ["acc"],
        "doc_hash": "a", "prompt_hash": "b", "target_hash": "c", "acc": 1.0,
    }  # fmt: skip
    return json.dumps({**line, **more}) + "\n"


def harness_file(tmp_path: Path, *lines: str) -> Path:
    path = tmp_path / "meta-llama__Llama-3.1-8B" / "samples_sums_2026-01-16T15-23-47.jsonl"
    path.parent.mkdir()
    path.write_text("".join(lines))
    return path


def test_the_likeliest_option_is_the_answer(tmp_path: Path) -> None:
    path = harness_file(tmp_path, harness_line(7, [[["-3.5", "False"]], [["-0.5", "True"]]]))
    (answer,) = read(path, "lm_eval")
    assert (answer.item, answer.text, answer.gold) == ("sums/7", " B", "(B)")
    assert (answer.model, answer.temperature) == ("meta-llama/Llama-3.1-8B", None)
    assert (answer.question, answer.options) == ("What is 1+1?", ["1", "2"])
    assert answer.prompt == SUM


def test_likelihoods_without_the_question_are_no_answers(tmp_path: Path) -> None:
    """As `acc_mutual_info` asks for them besides, after those that follow the question."""
    arguments = requests(("Sum?", " A"), ("Sum?", " B"), ("", " A"), (" ", " B"))
    likelihoods = [[[value, "False"]] for value in ("-9", "-3", "-1", "-2")]
    line = harness_line(0, likelihoods, arguments=arguments)
    (answer,) = read(harness_file(tmp_path, line), "lm_eval")
    assert answer.text == " B"


@pytest.mark.parametrize(
    "arguments",
    [
        # the options stand in the context
        requests(("The cat is big, so", " it fits"), ("The box is big, so", " it fits")),
        requests(("Sum?", " A"), ("Sum?", " B"), ("Sum?", " C")),
        requests(("Sum?", " A")),
    ],
)
def test_likelihoods_that_are_not_one_an_option_are_refused(
    arguments: dict[str, Any], tmp_path: Path
) -> None:
    line = harness_line(0, [[["-3", "False"]]] * len(arguments), arguments=arguments)
    with pytest.raises(StudyError, match=r"line 1: .* are not one for each of its 2 options"):
        read(harness_file(tmp_path, line), "lm_eval")


def test_generated_texts_are_repeats_and_filters_are_not(tmp_path: Path) -> None:
    settings = {"do_sample": True, "temperature": 0.7, "until": ["\n"]}
    arguments = {"gen_args_0": {"arg_0": "What is 1+1?", "arg_1": settings}}
    lines = [
        harness_line(0, [["2", "two"]], filter=name, arguments=arguments)
        for name in ("strict-match", "flexible-extract")
    ]
    first, second = read(harness_file(tmp_path, *lines), "lm_eval")
    assert [(a.text, a.replicate) for a in (first, second)] == [("2", "0"), ("two", "1")]
    assert first.temperature == 0.7


def test_a_greedy_run_has_temperature_0_and_older_files_have_lists(tmp_path: Path) -> None:
    line = harness_line(0, [["2"]], arguments=[["What is 1+1?", {"do_sample": False}]])
    (answer,) = read(harness_file(tmp_path, line), "lm_eval")
    assert (answer.temperature, answer.prompt) == (0.0, "What is 1+1?")


def test_lines_that_are_no_json_are_named(tmp_path: Path) -> None:
    path = harness_file(tmp_path, harness_line(0, [["2"]]), "{not json\n")
    with pytest.raises(StudyError, match=r"samples_sums.*line 2 is not JSON"):
        read(path, "lm_eval")


def helm_state(**more: Any) -> dict[str, Any]:
    """A request state with the fields of HELM's `RequestState`."""
    references = [
        {"output": {"text": "1"}, "tags": []},
        {"output": {"text": "2"}, "tags": ["correct"]},
    ]
    completion = {"text": " B", "logprob": 0, "tokens": [], "finish_reason": {"reason": "length"}}
    state = {
        "instance": {
            "input": {"text": "What is 1+1?"}, "references": references, "split": "test", "id": "id12",
        },
        "train_trial_index": 0,
        "output_mapping": {"A": "1", "B": "2"},
        "request": {
            "model": "openai/gpt-4o", "prompt": "Question: What is 1+1?\nA. 1\nB. 2\nAnswer:",
            "temperature": 0.0, "max_tokens": 1,
        },
        "result": {
            "success": True, "embedding": [], "completions": [completion], "cached": True,
            "request_time": 0.8, "request_datetime": 1718000000,
        },
        "num_train_instances": 5,
        "prompt_truncated": False,
    }  # fmt: skip
    return {**state, **more}


def helm_file(
    tmp_path: Path, *states: dict[str, Any], method: str = "multiple_choice_joint"
) -> Path:
    path = tmp_path / "mmlu:subject=sums,method=multiple_choice_joint" / "scenario_state.json"
    path.parent.mkdir()
    adapter = {"method": method, "model": "openai/gpt-4o", "temperature": 0.0}
    path.write_text(json.dumps({"adapter_spec": adapter, "request_states": [*states]}))
    return path


def test_a_scenario_state_of_helm(tmp_path: Path) -> None:
    perturbed = helm_state()
    perturbed["instance"] = {**perturbed["instance"], "perturbation": {"name": "typos"}}
    lost = helm_state(result={"success": False, "error": "timeout", "completions": []})
    first, second = read(helm_file(tmp_path, helm_state(), perturbed, lost), "helm")
    assert (first.item, first.text, first.gold) == ("sums/id12", " B", "2")
    assert (first.subject, first.options, first.finish_reason) == ("sums", ["1", "2"], "length")
    assert (first.model, first.temperature, first.latency_s) == ("openai/gpt-4o", 0.0, 0.8)
    assert str(first.started_at) == "2024-06-10 06:13:20+00:00"
    assert (second.text, second.error) == (None, "timeout")


def test_options_that_were_scored_one_by_one_are_no_answers(tmp_path: Path) -> None:
    path = helm_file(tmp_path, helm_state(reference_index=0), method="multiple_choice_separate")
    with pytest.raises(StudyError, match=r"multiple_choice_separate\), so it holds no answers"):
        read(path, "helm")


def instance(**more: Any) -> str:
    """A line of the instance schema 0.3."""
    line: dict[str, Any] = {
        "schema_version": "0.3.0", "evaluation_id": "sums/openai_gpt-4o/1",
        "model_id": "openai/gpt-4o", "evaluation_name": "accuracy", "sample_id": "q1",
        "interaction_type": "single_turn",
        "input": {"raw": "What is 1+1?", "reference": ["2"], "choices": ["1", "2"]},
        "output": {"raw": ["B"]}, "messages": None, "answer_attribution": [],
        "evaluation": {"score": 1.0, "is_correct": True},
        "token_usage": {"input_tokens": 9, "output_tokens": 1, "total_tokens": 10},
        "performance": {"latency_ms": 250.0},
        "metadata": {"user": "u1", "replicate": "0", "condition": "history"},
    }  # fmt: skip
    return json.dumps({**line, **more}) + "\n"


def test_instances_of_every_eval_ever(tmp_path: Path) -> None:
    path, roles = tmp_path / "x_samples.jsonl", {"user": "?", "assistant": "last word"}
    talk = [{"turn_idx": n, "role": k, "content": v} for n, (k, v) in enumerate(roles.items())]
    path.write_text(
        instance()
        + instance(evaluation_name="f1")
        + instance(sample_id="q2", output=None, messages=talk, interaction_type="multi_turn")
        + instance(sample_id="q3", output={"raw": [""]}, error="rate limit")
    )
    first, second, third = read(path, "every_eval_ever")
    assert (first.item, first.text, first.user, first.replicate) == ("q1", "B", "u1", "0")
    assert (first.latency_s, first.input_tokens, first.gold) == (0.25, 9, "2")
    assert (second.item, second.text) == ("q2", "last word")
    assert (third.text, third.error) == (None, "rate limit")
