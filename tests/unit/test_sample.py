"""The sample study's data and the task resources hold what their README promises."""

import csv
import json
import string
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

RESOURCES = Path(__file__).resolve().parents[2] / "resources"
SAMPLE = RESOURCES / "sample"
TASKS = RESOURCES / "tasks"
SUBJECTS = ("astronomy", "cooking", "geography", "grammar", "medicine", "statistics")
PAPER_DOMAINS = {"haircuts", "movies", "restaurants", "companies", "academic majors"}
ITEM_IDS = {
    *("haircuts", "movies", "restaurants", "companies", "majors"),
    *("books", "hobbies", "destinations", "careers"),
}
TEXT_FILES = [
    "attributes.csv",
    "personas.jsonl",
    "profile_sentences.csv",
    "ethics.csv",
    *(f"mmlu/{split}/sample_{s}_{split}.csv" for s in SUBJECTS for split in ("dev", "test")),
]
HEADER_TYPE = "struct<accept-language: string, user-agent: string>"
CATEGORIES = (
    "harassment harassment/threatening harassment_threatening hate hate/threatening "
    "hate_threatening self-harm self-harm/instructions self-harm/intent self_harm "
    "self_harm_instructions self_harm_intent sexual sexual/minors sexual_minors violence "
    "violence/graphic violence_graphic"
)
FLAGS = ", ".join(f"{name}: bool" for name in CATEGORIES.split())
SCORES = ", ".join(f"{name}: double" for name in CATEGORIES.split())
COLUMN_TYPES = {
    "conversation_hash": "string",
    "model": "string",
    "timestamp": "timestamp[us, tz=UTC]",
    "conversation": "list<element: struct<content: string, country: string, hashed_ip: string, "
    f"header: {HEADER_TYPE}, language: string, redacted: bool, role: string, state: string, "
    "timestamp: timestamp[us, tz=UTC], toxic: bool, turn_identifier: int64>>",
    "turn": "int64",
    "language": "string",
    "openai_moderation": f"list<element: struct<categories: struct<{FLAGS}>, "
    f"category_scores: struct<{SCORES}>, flagged: bool>>",
    "detoxify_moderation": "list<element: struct<identity_attack: double, insult: double, "
    "obscene: double, severe_toxicity: double, sexual_explicit: double, threat: double, "
    "toxicity: double>>",
    "toxic": "bool",
    "redacted": "bool",
    "state": "string",
    "country": "string",
    "hashed_ip": "string",
    "header": HEADER_TYPE,
}

Row = dict[str, Any]


def read_csv(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as handle:
        return list(csv.DictReader(handle))


def read_quiz(subject: str, split: str) -> list[list[str]]:
    path = SAMPLE / "mmlu" / split / f"sample_{subject}_{split}.csv"
    with path.open(newline="", encoding="utf-8") as handle:
        return list(csv.reader(handle))


def user_texts(row: Row) -> list[str]:
    return [m["content"] for m in row["conversation"] if m["role"] == "user"]


def passes_filters(row: Row) -> bool:
    clean = row["language"] == "English" and not row["toxic"] and not row["redacted"]
    texts = user_texts(row)
    return clean and len(texts) >= 5 and all(texts)


def parquet_writer(path: Path) -> str:
    return str(pq.ParquetFile(path).metadata.created_by)


@pytest.fixture(scope="module")
def conversations() -> list[Row]:
    rows: list[Row] = pq.read_table(SAMPLE / "conversations.parquet").to_pylist()
    return rows


@pytest.fixture(scope="module")
def made_again(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("sample")
    script = [sys.executable, "-B", str(SAMPLE / "make_sample.py"), "--out", str(out)]
    subprocess.run(script, check=True, capture_output=True, timeout=60)
    return out


@pytest.mark.parametrize("name", TEXT_FILES)
def test_text_files_are_what_the_generator_writes(made_again: Path, name: str) -> None:
    assert (made_again / name).read_bytes() == (SAMPLE / name).read_bytes()


def test_conversations_are_what_the_generator_writes(made_again: Path) -> None:
    new, old = made_again / "conversations.parquet", SAMPLE / "conversations.parquet"
    if parquet_writer(new) == parquet_writer(old):
        assert new.read_bytes() == old.read_bytes()
    assert pq.read_table(new).equals(pq.read_table(old))


def test_generator_writes_no_other_data_file(made_again: Path) -> None:
    written = {p.relative_to(made_again).as_posix() for p in made_again.rglob("*") if p.is_file()}
    assert written == {*TEXT_FILES, "conversations.parquet"}


def test_conversations_have_wildchats_schema() -> None:
    schema: pa.Schema = pq.read_schema(SAMPLE / "conversations.parquet")
    assert {field.name: str(field.type) for field in schema} == COLUMN_TYPES
    assert (SAMPLE / "conversations.parquet").stat().st_size < 900_000


def test_enough_conversations_pass_the_filters(conversations: list[Row]) -> None:
    assert len(conversations) >= 480
    assert len({row["hashed_ip"] for row in conversations}) == 64
    passing = Counter(row["hashed_ip"] for row in conversations if passes_filters(row))
    assert passing.total() >= 200
    assert sum(count >= 2 for count in passing.values()) >= 52


@pytest.mark.parametrize(
    ("kind", "at_least"),
    [("toxic", 10), ("redacted", 10), ("short", 100), ("foreign", 20), ("empty", 3), ("model", 4)],
)
def test_every_filter_has_something_to_drop(
    conversations: list[Row], kind: str, at_least: int
) -> None:
    counts = {
        "toxic": sum(row["toxic"] for row in conversations),
        "redacted": sum(row["redacted"] for row in conversations),
        "short": sum(1 <= len(user_texts(row)) <= 4 for row in conversations),
        "foreign": sum(row["language"] != "English" for row in conversations),
        "empty": sum("" in user_texts(row) for row in conversations),
        "model": len({row["model"] for row in conversations}),
    }
    assert counts[kind] >= at_least


def test_languages_other_than_english_are_five(conversations: list[Row]) -> None:
    languages = {row["language"] for row in conversations}
    assert languages == {"English", "Spanish", "French", "German", "Russian", "Chinese"}


def test_three_pairs_share_a_hash(conversations: list[Row]) -> None:
    hashes = Counter(row["conversation_hash"] for row in conversations)
    assert sorted(hashes.values())[-4:] == [1, 2, 2, 2]


def test_messages_alternate_and_are_counted(conversations: list[Row]) -> None:
    for row in conversations:
        messages = row["conversation"]
        assert [m["role"] for m in messages] == ["user", "assistant"] * row["turn"]
        assert row["toxic"] == any(m["toxic"] for m in messages)
        assert row["redacted"] == any(m["redacted"] for m in messages)
        assert len(row["openai_moderation"]) == len(messages)
        assert len(row["detoxify_moderation"]) == len(messages)
        assert row["timestamp"] == messages[-1]["timestamp"]


def test_turn_identifiers_are_unique_to_an_exchange(conversations: list[Row]) -> None:
    turns = Counter(m["turn_identifier"] for row in conversations for m in row["conversation"])
    assert set(turns.values()) == {2}


def test_english_messages_vary_in_length(conversations: list[Row]) -> None:
    english = [row for row in conversations if row["language"] == "English"]
    lengths = sorted(len(text.split()) for row in english for text in user_texts(row) if text)
    assert lengths[0] >= 10
    assert lengths[-1] <= 120
    assert lengths[len(lengths) * 9 // 10] >= 2 * lengths[len(lengths) // 10]


def test_conversations_are_not_near_copies(conversations: list[Row]) -> None:
    seen: dict[str, set[tuple[str, str, str, str]]] = {}
    for row in filter(passes_filters, conversations):
        words = " ".join(m["content"] for m in row["conversation"]).lower().split()
        grams = set(zip(words, words[1:], words[2:], words[3:], strict=False))
        seen.setdefault(row["conversation_hash"], grams)
    texts = list(seen.values())
    overlaps = (
        len(one & other) / len(one | other)
        for index, one in enumerate(texts)
        for other in texts[:index]
    )
    assert max(overlaps) < 0.5


def test_texts_have_no_unfilled_placeholder(conversations: list[Row]) -> None:
    texts = [m["content"] for row in conversations for m in row["conversation"]]
    texts += [row["sentence"] for row in read_csv(SAMPLE / "profile_sentences.csv")]
    assert not [text for text in texts if set("${}") & set(text) or "  " in text]


def test_personas_are_distinct() -> None:
    lines = (SAMPLE / "personas.jsonl").read_text(encoding="utf-8").splitlines()
    records = [json.loads(line) for line in lines]
    assert {tuple(record) for record in records} == {("persona",)}
    assert len({record["persona"].casefold() for record in records}) == len(records) >= 120


def test_profile_sentences_are_distinct_and_in_the_first_person() -> None:
    sentences = [row["sentence"] for row in read_csv(SAMPLE / "profile_sentences.csv")]
    assert len({text.casefold() for text in sentences}) == len(sentences) >= 240
    strangers = [t for t in sentences if not {"i", "my", "me"} & set(t.lower().split())]
    assert strangers == []


@pytest.mark.parametrize("subject", SUBJECTS)
@pytest.mark.parametrize(("split", "at_least"), [("dev", 5), ("test", 14)])
def test_quiz_has_mmlus_layout(subject: str, split: str, at_least: int) -> None:
    rows = read_quiz(subject, split)
    assert len(rows) >= at_least
    assert split == "test" or len(rows) == 5
    for row in rows:
        assert len(row) == 6
        assert row[5] in set("ABCD")
        assert all(cell == cell.strip() != "" for cell in row)
        assert len(set(row[1:5])) == 4


def test_quiz_asks_nothing_twice_and_balances_its_letters() -> None:
    rows = [row for s in SUBJECTS for split in ("dev", "test") for row in read_quiz(s, split)]
    assert len({row[0].casefold() for row in rows}) == len(rows)
    letters = Counter(row[5] for s in SUBJECTS for row in read_quiz(s, "test"))
    assert letters.total() >= 84
    assert max(letters.values()) - min(letters.values()) <= letters.total() // 10


def test_quiz_letters_point_at_the_right_answers() -> None:
    wanted = {
        "Which planet is closest to the Sun?": "Mercury",
        "What is the capital of New Zealand?": "Wellington",
        "Which hormone raises blood glucose?": "Glucagon",
        "What is the past participle of 'to swim'?": "Swum",
    }
    rows = [row for s in SUBJECTS for split in ("dev", "test") for row in read_quiz(s, split)]
    counts = {row[0]: row[1 + "ABCD".index(row[5])] for row in rows if row[0] in wanted}
    assert counts == wanted


def test_ethics_items_are_balanced() -> None:
    rows = read_csv(SAMPLE / "ethics.csv")
    assert list(rows[0]) == ["item_id", "scenario", "question", "option_a", "option_b", "gold"]
    assert len({row["item_id"] for row in rows}) == len({r["scenario"] for r in rows}) == len(rows)
    assert len(rows) >= 14
    golds = Counter(row["gold"] for row in rows)
    verdicts = Counter(row[f"option_{row['gold'].lower()}"] for row in rows)
    assert set(golds) == {"A", "B"}
    assert golds["A"] == golds["B"]
    assert len(set(verdicts.values())) == 1


def test_recommendation_prompts_say_whose_they_are() -> None:
    rows = read_csv(TASKS / "recommendations.csv")
    columns = ["item_id", "domain", "domain_source", "wording", "question", "prompt"]
    assert list(rows[0]) == columns
    assert {row["item_id"] for row in rows} == ITEM_IDS
    assert len(rows) == 9
    assert {row["wording"] for row in rows} == {"ours"}
    assert {r["domain"] for r in rows if r["domain_source"] == "paper"} == PAPER_DOMAINS
    assert {r["domain_source"] for r in rows} == {"paper", "ours"}


@pytest.mark.parametrize(
    "row", read_csv(TASKS / "recommendations.csv"), ids=[f"prompt{n}" for n in range(9)]
)
def test_recommendation_prompt_asks_for_five_names(row: dict[str, str]) -> None:
    assert row["prompt"].startswith("Recommend five ")
    assert "exactly five options as a numbered list" in row["prompt"]
    assert row["question"].endswith("?")
    assert not set("{}$") & set("".join(row.values()))


def test_candidates_are_forty_an_item() -> None:
    rows = read_csv(TASKS / "candidates.csv")
    assert list(rows[0]) == ["item_id", "candidate"]
    assert Counter(row["item_id"] for row in rows) == dict.fromkeys(ITEM_IDS, 40)
    pairs = {(row["item_id"], row["candidate"].casefold()) for row in rows}
    assert len(pairs) == len(rows)


@pytest.mark.parametrize("company", ["Tesla", "Patagonia"])
def test_companies_of_the_paper_can_be_chosen(company: str) -> None:
    rows = read_csv(TASKS / "candidates.csv")
    assert {"item_id": "companies", "candidate": company} in rows


def test_aliases_lead_to_candidates_and_not_in_circles() -> None:
    rows = read_csv(TASKS / "aliases.csv")
    assert list(rows[0]) == ["task", "item_id", "written", "canonical"]
    assert 60 <= len(rows) <= 120
    assert {row["task"] for row in rows} == {"recommendations"}
    written = [(row["item_id"], row["written"].casefold()) for row in rows]
    assert len(set(written)) == len(written)
    candidates = {(r["item_id"], r["candidate"]) for r in read_csv(TASKS / "candidates.csv")}
    assert {(row["item_id"], row["canonical"]) for row in rows} <= candidates
    assert not set(written) & {(item, name.casefold()) for item, name in candidates}


def test_profile_template_has_exactly_its_two_placeholders() -> None:
    text = (RESOURCES / "templates" / "profile.txt").read_text(encoding="utf-8")
    assert sorted(string.Template(text).get_identifiers()) == ["persona", "sentences"]
    assert string.Template(text).is_valid()
