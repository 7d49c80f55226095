"""Real answers of ../shared/data for the tests of the parsers, and how readings of them are counted."""

import csv
import hashlib
import re
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

DATA = Path(__file__).parents[4] / "shared" / "data"
LABELS = Path(__file__).parent / "labels"
OUTPUTS = DATA / "mmlu_model_outputs"
TOP_FIVE = DATA / "recommendations" / "top5_recommendation_answers.parquet"

needs_real_texts = [
    pytest.mark.real_data,
    pytest.mark.skipif(not DATA.is_dir(), reason=f"the real extracts are not at {DATA}"),
]


Pairs = list[tuple[Any, Any]]
"""What is read beside its truth."""

SHARE = 5
"""One of so many texts is read where any are as good; with 1, `pytest -s` prints benchmarks/parsing."""


def part_of(texts: list[Any], case: int = 0) -> list[Any]:
    """Every `SHARE`-th, beginning at another in each case of a test, so that cases share no text."""
    return texts[case % SHARE :: SHARE]


class Tally(NamedTuple):
    """Right, wrong and missing readings of a class."""

    n: int
    right: int
    wrong: int
    missing: int

    @property
    def precision(self) -> float:
        return self.right / max(1, self.right + self.wrong)

    @property
    def recall(self) -> float:
        return self.right / max(1, self.right + self.missing)


def tally(name: str, pairs: Pairs) -> Tally:
    """Readings against truths, None where there is nothing to read; printed for benchmarks/parsing."""
    right = sum(ours == truth is not None for ours, truth in pairs)
    wrong = sum(ours not in (None, truth) for ours, truth in pairs)
    missing = sum(truth not in (None, ours) for ours, truth in pairs)
    result = Tally(len(pairs), right, wrong, missing)
    counts = f"n {result.n:5} right {right:5} wrong {wrong:3} missing {missing:3}"
    print(f"\n{name:42} {counts} P {result.precision:.4f} R {result.recall:.4f}")
    return result


def require(
    name: str, pairs: Pairs, *, n: int = 0, precision: float = -1, recall: float = -1
) -> Tally:
    """Readings of more than n texts, whose precision and recall are above what is asked."""
    result = tally(name, pairs)
    assert result.n > n
    assert result.precision > precision
    assert result.recall > recall
    return result


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def labels(name: str) -> list[dict[str, str]]:
    with (LABELS / f"{name}.csv").open(encoding="utf-8", newline="") as handle:
        return list(csv.DictReader(handle))


def rows(path: Path) -> list[dict[str, Any]]:
    parquet = pytest.importorskip("pyarrow.parquet")
    return list(parquet.read_table(path).to_pylist())


@cache
def messages(of_assistant: bool) -> dict[str, str]:
    """Messages of one side of all chats, by hash."""
    folder = DATA / "conversations"
    roles = ("assistant", "gpt") if of_assistant else ("user", "human", "prompter")
    texts: list[str] = []
    for name in ("sharegpt_sample", "oasst1_validation_threads_953"):
        for row in rows(folder / f"{name}.parquet"):
            texts += [turn["content"] for turn in row["conversation"] if turn["role"] in roles]
    forest = rows(folder / "oasst2_messages_with_user_id.parquet")
    texts += [row["text"] for row in forest if row["role"] in roles]
    if of_assistant:
        texts += [
            r["answer"] for r in rows(DATA / "pairwise" / "mtbench_answers_even_questions.parquet")
        ]
        texts += [r["response"] for r in rows(folder / "realhumaneval_chat_turns.parquet")]
    return {digest(text): text for text in texts if text}


def options(question: str) -> list[str]:
    """The four options at the end of a question of the repeated runs."""
    parts = re.split(r"\s*\(([A-D])\)\s", " " + question[question.rfind("(A) ") :])
    texts = dict(zip(parts[1::2], parts[2::2], strict=False))
    return [texts.get(letter, "").strip() for letter in "ABCD"]
