"""Real conversations and questions to measure recall on: the extracts in `../shared/data`, where present.

What is embedded of a conversation is what the workflow embeds by default: its user turns. English only,
as `filters.languages` keeps by default. Nothing of the texts is written anywhere.
"""

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pyarrow.parquet as pq

ROOT = Path(__file__).parents[2]
DATA = ROOT.parent / "shared" / "data"
ENGLISH = ("en", "eng", "english")
N_PROMPTS = 13


def available() -> bool:
    """Whether the extracts are on this machine."""
    return (DATA / "conversations").is_dir()


def conversations() -> list[str]:
    """The distinct texts of all extracts, in one fixed order."""
    folder = DATA / "conversations"
    found: set[str] = set()
    for name in ("sharegpt_sample", "oasst1_validation_threads_953"):
        for row in pq.read_table(folder / f"{name}.parquet").to_pylist():
            if _english(row["language"]):
                found.add(_user_turns(row["conversation"]))
    for row in pq.read_table(folder / "wildchat_first_prompts.parquet").to_pylist():
        if row["language"] is None or _english(row["language"]):
            found.add(row["prompt"])
    for row in pq.read_table(folder / "oasst2_messages_with_user_id.parquet").to_pylist():
        if _english(row["lang"]) and row["role"] == "prompter":
            found.add(row["text"])
    found.update(_requests(folder / "realhumaneval_chat_turns.parquet"))
    return sorted(text for text in found if text.strip())


def _english(language: str | None) -> bool:
    return (language or "").lower() in ENGLISH


def _user_turns(messages: list[dict[str, Any]]) -> str:
    return "\n\n".join(m["content"] for m in messages if m["role"] in ("user", "human", "prompter"))


def _requests(path: Path) -> Iterator[str]:
    """The last history of each programmer and task: the earlier ones are its beginnings."""
    rows = duckdb.sql(
        f"SELECT arg_max(request, n_request_messages) FROM '{path}' "
        "GROUP BY programmer_id, task_name ORDER BY programmer_id, task_name"
    )
    yield from (_user_turns(request) for (request,) in rows.fetchall())


def prompts() -> list[str]:
    """The thirteen: nine recommendations, two of MMLU college_medicine, two of ETHICS."""
    with (ROOT / "resources" / "tasks" / "recommendations.csv").open(encoding="utf-8") as handle:
        asked = [row["question"] for row in csv.DictReader(handle)]
    with (DATA / "mmlu" / "college_medicine_test.csv").open(encoding="utf-8") as handle:
        asked += [row[0] for row in list(csv.reader(handle))[:2]]
    rows = duckdb.sql(f"SELECT input FROM '{DATA}/ethics/cm_test.csv.gz' WHERE is_short LIMIT 2")
    return asked + [text for (text,) in rows.fetchall()]


def questions() -> list[str]:
    """The 514 of HELM Lite's MMLU."""
    found = []
    for subject in (
        "abstract_algebra",
        "college_chemistry",
        "computer_security",
        "econometrics",
        "us_foreign_policy",
    ):
        with (DATA / "mmlu" / f"{subject}_test.csv").open(encoding="utf-8") as handle:
            found += [row[0] for row in csv.reader(handle)]
    return found
