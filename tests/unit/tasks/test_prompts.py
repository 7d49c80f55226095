"""Prompts are HELM's to the byte: against small hand-made ones, and against HELM's own runs."""

import csv
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from fieldwork.tasks.prompts import (
    LETTER_INSTRUCTION,
    ChoiceQuestion,
    helm_prompt,
    order_shots,
)

SHARED = Path(__file__).resolve().parents[4] / "shared" / "data"
HELM_RUNS = SHARED / "mmlu_model_outputs" / "helm_raw_mmlu_5models_9subjects.parquet"

QUESTION = ChoiceQuestion("How many?", ("One", "Two", "Three", "Four"), "C")
SHOT = ChoiceQuestion("Which {x}?\nLook.", ("a", "b", "c", "d"), "B")


@pytest.mark.parametrize("instruction", [True, False])
def test_helm_prompt(instruction: bool) -> None:
    prompt = helm_prompt(QUESTION, [SHOT], "us_foreign_policy", letter_instruction=instruction)
    blocks = [
        "The following are multiple choice questions (with answers) about us foreign policy.",
        "Question: Which {x}?\nLook.\nA. a\nB. b\nC. c\nD. d\nAnswer: B",
        "Question: How many?\nA. One\nB. Two\nC. Three\nD. Four\nAnswer:",
    ]
    first = ["Answer with only a single letter."] if instruction else []
    assert prompt == "\n\n".join(first + blocks)


def shot(name: str, answer: str) -> ChoiceQuestion:
    return ChoiceQuestion(name, (answer, "other"), "A")


@pytest.mark.parametrize(("n", "expected"), [(0, 0), (1, 1), (3, 3), (4, 4), (9, 4)])
def test_shots_are_drawn_without_repeats(n: int, expected: int) -> None:
    pool = [shot("1", "x"), shot("2", "x"), shot("3", "x"), shot("4", "y")]
    shots = order_shots(pool, n)
    assert len(shots) == len(set(shots)) == expected
    assert set(shots) <= set(pool)
    # labels take turns, the commonest first: what is left of it fills up at the end
    assert [s.choices[0] for s in shots] == ["x", "y", "x", "x"][:expected]


def mmlu(subject: str, split: str) -> list[ChoiceQuestion]:
    path = SHARED / "mmlu" / f"{subject}_{split}.csv"
    with path.open(newline="", encoding="utf-8") as handle:
        return [ChoiceQuestion(r[0], tuple(r[1:5]), r[5]) for r in csv.reader(handle)]


@pytest.mark.real_data
@pytest.mark.skipif(not HELM_RUNS.exists(), reason="no real extracts at ../shared/data")
@pytest.mark.parametrize(("subject", "n"), [("econometrics", 114), ("college_chemistry", 100)])
def test_prompts_equal_those_of_helms_own_runs(subject: str, n: int) -> None:
    rows = pq.read_table(
        HELM_RUNS, columns=["model", "prompt"], filters=[("subject", "==", subject)]
    ).to_pylist()
    shots = order_shots(mmlu(subject, "dev"), 5)
    questions = mmlu(subject, "test")
    assert len(questions) == n
    ours = {
        instruction: {
            helm_prompt(q, shots, subject, letter_instruction=instruction) for q in questions
        }
        for instruction in (True, False)
    }
    theirs: dict[str, set[str]] = {}
    for row in rows:
        theirs.setdefault(row["model"], set()).add(row["prompt"])
    assert len(theirs) == 5
    forms = {model: next(iter(p)).startswith(LETTER_INSTRUCTION) for model, p in theirs.items()}
    assert set(forms.values()) == {True, False}
    for model, prompts in theirs.items():
        assert prompts == ours[forms[model]], model
