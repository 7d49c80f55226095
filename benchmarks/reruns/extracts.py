"""Real answers to MMLU, asked again and asked once, in the form of Fieldwork's own tables.

Reads the extracts beside the repository: GPT-4o's five runs (llm-stability, experiment
strict_json_schema), HELM's raw completions of five models, and HELM's published scores.
"""

import dataclasses
import re
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from fieldwork.parsing.answers import parse_response
from fieldwork.records.generation import Response
from fieldwork.records.parsing import Answer
from fieldwork.records.tasks import Item

REPEATED = "mmlu_model_outputs/llm_stability_repeated_runs.parquet"
HELM_RAW = "mmlu_model_outputs/helm_raw_mmlu_5models_9subjects.parquet"
HELM_MMLU = "helm/helm_mmlu_subject_scores.csv.gz"
HELM_LITE = "helm/helm_lite_scores.csv.gz"
LONGEST = "college_mathematics-no_ling"
FILES = (REPEATED, HELM_RAW, HELM_MMLU, HELM_LITE)

GPT_4O = "GPT-4o"
LITE_SUBJECTS = (
    "abstract_algebra",
    "college_chemistry",
    "computer_security",
    "econometrics",
    "us_foreign_policy",
)
_CHOICE = re.compile(r"\(([A-D])\) (.*?)(?= \([A-D]\) |\s*$)", re.DOTALL)


class Asked(NamedTuple):
    """Answers and the items they belong to, as `measure_runs` takes them."""

    answers: pd.DataFrame
    items: pd.DataFrame


class Scores(NamedTuple):
    """A leaderboard: its models' scores, and how many questions each averaged subject has."""

    name: str
    published: list[float]
    sizes: list[int]


def repeated_runs(folder: Path) -> Asked:
    """GPT-4o's answers to 657 questions, five times each, a task a subject."""
    table = pd.read_parquet(folder / REPEATED)
    table = table[table["experiment"] == "strict_json_schema"]
    rows = [
        (row.task, f"{row.task}-{int(row.rubric_id):04}", int(row.run), row.response, row.question,
         row.gt.strip("()"))
        for row in table.itertuples()
    ]  # fmt: skip
    items = {
        (task, item_id): _item(item_id, _choices(question), gold, task)
        for task, item_id, _, _, question, gold in rows
    }
    answers = [
        _read(GPT_4O, task, run, text, items[task, item_id])
        for task, item_id, run, text, _, _ in rows
    ]
    return Asked(_frame(answers), _item_frame(items))


def long_series(folder: Path) -> list[str]:
    """GPT-4o's letters in up to 28 runs, a series for each of 100 questions; a space is unreadable.

    The longest experiment that asks again and again: most series end at the first answer that differs.
    """
    table = pd.read_parquet(folder / REPEATED)
    table = table[table["run_dir"].str.contains(LONGEST, regex=False)]
    table = table.assign(run=table["run"].astype(int)).sort_values("run")
    series = []
    for name, runs in table.groupby("rubric_id", sort=True):
        first = runs.iloc[0]
        item = _item(str(name), _choices(first["question"]), first["gt"].strip("()"), "")
        letters = [_read(GPT_4O, "", 0, text, item).letter for text in runs["response"]]
        series.append("".join(letter or " " for letter in letters))
    return series


def helm_runs(folder: Path) -> Asked:
    """Completions of five models to every test question of nine subjects, one run, a task a subject."""
    table = pd.read_parquet(folder / HELM_RAW)
    items: dict[tuple[str, str], Item] = {}
    answers = []
    for row in table.itertuples():
        item_id = f"{row.subject}-{row.instance_id}"
        item = _item(item_id, list(row.choices), row.gold, row.subject)
        items.setdefault((row.subject, item_id), item)
        answers.append(_read(row.model, row.subject, 0, row.completions[0], item))
    return Asked(_frame(answers), _item_frame(items))


def as_one_task(asked: Asked, task: str) -> Asked:
    """The same answers as one task, whose score is the macro mean over the subjects."""
    return Asked(asked.answers.assign(task=task), asked.items.assign(task=task))


def _item(item_id: str, choices: list[str], gold: str, subject: str) -> Item:
    return Item(item_id, "choice", "", "", choices, gold, subject, "")


def _choices(question: str) -> list[str]:
    """The four options of the last question; those before it are worked examples."""
    last = question.rpartition("The answer is (")[2]
    found = dict(_CHOICE.findall(last))
    return [found.get(letter, letter).strip() for letter in "ABCD"]


def _read(model: str, task: str, run: int, text: str, item: Item) -> Answer:
    blank = {f.name: None for f in dataclasses.fields(Response)}
    told = {
        "model": model, "task": task, "condition": "offline", "item_id": item.item_id,
        "replicate": run, "text": text, "outcome": "ok" if text.strip() else "empty",
    }  # fmt: skip
    return parse_response(Response(**{**blank, **told}), item)


def _frame(answers: list[Answer]) -> pd.DataFrame:
    return pd.DataFrame([dataclasses.asdict(answer) for answer in answers])


def _item_frame(items: dict[tuple[str, str], Item]) -> pd.DataFrame:
    return pd.DataFrame(
        [{**dataclasses.asdict(item), "task": task} for (task, _), item in items.items()]
    )


def published_subjects(folder: Path) -> pd.DataFrame:
    """HELM MMLU's scores: model_id, subject, em, n_eval."""
    table = pd.read_csv(folder / HELM_MMLU)
    return table[table["subject_label"] != "MMLU All Subjects"]


def helm_mmlu(folder: Path) -> Scores:
    """79 models, the macro mean of 57 subjects."""
    table = pd.read_csv(folder / HELM_MMLU)
    whole = table[table["subject_label"] == "MMLU All Subjects"]
    sizes = published_subjects(folder).groupby("subject")["n_eval"].max()
    published = [float(score) for score in whole["em"]]
    return Scores("HELM MMLU", published, [int(n) for n in sizes])


def helm_lite(folder: Path) -> Scores:
    """91 models, the macro mean of five subjects."""
    table = pd.read_csv(folder / HELM_LITE)
    table = table[table["evaluation_name"] == "MMLU"]
    subjects = published_subjects(folder).groupby("subject")["n_eval"].max()
    sizes = [int(subjects[name]) for name in LITE_SUBJECTS]
    published = [float(score) for score in table["score"]]
    return Scores("HELM Lite, MMLU", published, sizes)
