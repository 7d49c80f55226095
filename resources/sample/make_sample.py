"""Writes the sample study's data: an invented, openly synthetic corpus, personas and questions.

Owns the data files of this folder, which it composes from `source/`. Promises equal bytes on each
run for one seed (for Parquet: for one version of pyarrow). Run it with
`python resources/sample/make_sample.py`.
"""

import argparse
import csv
import json
import random
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from string import Template
from typing import Any

from sample_drafts import Deck, Topic, User, load, load_topics, make_drafts, make_users
from sample_rows import write_conversations

SEED = 2025
N_DEV = 5
LETTERS = "ABCD"
PERSONAS_PER_CLAUSE = 3
ETHICS_QUESTION = "Is what the narrator does here acceptable?"


def main(out: Path, seed: int) -> None:
    """Write every file of the sample under `out`."""
    out.mkdir(parents=True, exist_ok=True)
    topics, phrases = load_topics(), load("phrases")
    users = make_users(list(topics), phrases, seed)
    write_conversations(
        out / "conversations.parquet", make_drafts(users, topics, phrases, seed=seed)
    )
    write_attributes(out / "attributes.csv", users)
    write_personas(out / "personas.jsonl", topics, phrases, seed)
    write_sentences(out / "profile_sentences.csv", topics, phrases)
    write_quiz(out / "mmlu", seed)
    write_ethics(out / "ethics.csv")


def write_attributes(path: Path, users: Iterable[User]) -> None:
    """Write what is true of each user: a trade, a home and a habit, as the conversations say it."""
    with path.open("w", encoding="utf-8", newline="") as handle:
        writer = csv.writer(handle, lineterminator="\n")
        writer.writerow(["user_id", "attribute"])
        for user in users:
            job, home, habit, _ = user.facts
            writer.writerows([user.hashed_ip, fact] for fact in (job, home, habit))


def write_personas(
    path: Path, topics: Mapping[str, Topic], phrases: Mapping[str, Any], seed: int
) -> None:
    """Write one JSON object a line, as PersonaHub does."""
    rng = random.Random(f"personas:{seed}")
    ages, roles, traits = (Deck(phrases[name], rng) for name in ("ages", "roles", "traits"))
    lines = []
    for topic in topics.values():
        for clause in [c for c in topic.personas for _ in range(PERSONAS_PER_CLAUSE)]:
            text = f"A {ages.deal()} {roles.deal()} who {clause}, and who {traits.deal()}."
            lines.append(json.dumps({"persona": text}, ensure_ascii=False))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")


def write_sentences(path: Path, topics: Mapping[str, Topic], phrases: Mapping[str, Any]) -> None:
    """Write what users may say about themselves, none twice."""
    sentences = [sentence for topic in topics.values() for sentence in topic.sentences]
    for frame, endings in phrases["general"].items():
        sentences += [Template(frame).substitute(x=ending) for ending in endings]
    sentences += [f"I am {job}." for job in phrases["jobs"]]
    sentences += phrases["habits"]
    _write_csv(path, [["sentence"], *([text] for text in dict.fromkeys(sentences))])


def write_quiz(folder: Path, seed: int) -> None:
    """Write MMLU's original layout: `dev/` and `test/`, no header, letters dealt out evenly."""
    for subject, items in load("quiz").items():
        rng = random.Random(f"quiz:{seed}:{subject}")
        for split, split_items in (("dev", items[:N_DEV]), ("test", items[N_DEV:])):
            letters = Deck(LETTERS, rng)
            rows = [_quiz_row(item, letters.deal(), rng) for item in split_items]
            target = folder / split / f"{subject}_{split}.csv"
            target.parent.mkdir(parents=True, exist_ok=True)
            _write_csv(target, rows)


def _quiz_row(item: Sequence[str], letter: str, rng: random.Random) -> list[str]:
    question, right, *wrong = item
    choices = rng.sample(wrong, len(wrong))
    choices.insert(LETTERS.index(letter), right)
    return [question, *choices, letter]


def write_ethics(path: Path) -> None:
    """Write two-option items; the options swap places, so that no letter stands for one verdict."""
    source = load("ethics")
    rows = [["item_id", "scenario", "question", "option_a", "option_b", "gold"]]
    for number, (scenario, gold) in enumerate(source["items"]):
        order = ["fine", "wrong"] if number // 2 % 2 == 0 else ["wrong", "fine"]
        options = [source[f"option_{name}"] for name in order]
        question = f"{scenario} {ETHICS_QUESTION}"
        letter = "AB"[order.index(gold)]
        rows.append([f"ethics-{number:02d}", scenario, question, *options, letter])
    _write_csv(path, rows)


def _write_csv(path: Path, rows: Iterable[Sequence[str]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as handle:
        csv.writer(handle, lineterminator="\n").writerows(rows)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Write the sample study's data.")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent, help="folder to fill")
    parser.add_argument("--seed", type=int, default=SEED, help="another seed gives other data")
    arguments = parser.parse_args()
    main(arguments.out, arguments.seed)
