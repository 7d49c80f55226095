"""`studies/wildchat.yaml` whole, on real data that a loopback server has in the hub's own paths."""

import csv
import gzip
import hashlib
import io
import json
import re
import subprocess
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from safetensors.numpy import load_file
from tokenizers import Tokenizer

from servers.hub import Hub, serve_hub
from workflow.conftest import ONCE, REPOSITORY, Checkout, copy_project, from_yaml, rows_of
from workflow.word_encoder import NAME

DATA = REPOSITORY.parent / "shared" / "data"

STUDY = str(REPOSITORY / "studies/wildchat.yaml")
# each puppet is asked once here, and there are two of them, so that 514 questions take no four minutes
RUNS = 2
FEWER = {
    # a search finds another conversation for each of 514 questions, which are encoded for minutes
    "study": {"conditions": ["offline_t0", "offline", "offline_again", "history", "profile"]},
    "tasks": {name: {"runs": RUNS} for name in ("recommendations", "probe", "mmlu_lite")},
    "conditions": ONCE,
    "metrics": {"permutations": 99},
}

pytestmark = [
    pytest.mark.workflow,
    pytest.mark.real_data,
    pytest.mark.skipif(not DATA.is_dir(), reason=f"no real extracts at {DATA}"),
]


def wildchat_file() -> bytes:
    """Real conversations in WildChat-1M's columns; the fields they lack are NULL."""
    rows = [*sharegpt_rows(), *humaneval_rows()]
    text, flag, number = pa.string(), pa.bool_(), pa.int64()
    turn = pa.struct({"content": text, "role": text, "turn_identifier": number})
    schema = pa.schema(
        {
            "conversation_hash": text,
            "model": text,
            "timestamp": pa.timestamp("us", tz="UTC"),
            "conversation": pa.list_(turn),
            "turn": number,
            "language": text,
            "toxic": flag,
            "redacted": flag,
            "hashed_ip": text,
        }
    )
    buffer = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows, schema), buffer)
    return buffer.getvalue()


def sharegpt_rows() -> Iterator[dict[str, Any]]:
    # a third of them, as each is encoded
    frame = pd.read_parquet(DATA / "conversations/sharegpt_sample.parquet").iloc[::3]
    for row in frame.itertuples():
        language = "English" if row.language == "en" else str(row.language)
        yield wildchat_row(str(row.conversation_id), None, row.conversation, language)


def humaneval_rows() -> Iterator[dict[str, Any]]:
    """The last request of each programmer and task holds the whole conversation."""
    frame = pd.read_parquet(DATA / "conversations/realhumaneval_chat_turns.parquet")
    last = frame.sort_values("n_request_messages").groupby(["programmer_id", "task_name"]).tail(1)
    for row in last.itertuples():
        messages = [*row.request, {"role": "assistant", "content": row.response}]
        yield wildchat_row(f"humaneval-{row.row}", str(row.programmer_id), messages, "English")


def wildchat_row(name: str, user: str | None, messages: Any, language: str) -> dict[str, Any]:
    chat = [m for m in messages if m["role"] in ("user", "assistant")]
    return {
        "conversation_hash": hashlib.md5(name.encode(), usedforsecurity=False).hexdigest(),
        "model": "unknown",
        "timestamp": None,
        "conversation": [
            {"content": m["content"], "role": m["role"], "turn_identifier": number}
            for number, m in enumerate(chat)
        ],
        "turn": len(chat) // 2,
        "language": language,
        "toxic": False,
        "redacted": False,
        "hashed_ip": hashlib.sha256(user.encode()).hexdigest() if user else None,
    }


def mmlu_files() -> Iterator[tuple[str, bytes]]:
    """MMLU as the hub has it: one folder a subject, Parquet, the answer as a number."""
    for path in sorted((DATA / "mmlu").glob("*_*.csv")):
        subject, _, split = path.stem.rpartition("_")
        with path.open(newline="", encoding="utf-8") as handle:
            rows = [
                {
                    "question": r[0],
                    "subject": subject,
                    "choices": r[1:5],
                    "answer": "ABCD".index(r[5]),
                }
                for r in csv.reader(handle)
            ]
        buffer = io.BytesIO()
        pq.write_table(pa.Table.from_pylist(rows), buffer)
        yield f"{subject}/{split}-00000-of-00001.parquet", buffer.getvalue()


def ethics_files() -> Iterator[tuple[str, bytes]]:
    folders = {"cm": "commonsense", "justice": "justice", "deontology": "deontology"}
    for name, folder in (folders | {"virtue": "virtue"}).items():
        path = DATA / f"ethics/{name}_test.csv.gz"
        yield f"data/{folder}/test.csv", gzip.decompress(path.read_bytes())


def personachat_file() -> bytes:
    profiles = pd.read_csv(DATA / "personas/personachat_profiles.csv.gz")
    rows = [{"personality": json.loads(sentences)} for sentences in profiles["sentences"]]
    return json.dumps(rows).encode()


@pytest.fixture(scope="module")
def hub() -> Iterator[Hub]:
    personas = (DATA / "personas/personahub_personas_5000.jsonl.gz").read_bytes()
    with serve_hub(
        {
            "allenai/WildChat-1M": {"data/train-00000-of-00001.parquet": wildchat_file()},
            "cais/mmlu": dict(mmlu_files()),
            "hendrycks/ethics": dict(ethics_files()),
            "proj-persona/PersonaHub": {"persona.jsonl": gzip.decompress(personas)},
            "bavard/personachat_truecased": {
                "personachat_truecased_full_train.json": personachat_file()
            },
        }
    ) as running:
        yield running


@pytest.fixture(scope="module")
def real_study(hub: Hub, tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    made = copy_project(tmp_path_factory.mktemp("real") / "project")
    finished = run_whole(made, hub)
    assert finished.returncode == 0, finished.stderr[-4000:]
    return made


def run_whole(checkout: Checkout, hub: Hub) -> subprocess.CompletedProcess[str]:
    """The whole study; its shards are for a million conversations: each starts torch anew."""
    arguments = (
        "all",
        "--configfile",
        "studies/wildchat.yaml",
        str(checkout.study("fewer", FEWER)),
    )
    shards = ("--set-scatter", "embedding=2")
    return checkout.snakemake(*arguments, *shards, env={"HF_ENDPOINT": hub.endpoint})


def test_all_514_questions_are_asked_as_often_under_each_condition(real_study: Checkout) -> None:
    rows = rows_of(
        real_study,
        "SELECT condition, count(*), count(DISTINCT item_id), count(letter_strict)"
        " FROM 'RESULTS/fewer/answers/answers.parquet' WHERE task = 'mmlu_lite' GROUP BY condition",
    )
    assert sorted(rows) == [
        (condition, RUNS * 514, 514, RUNS * 514)
        for condition in ("history", "offline", "offline_again", "offline_t0", "profile")
    ]


def test_the_embedded_baseline_takes_the_option_that_is_nearest(real_study: Checkout) -> None:
    """Every answer, by the encoder's own file: vectors of tokens, their means, and cosines of these."""
    rows = rows_of(
        real_study,
        "SELECT DISTINCT question, choices, gold, letter_strict"
        " FROM 'RESULTS/fewer/answers/answers.parquet' a"
        " JOIN 'RESULTS/fewer/tasks/mmlu_lite.parquet' i USING (item_id)"
        " WHERE a.task = 'mmlu_lite' AND a.condition = 'offline_t0'",
    )
    folder = real_study.root / "resources/models" / NAME
    vectors = load_file(folder / "model.safetensors")["embedding.weight"].astype(float)
    tokens = Tokenizer.from_file(str(folder / "tokenizer.json"))

    def unit(text: str) -> Any:
        vector = vectors[tokens.encode(text, add_special_tokens=False).ids].mean(axis=0)
        return vector / np.linalg.norm(vector)

    for question, choices, _, letter in rows:
        scores = np.stack([unit(choice) for choice in choices]) @ unit(question)
        assert scores["ABCD".index(letter)] >= scores.max() - 1e-4, question
    assert len(rows) > 500
    assert np.mean([gold == letter for _, _, gold, letter in rows]) > 0.28  # and 0.25 by chance


PACKAGED = from_yaml(
    """
    study: {conditions: [offline_t0], tasks: [mmlu_lite]}
    tasks: {mmlu_lite: {runs: 1, sources: [{format: mmlu, dataset: mmlu, item_ids: $ids}]}}
    models: {embedded: {encoder: all-MiniLM-L6-v2}}
    metrics: {baseline: offline_t0}
    """,
    ids=[f"us_foreign_policy-{number:03}" for number in range(30)],
)


def test_the_packaged_encoder_answers_as_it_did(real_study: Checkout, hub: Hub) -> None:
    """Of all 514 questions it answered 31.7 % right when it was measured."""
    table = "results/packaged/answers/answers.parquet"
    study = ("studies/wildchat.yaml", real_study.study("packaged", PACKAGED))
    real_study.make(table, study=study, env={"HF_ENDPOINT": hub.endpoint})
    rows = rows_of(
        real_study,
        "SELECT string_agg(letter_strict, '' ORDER BY item_id)"
        " FROM 'RESULTS/packaged/answers/answers.parquet' WHERE task = 'mmlu_lite'",
    )
    assert rows == [("BCADAACDDDABDCABADCBBCBBBCBBCA",)]


def test_users_move_answers_beyond_reruns(real_study: Checkout) -> None:
    spread = dict(
        rows_of(
            real_study,
            "SELECT condition, maximum - minimum FROM 'RESULTS/fewer/metrics/accuracy.csv'"
            " WHERE task = 'mmlu_lite' AND metric = 'em_strict'",
        )
    )
    assert spread["offline_t0"] == 0
    assert all(0 < spread[c] < 0.15 for c in ("offline", "history", "profile"))
    novel = dict(
        rows_of(
            real_study,
            "SELECT condition, share FROM 'RESULTS/fewer/metrics/novelty.parquet'"
            " WHERE task = 'mmlu_lite'",
        )
    )
    assert novel["offline_t0"] < novel["offline_again"] < novel["profile"] < 1


def test_real_conversations_are_whole_in_the_contexts(real_study: Checkout) -> None:
    ((cut,),) = rows_of(
        real_study,
        "SELECT count(*) FROM 'RESULTS/fewer/contexts/recommendations/history.parquet' x"
        " JOIN 'RESULTS/fewer/corpus/wildchat_1m/conversations.parquet' c"
        " ON c.conversation_id = x.conversation_ids[1]"
        " WHERE x.messages <> c.messages",
    )
    assert cut == 0


def test_downloads_are_pinned_checked_and_not_repeated(real_study: Checkout, hub: Hub) -> None:
    downloads = real_study.root / "resources/downloads"
    manifest = json.loads((downloads / "wildchat_1m/manifest.json").read_text())
    assert manifest["revision"] == "7d6490e462285cf85d91eabea0f9a954fbddcd1f"
    for entry in manifest["files"]:
        file = downloads / "wildchat_1m" / entry["path"]
        found = hashlib.sha256(file.read_bytes()).hexdigest()
        assert found == entry["sha256"]
        assert file.with_name(file.name + ".sha256").read_text().startswith(found)
    served = hub.bytes_served
    again = run_whole(real_study, hub)
    assert "Nothing to be done" in again.stderr
    assert hub.bytes_served == served


def test_figures_and_findings_are_drawn_from_real_data(real_study: Checkout) -> None:
    for figure in ("fig1", "fig2", "fig3", "fig4", "fig5", "who_asks"):
        assert (real_study.root / f"results/fewer/figures/{figure}.png").stat().st_size > 20_000
    # not the middle of "finance"
    assert not re.search(r"\bnan\b", (real_study.root / "results/fewer/findings.md").read_text())


def test_no_network_is_one_line_with_the_two_ways_out(folder: Checkout) -> None:
    failed = folder.fail(
        "results/wildchat/corpus/wildchat_1m/conversations.parquet",
        study=STUDY,
        env={"HF_ENDPOINT": "http://127.0.0.1:9"},
    )
    (line,) = {line for line in failed.stderr.splitlines() if line.startswith("ERROR: ")}
    assert "HF_ENDPOINT" in line
    assert "path:" in line
    assert "Traceback" not in failed.stderr


def test_an_interrupted_download_resumes(folder: Checkout) -> None:
    from servers.hub import Fault

    content = wildchat_file()
    file = "data/train-00000-of-00001.parquet"
    target = "resources/downloads/wildchat_1m/manifest.json"
    arguments = (target, "--configfile", STUDY)
    with serve_hub(
        {"allenai/WildChat-1M": {file: content}}, faults=[Fault(file, status=404)]
    ) as hub:
        folder.fail(*arguments, env={"HF_ENDPOINT": hub.endpoint})
        folder.make(*arguments, env={"HF_ENDPOINT": hub.endpoint})
    stored = folder.directory / "resources/downloads/wildchat_1m" / file
    assert stored.read_bytes() == content
