"""Samples of lm-evaluation-harness: `samples_{task}_{date}.jsonl`, in a folder named after the model.

A task of generated answers has texts. One of multiple choice has a log-likelihood for each option: the
answer is the option of the highest, which is how the harness scores `acc`, and the right option is given
by its place. Likelihoods after an empty context, which `acc_mutual_info` needs besides, are no answers. A
task with several filters
writes each document once for each; the answer is the same, so the first filter counts.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from string import ascii_uppercase
from typing import Any

from fieldwork.errors import StudyError
from fieldwork.files import json_values
from fieldwork.files.recordings.rows import RecordedRow, Role, list_of, mapping_of

_QUESTION_KEYS = ("question", "query", "input", "text", "problem")


def lm_eval_answers(path: Path) -> Iterator[RecordedRow]:
    """The documents of a file, each of their responses an answer.

    Raises:
        StudyError: a line is no sample of the harness.
    """
    first_filter: Any = None
    for number, (place, sample) in enumerate(json_values.stream_values(path)):
        if not isinstance(sample, dict) or not {"doc_id", "resps", "arguments"} <= set(sample):
            raise StudyError(
                f"{path}: {place} is no sample of lm-evaluation-harness, which has doc_id, arguments and "
                f"resps; name files samples_*.jsonl, or another format of the recording"
            )
        first_filter = sample.get("filter") if not number else first_filter
        if sample.get("filter") == first_filter:
            yield from _rows(sample, place, path)


def _rows(sample: Mapping[str, Any], place: str, path: Path) -> Iterator[RecordedRow]:
    arguments = _arguments(sample["arguments"])
    responses, doc = list_of(sample["resps"]), mapping_of(sample.get("doc"))
    values: dict[Role, Any] = {
        "item": f"{_task_of(path)}/{sample['doc_id']}",
        "question": next(
            (doc[key] for key in _QUESTION_KEYS if isinstance(doc.get(key), str)), None
        ),
        "prompt": arguments[0][0] if arguments and arguments[0] else None,
        "options": _doc_options(doc),
        "gold": sample.get("target"),
        "subject": doc.get("subject") or doc.get("category"),
        "model": path.parent.name.replace("__", "/", 1) or None,
        "temperature": _temperature(arguments),
    }
    if is_likelihood(responses):
        options = list_of(values["options"])
        answer = _likeliest(arguments, responses, len(options), f"{path}: {place}")
        gold = _letter_at(values["gold"])
        likelihood_values = {**values, "answer": answer, "gold": gold, "temperature": None}
        yield RecordedRow(place, sample, likelihood_values)
        return
    texts = [text for repeats in responses for text in (list_of(repeats) or [repeats])]
    for number, text in enumerate(texts):
        text = text if isinstance(text, str) else None
        yield RecordedRow(place, sample, {**values, "answer": text, "replicate": number})


def _task_of(path: Path) -> str:
    """The task in the name of a file: the harness numbers the documents of each task anew."""
    name = re.fullmatch(r"samples_(.+?)(?:_\d{4}-\d\d-\d\dT[^_]*)?\.jsonl(?:\.gz)?", path.name)
    return name[1] if name else path.stem


def _arguments(value: Any) -> list[Sequence[Any]]:
    """What each request was: as written, an object of objects, or in older files a list of lists."""
    if isinstance(value, Mapping):
        return [[*mapping_of(value[key]).values()] for key in sorted(value, key=_last_number)]
    return [list_of(one) for one in list_of(value)]


def _last_number(key: str) -> int:
    digits = key.rpartition("_")[2]
    return int(digits) if digits.isdecimal() else 0


def _doc_options(doc: Mapping[str, Any]) -> Any:
    """The options of a document: a list, or one in an object with their texts."""
    options = doc.get("choices", doc.get("options"))
    return mapping_of(options).get("text", options) if isinstance(options, Mapping) else options


def _temperature(arguments: Sequence[Sequence[Any]]) -> float | None:
    """What the request said: the harness sends 0 where it does not sample."""
    settings = mapping_of(arguments[0][1]) if arguments and len(arguments[0]) > 1 else {}
    if settings.get("temperature") is not None:
        return float(settings["temperature"])
    return 0.0 if settings.get("do_sample") is False else None


def is_likelihood(responses: Sequence[Any]) -> bool:
    """Whether the responses are pairs of a log-likelihood and whether it was the greedy answer."""
    return bool(responses) and all(
        isinstance(one, list) and one and isinstance(one[0], list) and len(one[0]) == 2
        for one in responses
    )


def _letter_at(target: Any) -> Any:
    """The letter of an option by its place from 0, in brackets as no option's text is."""
    place = str(target).strip()
    is_place = place.isdecimal() and int(place) < len(ascii_uppercase)
    return f"({ascii_uppercase[int(place)]})" if is_place else target


def _likeliest(
    arguments: Sequence[Sequence[Any]], responses: Sequence[Any], n_options: int, place: str
) -> str:
    """The text of the request with the highest likelihood, of those that follow the question.

    Raises:
        StudyError: they cannot be read, or are not one an option.
    """
    try:
        likelihood_by_request = [
            (str(argument[0]), str(argument[1]), float(one[0][0]))
            for argument, one in zip(arguments, responses, strict=True)
        ]
    except (ValueError, IndexError, TypeError) as error:
        raise StudyError(
            f"{place}: its log-likelihoods and options cannot be read; leave the file out, or run the "
            f"harness again with --log_samples"
        ) from error
    has_context = any(context.strip() for context, _, _ in likelihood_by_request)
    likelihoods = [
        (likelihood, text)
        for context, text, likelihood in likelihood_by_request
        if context.strip() or not has_context
    ]
    n_texts = len({text for _, text in likelihoods})
    if n_texts < len(likelihoods) or len(likelihoods) != (n_options or n_texts):
        raise StudyError(
            f"{place}: {len(likelihoods)} log-likelihoods of {n_texts} texts are not one for each of its "
            f"{n_options or 'unnamed'} options, so that no answer can be told; leave the file out"
        )
    # of equal ones the first, as the harness takes it
    return max(likelihoods, key=lambda pair: pair[0])[1]
