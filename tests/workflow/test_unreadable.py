"""A study whose answers cannot be read is red, stays red, and once accepted says so above all numbers."""

import os
import pty
import re
import struct
import subprocess
import termios
from collections.abc import Iterator, Mapping
from fcntl import ioctl
from pathlib import Path
from typing import Any

import duckdb
import pytest

from servers.provider import Chat, Fault, ModelSpec, serve_provider
from workflow.conftest import (
    ONCE,
    Checkout,
    clean_environment,
    from_yaml,
    loopback_model,
    prices_of,
)

pytestmark = pytest.mark.workflow

# four questions, thirty times each
RUNS = 30
N = 4 * RUNS
FINDINGS = "results/unreadable/findings.md"
RESPONSES = "results/unreadable/responses/gpt/probe/offline.parquet"


@pytest.fixture
def texts() -> list[str]:
    """What the server answers: the last entry."""
    return ["It depends on many things, and each of them matters."]


@pytest.fixture
def chat(texts: list[str]) -> Iterator[Chat]:
    def answer(_: Mapping[str, Any]) -> str:
        return texts[-1]

    with serve_provider(specs=[ModelSpec("gpt-loop")], answer=answer) as running:
        yield running


def study(folder: Checkout, chat: Chat, runs: int = RUNS, **generation: Any) -> tuple[str, str]:
    overlay = from_yaml(
        """
        study: {name: unreadable, models: [gpt], conditions: [offline], tasks: [probe]}
        models: {gpt: $gpt}
        conditions: $once
        tasks: {probe: {runs: $runs}}
        metrics: {permutations: 99}
        prices: $prices
        generation: $generation
        """,
        gpt=loopback_model(chat.base_url, "gpt-loop", label="GPT", api_key_env=None, concurrency=4),
        once=ONCE,
        runs=runs,
        prices=prices_of({"gpt-loop": {"input": 1.0, "output": 4.0}}),
        generation=generation,
    )
    return ("--configfile", str(folder.study("unreadable", overlay)))


def errors(finished: subprocess.CompletedProcess[str]) -> list[str]:
    return [line for line in finished.stderr.splitlines() if line.startswith("ERROR: ")]


def n_asked(chat: Chat) -> int:
    return sum(request.method == "POST" for request in chat.requests)


def test_answers_that_cannot_be_read_are_no_result(folder: Checkout, chat: Chat) -> None:
    for _ in range(2):
        failed = folder.fail(FINDINGS, *study(folder, chat))
        (error,) = errors(failed)
        assert re.match(r"ERROR: gpt, probe, offline: 1\d\d of 1\d\d answers cannot be read", error)
        assert error.count("“It depends on many things") == 3
        assert "generation.max_unreadable" in error
        assert 100 <= n_asked(chat) <= 104
    folder.make(FINDINGS, *study(folder, chat, max_unreadable=1))
    assert n_asked(chat) == N
    text = (folder.directory / FINDINGS).read_text()
    warning = f"**Warning:** Without a user, probe: of {N} answers {N} (100 %) cannot be read, so"
    head = text.partition("## What this cannot say")[0]
    assert f"\n{warning}" in head
    assert "- **Doubt:** 1 warning below." in head
    assert "|0.0 (" not in text
    assert f"|no test: none of {RUNS} runs is complete and has an answer that can be read|" in text
    folder.fail(FINDINGS, *study(folder, chat))
    assert n_asked(chat) == N


def test_what_answers_lack_is_said_and_marked(
    folder: Checkout, chat: Chat, texts: list[str]
) -> None:
    texts.append("B")
    lacking = {"reply": {"model": "", "usage": [1]}, "choice": {"finish_reason": "length"}}
    chat.faults.append(Fault(**lacking, times=5))
    finished = folder.make(RESPONSES, *study(folder, chat, runs=3))
    for phrase in (
        "answers are cut off",
        "replies do not name the model",
        "do not state their tokens",
    ):
        assert re.search(rf"WARNING: gpt, probe, offline: 5 of 12 \w* ?{phrase}", finished.stderr)
    rows = duckdb.sql(
        f"""SELECT defects, outcome, count(*), count(cost_usd), count(returned_model)
        FROM '{folder.directory}/{RESPONSES}' GROUP BY ALL ORDER BY ALL"""
    ).fetchall()
    assert rows == [([], "ok", 7, 7, 7), (["usage", "model"], "truncated", 5, 0, 0)]


def on_a_terminal(command: list[str], folder: Path) -> list[str]:
    """What a command shows on a terminal of 120 columns, lines that were written over included."""
    far, near = pty.openpty()
    ioctl(near, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
    running = subprocess.Popen(
        command, cwd=folder, env=clean_environment({}), stdin=near, stdout=near, stderr=near
    )
    os.close(near)
    output = b""
    while True:
        try:
            output += os.read(far, 65_536)
        except OSError:  # nobody has the other end any more
            break
    os.close(far)
    assert running.wait() == 0, output[-3000:]
    return [line.strip() for line in re.split(r"[\r\n]+", output.decode("utf-8", "replace"))]


def test_a_terminal_has_a_live_line_and_the_path_of_the_log(
    folder: Checkout, chat: Chat, texts: list[str]
) -> None:
    texts.append("B")
    chat.latency_s = 0.2
    arguments = (RESPONSES, "--quiet", "all", *study(folder, chat, runs=6))
    lines = on_a_terminal(folder.command(*arguments), folder.root)
    log = "logs/unreadable/generate_responses/gpt/probe/offline.log"
    assert f"INFO: asking gpt (probe, offline) for 24 answers in all; the log is {log}" in lines
    live = r"gpt, probe, offline: \d+/24, \S+ answers/s, \d\d:\d\d left, 0 unreadable, \$0\.00"
    assert [line for line in lines if re.match(live, line)]
    written = (folder.directory / log).read_text()
    assert re.search(r"gpt, probe, offline: 24 of 24 answers, .*, 0 unreadable, \$0\.00", written)
