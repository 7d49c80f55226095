"""WildChat-shaped Parquet files of any size, since the real ones are behind a login.

    python benchmarks/scale/wildchat.py --out FOLDER --conversations 100000 --files 14

Words and message lengths come from real conversations (`--source`): texts are strung together from
short runs of their words, so that they compress like text. The schema, the share of conversations
with a given number of turns, of English, of toxic ones and the conversations a user has are those
told of WildChat-1M (838,000 conversations of 205,000 users, 2.5 turns each). Equal arguments give
equal files; memory does not grow with the number of conversations.
"""

import hashlib
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

sys.path.insert(0, str(Path(__file__).parents[1]))  # what the benchmarks share

from command_line import Option, read_options

SOURCE = Path(__file__).resolve().parents[3] / "shared" / "data" / "conversations"
CHUNK = 5_000  # conversations in memory at once
ROW_GROUP = 1_000  # as in the files on the hub
RUN_WORDS = 6
# A conversation draws its runs from one neighbourhood of the pool, so that it repeats itself as talk
# does; this many make it compress like the source (Snappy: 2.2 times).
NEIGHBOURS = 340
# Messages of WildChat-1M are longer than those of the source (1,870 tokens a conversation).
LENGTHEN = 1.55
ONE_TURN = 0.6
MORE_TURNS = 0.26
LANGUAGES = {
    "English": 0.57,
    "Chinese": 0.15,
    "Russian": 0.12,
    "French": 0.05,
    "Spanish": 0.05,
    "German": 0.03,
    "Portuguese": 0.03,
}
TOXIC = 0.1
REDACTED = 0.03
MODELS = ("gpt-3.5-turbo-0301", "gpt-3.5-turbo-0613", "gpt-4-0314", "gpt-4-1106-preview")
COUNTRIES = ("United States", "China", "Russia", "France", "Germany", "Brazil", "India", "Japan")
AGENTS = 400
CONVERSATIONS_A_USER = 4.1
START_US = int(datetime(2023, 4, 9, tzinfo=UTC).timestamp() * 1e6)
SPAN_US = 380 * 86_400 * 1_000_000
CATEGORIES = ("harassment", "harassment/threatening", "hate", "hate/threatening", "self-harm")
CATEGORIES += ("self-harm/instructions", "self-harm/intent", "sexual", "sexual/minors")
CATEGORIES += ("violence", "violence/graphic")
DETOXIFY = ("identity_attack", "insult", "obscene", "severe_toxicity", "sexual_explicit")
DETOXIFY += ("threat", "toxicity")

Ints = npt.NDArray[np.int64]


class Speech(NamedTuple):
    """What is resampled: runs of words, and how many runs the messages of each role have."""

    runs: pa.Array
    user: Ints
    assistant: Ints


class Size(NamedTuple):
    """How much to write; `text` shortens (or lengthens) every message."""

    conversations: int
    files: int
    seed: int = 0
    text: float = 1.0


def read_speech(source: Path) -> Speech:
    """Cut real conversations into runs of words; spaces and line breaks stay as they were."""
    file = source / "sharegpt_sample.parquet"
    if not file.is_file():
        raise SystemExit(f"{file}: not there; give the folder of real conversations with --source")
    runs: list[str] = []
    lengths: dict[str, list[int]] = {"user": [], "assistant": []}
    for conversation in pq.read_table(file)["conversation"].to_pylist():
        for turn in conversation:
            words = (turn["content"] or "").split(" ")
            cut = [" ".join(words[n : n + RUN_WORDS]) for n in range(0, len(words), RUN_WORDS)]
            runs += cut
            if turn["role"] in lengths:
                lengths[turn["role"]].append(len(cut))
    counted = {role: np.array(found, np.int64) for role, found in lengths.items()}
    return Speech(pa.array(runs, pa.string()), counted["user"], counted["assistant"])


def write_corpus(folder: Path, speech: Speech, size: Size) -> list[Path]:
    """Write the files; a file that is there already, of the same size and seed, is kept."""
    folder.mkdir(parents=True, exist_ok=True)
    bounds = np.linspace(0, size.conversations, size.files + 1).astype(int)
    files = []
    for number in range(size.files):
        path = folder / f"train-{number:05d}-of-{size.files:05d}.parquet"
        if not path.exists():
            _write_file(path, speech, size, range(bounds[number], bounds[number + 1]))
        files.append(path)
    return files


def _write_file(path: Path, speech: Speech, size: Size, rows: range) -> None:
    partial = path.with_suffix(".partial")
    random = np.random.default_rng([size.seed, rows.start])
    users = max(round(size.conversations / CONVERSATIONS_A_USER), 1)
    writer = None
    for first in range(rows.start, rows.stop, CHUNK):
        n = min(CHUNK, rows.stop - first)
        table = _conversations(random, speech, n, users, size.text)
        writer = writer or pq.ParquetWriter(partial, table.schema, compression="snappy")
        writer.write_table(table, row_group_size=ROW_GROUP)
    if writer:
        writer.close()
        partial.replace(path)


def _conversations(
    random: np.random.Generator, speech: Speech, n: int, users: int, scale_text: float
) -> pa.Table:
    more = random.random(n) >= ONE_TURN
    turns = 1 + more * random.geometric(MORE_TURNS, n)
    begins = START_US + random.integers(0, SPAN_US, n)
    # the busiest users have thousands of conversations, half of all users have one
    user = (users * random.random(n) ** 2.5).astype(np.int64)
    language = _choose(random, tuple(LANGUAGES), n, list(LANGUAGES.values()))
    toxic = random.random(n) < TOXIC
    redacted = random.random(n) < REDACTED
    whole = {
        "country": pa.array(np.array(COUNTRIES)[user % len(COUNTRIES)]),
        "state": pa.array([f"State {k}" for k in user % 97]),
        "hashed_ip": pa.array([hashlib.sha256(f"user {k}".encode()).hexdigest() for k in user]),
        "header": _headers(user),
        "language": language,
        "toxic": pa.array(toxic),
        "redacted": pa.array(redacted),
    }
    messages = 2 * turns
    offsets = pa.array(np.concatenate([[0], np.cumsum(messages)]), pa.int32())
    owner = np.repeat(np.arange(n), messages)
    place = np.arange(len(owner)) - np.repeat(np.cumsum(messages) - messages, messages)
    said = _texts(random, speech, owner, place, scale_text)
    talk = _talk(random, said, begins[owner], place, {k: v.take(owner) for k, v in whole.items()})
    last = begins + turns * 60_000_000
    return pa.table(
        {
            "conversation_hash": pa.array([random.bytes(16).hex() for _ in range(n)]),
            "model": _choose(random, MODELS, n),
            "timestamp": pa.array(last).cast(pa.timestamp("us", tz="UTC")),
            "conversation": pa.ListArray.from_arrays(offsets, talk),
            "turn": pa.array(turns, pa.int64()),
            "language": whole["language"],
            "openai_moderation": pa.ListArray.from_arrays(offsets, _openai(random, len(owner))),
            "detoxify_moderation": pa.ListArray.from_arrays(
                offsets, _scores(random, len(owner), DETOXIFY)
            ),
            **{name: whole[name] for name in ("toxic", "redacted", "state", "country")},
            **{name: whole[name] for name in ("hashed_ip", "header")},
        }
    )


def _texts(
    random: np.random.Generator, speech: Speech, owner: Ints, place: Ints, scale_text: float
) -> pa.Array:
    """What is said in each message, from the neighbourhood of the conversation that owns it."""
    n = len(owner)
    asked, answered = random.choice(speech.user, n), random.choice(speech.assistant, n)
    runs = np.where(place % 2 == 0, asked, answered) * (LENGTHEN * scale_text)
    runs = np.maximum(runs.astype(np.int64), 1)
    ends = pa.array(np.concatenate([[0], np.cumsum(runs)]), pa.int32())
    homes = random.integers(0, len(speech.runs) - NEIGHBOURS, owner[-1] + 1)
    drawn = np.repeat(homes[owner], runs) + random.integers(0, NEIGHBOURS, int(runs.sum()))
    words = speech.runs.take(pa.array(drawn))
    return pc.binary_join(pa.ListArray.from_arrays(ends, words), " ")


def _talk(
    random: np.random.Generator,
    said: pa.Array,
    begins: Ints,
    place: Ints,
    whole: dict[str, pa.Array],
) -> pa.Array:
    """The messages of many conversations, `place` counting within each."""
    asks = place % 2 == 0
    times = pa.array(begins + place // 2 * 60_000_000).cast(pa.timestamp("us", tz="UTC"))
    never = pa.array(~asks)
    columns: dict[str, Any] = {
        "content": said,
        "country": whole["country"],
        "hashed_ip": whole["hashed_ip"],
        "header": whole["header"],
        "language": whole["language"],
        "redacted": whole["redacted"],
        "role": pa.array(np.where(asks, "user", "assistant")),
        "state": whole["state"],
        "timestamp": times,
        "toxic": whole["toxic"],
        "turn_identifier": pa.array(place // 2 + random.integers(100_000, 2_000_000)),
    }
    # address, place and header stand with what the user said, the time with the answer
    for name in ("country", "hashed_ip", "state"):
        columns[name] = pc.if_else(never, pa.scalar(None, pa.string()), columns[name])
    columns["timestamp"] = pc.if_else(never, times, pa.scalar(None, times.type))
    return pa.StructArray.from_arrays(list(columns.values()), list(columns))


def _headers(user: Ints) -> pa.Array:
    agents = [f"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/{500 + k}.36" for k in range(AGENTS)]
    agent = pa.array(agents).take(pa.array(user % AGENTS))
    accepted = pa.array(["en-US,en;q=0.9", "zh-CN,zh;q=0.9", "ru-RU,ru;q=0.9"])
    return pa.StructArray.from_arrays(
        [accepted.take(pa.array(user % len(accepted))), agent], ["accept-language", "user-agent"]
    )


def _openai(random: np.random.Generator, n: int) -> pa.Array:
    verdicts = [pa.array(random.random(n) < 0.01) for _ in CATEGORIES]
    categories = pa.StructArray.from_arrays(verdicts, list(CATEGORIES))
    flagged = pa.array(random.random(n) < 0.05)
    return pa.StructArray.from_arrays(
        [categories, _scores(random, n, CATEGORIES), flagged],
        ["categories", "category_scores", "flagged"],
    )


def _scores(random: np.random.Generator, n: int, names: tuple[str, ...]) -> pa.Array:
    # single precision, as the models gave them, stored as double
    scores = [pa.array(random.random(n, np.float32).astype(np.float64) ** 8) for _ in names]
    return pa.StructArray.from_arrays(scores, list(names))


def _choose(
    random: np.random.Generator, values: tuple[str, ...], n: int, weights: list[float] | None = None
) -> pa.Array:
    return pa.array(values).take(pa.array(random.choice(len(values), n, p=weights)))


def main() -> None:
    """Write a corpus."""
    asked = read_options(
        __doc__,
        Path("wildchat"),
        conversations=10_000,
        files=14,
        seed=0,
        scale_text=Option(1.0, "of every message's length"),
        source=Option(SOURCE, "folder of real conversations"),
    )
    size = Size(asked.conversations, asked.files, asked.seed, asked.scale_text)
    files = write_corpus(asked.out, read_speech(asked.source), size)
    total = sum(file.stat().st_size for file in files)
    print(f"{len(files)} files, {total:,} bytes, {total / size.conversations:,.0f} a conversation")


if __name__ == "__main__":
    main()
