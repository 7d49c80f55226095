"""`snakemake plan`: before spending, without a key, without a download, and never asking anything."""

import csv
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from servers.provider import Chat, ModelSpec, serve_provider
from workflow.conftest import (
    KEY,
    KEYS,
    ONCE,
    Checkout,
    answers_only,
    from_yaml,
    loopback_model,
    prices_of,
)

pytestmark = pytest.mark.workflow

NO_NETWORK = {
    "HTTPS_PROXY": "http://127.0.0.1:9",
    "HTTP_PROXY": "http://127.0.0.1:9",
    "HF_ENDPOINT": "http://127.0.0.1:9",
}


def plan_of(checkout: Checkout, study: str) -> list[dict[str, str]]:
    path = checkout.results(study) / "plan.csv"
    return list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))


def test_a_study_on_real_data_is_planned_without_key_network_or_corpus(checkout: Checkout) -> None:
    name = "current"
    study = f"studies/{name}.yaml"
    assert "download_dataset" in checkout.plan(study=study)
    checkout.make("plan", study=study, env=NO_NETWORK)
    assert not (checkout.root / "resources/downloads").exists()
    assert not checkout.results(name).joinpath("responses").exists()
    rows = plan_of(checkout, name)
    assert len({row["model"] for row in rows}) == 2
    assert {row["dispatch"] for row in rows} == {"live", "flex", "batch"}
    mmlu = [row for row in rows if row["task"] == "mmlu_lite" and row["condition"] == "history"]
    assert {row["n_requests"] for row in mmlu} == {str(514 * 10 * 2)}
    assert {row["basis"] for row in mmlu} == {"all assumed"}
    for row in rows:
        expected, most = float(row["cost_expected_usd"]), float(row["cost_most_usd"])
        assert float(row["cost_ideal_usd"]) <= expected <= most
    page = (checkout.results(name) / "plan.html").read_text(encoding="utf-8")
    assert "assume" in page


def test_the_quickstart_is_planned_from_its_tables_and_what_is_answered_is_not_counted(
    finished: Checkout,
) -> None:
    overlay: dict[str, Any] = {"study": {"tasks": ["recommendations", "probe"]}}
    study = finished.study("two", overlay)
    before = {p: p.stat().st_mtime_ns for p in Path(finished.root).glob("results/*/responses/**/*")}
    finished.make("plan", study=study)
    rows = plan_of(finished, "two")
    assert {row["basis"] for row in rows} == {"tables"}
    assert all(row["n_requests"] == row["n_answered"] != "0" for row in rows)
    assert {p: p.stat().st_mtime_ns for p in before} == before


def test_a_plan_downloads_nothing_whatever_tables_are_there(finished: Checkout) -> None:
    # as after a run of the study whose downloads were deleted since
    made = finished.results("paper") / "contexts/mmlu_lite/history.parquet"
    made.parent.mkdir(parents=True)
    made.write_bytes((finished.results() / "contexts/mmlu_lite/history.parquet").read_bytes())
    planned = finished.make("plan", study="studies/paper.yaml", env=NO_NETWORK)
    assert "download_dataset" not in planned.stderr
    rows = [row for row in plan_of(finished, "paper") if row["task"] == "mmlu_lite"]
    assert {row["basis"] for row in rows} == {"all assumed"}


PRICE = {"input": 100.0, "output": 400.0}


def paid_study(checkout: Checkout, chat: Chat) -> tuple[str, str]:
    overlay = from_yaml(
        """
        study: {name: killed, models: [served], conditions: [offline, profile], tasks: [probe]}
        models: {served: $served}
        prices: $prices
        conditions: $once
        tasks: {probe: {runs: 5}}
        metrics: {permutations: 99}
        generation: {budget_usd: 50.0, max_unreadable: 1}
        """,
        served=loopback_model(chat.base_url, "gpt-x", concurrency=2),
        prices=prices_of({"gpt-x": PRICE}),
        once=ONCE,
    )
    return ("--configfile", str(checkout.study("killed", overlay)))


def n_asked(chat: Chat) -> int:
    return sum(request.method == "POST" for request in chat.requests)


def rows_of(checkout: Checkout, file: str, query: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(checkout.root / "resources/ledger" / file)) as connection:
        return connection.execute(query).fetchall()


def test_answers_of_a_killed_job_are_planned_as_answered_and_its_budget_comes_back(
    checkout: Checkout,
) -> None:
    with serve_provider(
        specs=[ModelSpec("gpt-x", family="4o")],
        prices={"gpt-x": PRICE},
        api_key=KEY,
        latency_s=0.2,
    ) as chat:
        arguments = paid_study(checkout, chat)
        checkout.kill_once(
            lambda: n_asked(chat) >= 12, *answers_only("killed"), *arguments, env=KEYS
        )
        assert not list((checkout.root / "results/killed/responses").glob("**/*.parquet"))
        ((n_stored,),) = rows_of(checkout, "served.sqlite", "SELECT count(*) FROM answers")
        asked = n_asked(chat)
        # only the two calls that were under way at the kill may be sent a second time
        assert asked - n_stored <= 2
        checkout.make("plan", *arguments)
        assert n_asked(chat) == asked
        rows = [row for row in plan_of(checkout, "killed") if row["is_chosen"] == "True"]
        assert sum(int(row["n_answered"]) for row in rows) == n_stored > 0
        n_left = sum(int(row["n_requests"]) - int(row["n_answered"]) for row in rows)
        for row in rows:
            tokens = int(row["prefix_tokens"]) + int(row["question_tokens"])
            dollars = (tokens * PRICE["input"] + int(row["output_tokens"]) * PRICE["output"]) / 1e6
            assert float(row["cost_no_cache_usd"]) == pytest.approx(dollars)
        assert rows_of(checkout, "budget.sqlite", "SELECT count(*) FROM holders") == [(1,)]
        checkout.make(*answers_only("killed"), *arguments, env=KEYS)
        assert n_asked(chat) - asked == n_left
        # nothing is held any more, and what was under way when it was killed counts as spent
        assert rows_of(checkout, "budget.sqlite", "SELECT count(*) FROM holders") == [(0,)]
        ((spent, lost),) = rows_of(checkout, "budget.sqlite", "SELECT spent, lost FROM accounts")
        assert lost > 0
        assert chat.bill.usd <= spent / 1e9 <= chat.bill.usd + lost / 1e9
    checkout.make("plan", *arguments)
    assert all(row["n_requests"] == row["n_answered"] for row in plan_of(checkout, "killed"))
