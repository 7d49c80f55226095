"""A study of users who are remembered: conversations are read, attributes selected, questions asked."""

import csv
import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from servers.provider import Chat, ModelSpec, serve_provider
from workflow.conftest import (
    KEY,
    KEYS,
    REPOSITORY,
    Checkout,
    answers_only,
    from_yaml,
    loopback_model,
    prices_of,
    rows_of,
)

pytestmark = pytest.mark.workflow

PRICES = {"gpt-loop": {"input": 2.0, "cached": 0.5, "cache_write": 2.0, "output": 8.0}}
RUNS = 4
READING = "What do you learn about the user"
SELECTING = "Should this change the answer"
# the first is shown by a turn of the user, the second by none
STATEMENTS = (
    '{"attribute": "Wrote something of kind %s", "kind": "fact", "turns": [1], "confidence": 0.9}\n'
    '{"attribute": "Is a pilot", "kind": "fact", "turns": [], "confidence": 0.9}\n'
    '{"attribute": "Likes short answers", "kind": "preference", "turns": "1", "confidence": "high"}'
)


MEMORY = ("memory", "memory_relevant")
# each has something of its own: waves, models that cost
STUDIES = ("drift", "paper")


def answer(request: Mapping[str, Any]) -> str:
    """States attributes, says that likings matter, and else answers by what it is told of the user."""
    content = request["messages"][-1]["content"]
    mark = hashlib.sha256(str(request["messages"]).encode()).digest()[0]
    if READING in content:
        return STATEMENTS % mark
    if SELECTING in content:
        return "A" if "Likes" in content else "B"
    return "AB"[mark % 2]


@pytest.fixture
def server() -> Iterator[Chat]:
    specs = [ModelSpec("gpt-loop", family="4o")]
    with serve_provider(specs=specs, prices=PRICES, answer=answer, api_key=KEY) as running:
        yield running


def overlay(server: Chat) -> dict[str, Any]:
    return from_yaml(
        """
        study: {models: [gpt], conditions: [offline, memory, by_model, by_words], tasks: [probe]}
        models: {gpt: $gpt}
        conditions:
          memory: {replicates: 1, recent: 1}
          by_model: &other {context: memory_relevant, temperature: 1, replicates: 1, label: By model,
            select: {by: model}}
          by_words: {<<: *other, label: By words, select: {by: bm25, n: 1},
            template: resources/memory/plain.txt}
        memory: {conversations: 2}
        tasks: {probe: {runs: $runs}}
        metrics: {permutations: 99}
        prices: $prices
        """,
        gpt=loopback_model(server.base_url, "gpt-loop"),
        runs=RUNS,
        prices=prices_of(PRICES),
    )


def test_what_a_model_reads_off_conversations_stands_before_the_questions(
    checkout: Checkout, server: Chat
) -> None:
    path = checkout.study("remembered", overlay(server))
    checkout.make("plan", study=path, env=KEYS)
    assert server.requests == []
    with (checkout.results("remembered") / "plan.csv").open(encoding="utf-8", newline="") as file:
        planned = {row["task"]: row for row in csv.DictReader(file)}
    assert planned["memory.read"]["basis"] == "tables"
    assert int(planned["memory.select"]["n_requests"]) > 0

    arguments = (*answers_only("remembered"), "--configfile", str(path))
    checkout.make(*arguments, env=KEYS)
    reasons = rows_of(
        checkout,
        """SELECT reason, count(*) FROM 'RESULTS/remembered/memory/statements.parquet'
        GROUP BY 1 ORDER BY 1""",
    )
    n_read = reasons[0][1]
    assert reasons == [("no evidence: it names no turn", n_read), (None, 2 * n_read)]
    attributes = rows_of(
        checkout,
        """SELECT user_id, count(*), count(*) FILTER (text = 'Likes short answers'), max(n_statements)
        FROM 'RESULTS/remembered/memory/attributes.parquet' GROUP BY 1""",
    )
    assert len(attributes) == RUNS
    assert all(likes == 1 for _, _, likes, _ in attributes)
    texts = {
        condition: rows_of(
            checkout,
            f"""SELECT puppet_id, item_id, messages[1].role, messages[1].content
            FROM 'RESULTS/remembered/contexts/probe/{condition}.parquet'""",
        )
        for condition in ("memory", "by_model", "by_words")
    }
    assert len(texts["memory"]) == RUNS
    for _, item, role, text in texts["memory"]:
        assert (item, role) == (None, "system")
        assert "Likes short answers" in text
        assert "Wrote something of kind" in text
        assert "# Recent Conversation Content" in text
    assert len(texts["by_model"]) == RUNS * 4
    assert all("Likes" in text and "Wrote" not in text for *_, text in texts["by_model"])
    assert all(text.count("\n- ") == 1 for *_, text in texts["by_words"])
    with (checkout.results("remembered") / "cost.csv").open(encoding="utf-8", newline="") as file:
        billed = {row["task"]: row for row in csv.DictReader(file)}
    assert set(billed) == {"probe", "memory.read", "memory.select"}
    assert float(billed["memory.read"]["cost_usd"]) > 0
    n_asked = len(server.requests)
    assert "Nothing to be done" in checkout.snakemake(*arguments, env=KEYS).stderr
    # the ledger has all answers, those of the reading model too
    checkout.make(*arguments, "--forcerun", "prepare_reading", "generate_responses", env=KEYS)
    assert len(server.requests) == n_asked


@pytest.mark.parametrize("name", STUDIES)
def test_the_memory_conditions_are_planned_in_a_study_file(tmp_path: Path, name: str) -> None:
    study = Checkout(REPOSITORY, tmp_path)
    overlay = study.study("remembered", {"study": {"conditions": ["offline", *MEMORY]}})
    file = REPOSITORY / f"studies/{name}.yaml"
    assert {
        "prepare_reading",
        "read_attributes",
        "select_attributes",
        "write_memories",
    } <= study.plan("all", "--configfile", str(file), str(overlay))


def test_a_model_that_states_nothing_leaves_empty_contexts_and_says_so(
    checkout: Checkout, server: Chat
) -> None:
    settings = overlay(server) | {"memory": {"least_confidence": 1}}
    settings["study"]["conditions"] = ["offline", "memory", "by_words"]
    settings["conditions"]["memory"]["recent"] = 0
    path = checkout.study("forgotten", settings)
    target = "results/forgotten/responses/gpt/probe/memory.parquet"
    checkout.make(target, study=path, env=KEYS)
    log = (checkout.directory / "logs/forgotten/read_attributes.log").read_text()
    assert "nothing is known of any user" in log
    log = (checkout.directory / "logs/forgotten/build_contexts/probe/memory.log").read_text()
    assert f"{RUNS} of {RUNS} contexts are empty" in log
