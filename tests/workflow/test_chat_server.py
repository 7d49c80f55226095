"""Studies on an OpenAI-compatible server: answers, failures, and no call made twice."""

import hashlib
import sqlite3
from collections.abc import Mapping
from typing import Any

import duckdb
import pytest

from servers.provider import Chat, ChatRequest, http_error, serve_chat
from workflow.conftest import (
    KEY,
    KEYS,
    ONCE,
    REPOSITORY,
    Checkout,
    answers_only,
    from_yaml,
    loopback_model,
)

pytestmark = pytest.mark.workflow

OPTIONS = ("Tesla", "**Patagonia**: outdoor", "Ikea", "LEGO", "Nintendo", "Costco", "Siemens")
N_REQUESTS = 2 * (9 + 4) * 3


def answer(request: Mapping[str, Any]) -> str:
    """A list or a letter that depends on the whole conversation, as a chat model's would."""
    question = request["messages"][-1]["content"]
    digest = hashlib.sha256(str(request["messages"]).encode()).digest()
    if "single letter" in question:
        return f"The answer is ({'AB'[digest[0] % 2]})."
    chosen = [OPTIONS[(digest[1] + i) % len(OPTIONS)] for i in range(5)]
    return "Here you go:\n\n" + "\n".join(f"{n}. {name}" for n, name in enumerate(chosen, 1))


def chat_study(chat: Chat) -> dict[str, Any]:
    return from_yaml(
        """
        study: {name: chat, models: [served], conditions: [offline, history],
          tasks: [recommendations, probe]}
        models: {served: $served}
        conditions: $once
        tasks: {recommendations: {runs: 3}, probe: {runs: 3}}
        generation: {attempts: 2}
        metrics: {permutations: 99}
        """,
        served=loopback_model(chat.base_url, "loopback"),
        once=ONCE,
    )


def asked_of(chat: Chat) -> list[ChatRequest]:
    """The questions, without the look at the list of models before them."""
    return [request for request in chat.requests if request.method == "POST"]


def ledger_rows(folder: Checkout) -> int:
    path = folder.directory / "resources/ledger/served.sqlite"
    if not path.exists():
        return 0
    with sqlite3.connect(path) as ledger:
        (count,) = ledger.execute("SELECT count(*) FROM answers").fetchone()
    return int(count)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    """The study on a server that never fails, from nothing to answers."""
    folder = Checkout(REPOSITORY, tmp_path_factory.mktemp("whole"))
    with serve_chat(answer=answer) as chat:
        study = folder.study("chat", chat_study(chat))
        arguments = (*answers_only("chat"), "--configfile", str(study))
        folder.make(*arguments, env=KEYS)
        assert len(asked_of(chat)) == N_REQUESTS
        assert {r.authorization for r in asked_of(chat)} == {f"Bearer {KEY}"}
        again = folder.snakemake(*arguments, env=KEYS)
        assert "Nothing to be done" in again.stderr
        assert len(asked_of(chat)) == N_REQUESTS
    return folder


def answers_of(folder: Checkout) -> bytes:
    return (folder.directory / "results/chat/answers/answers.parquet").read_bytes()


def test_a_study_on_a_server_reads_its_answers(whole: Checkout) -> None:
    rows = duckdb.sql(
        f"""SELECT kind, count(*), count(letter), count(letter_strict), count(items)
        FROM '{whole.directory}/results/chat/answers/answers.parquet' GROUP BY kind ORDER BY kind"""
    ).fetchall()
    assert rows == [("choice", 24, 24, 0, 0), ("list", 54, 0, 0, 54)]
    (names,) = duckdb.sql(
        f"""SELECT list(DISTINCT item ORDER BY item)
        FROM (SELECT unnest(items) AS item
              FROM '{whole.directory}/results/chat/answers/answers.parquet')"""
    ).fetchall()
    assert set(names[0]) <= {
        "Tesla",
        "Patagonia",
        "IKEA",
        "Ikea",
        "LEGO",
        "Lego",
        "Nintendo",
        "Costco",
        "Siemens",
    }
    written = [p for p in whole.directory.rglob("*") if p.is_file() and p.suffix != ".py"]
    assert len(written) > 30
    assert [path for path in written if KEY.encode() in path.read_bytes()] == []


def test_a_failing_server_fails_the_job_and_keeps_what_arrived(
    folder: Checkout, whole: Checkout
) -> None:
    broken = http_error(500, message="overloaded", times=1000, text="haircut")
    with serve_chat(answer=answer, faults=[broken]) as chat:
        study = folder.study("chat", chat_study(chat))
        arguments = (*answers_only("chat"), "--keep-going", "--configfile", str(study))
        failed = folder.fail(*arguments, env=KEYS)
        assert "requests to served" in failed.stderr
        assert "overloaded" in failed.stderr
        assert "resources/ledger/served.sqlite" in failed.stderr
        assert "Traceback" not in failed.stderr
        kept = ledger_rows(folder)
        assert kept == N_REQUESTS - 6
        assert not list(folder.directory.glob("results/chat/responses/served/recommendations/*"))
        chat.faults.clear()
        before = len(asked_of(chat))
        folder.make(*arguments, env=KEYS)
        assert len(asked_of(chat)) - before == 6
    assert answers_of(folder) == answers_of(whole)
