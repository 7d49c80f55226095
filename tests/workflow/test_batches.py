"""Studies whose answers come in batches: half price, one submission, and a kill in the middle."""

from collections import Counter
from typing import Any

import pytest

from servers.provider import BatchRules, Chat, ModelSpec, serve_provider
from workflow.conftest import KEY, KEYS, ONCE, Checkout, from_yaml, loopback_model, rows_of

pytestmark = pytest.mark.workflow

COST = "results/batches/cost.csv"
N_REQUESTS = 2 * (9 + 4) * 2
# of the server's clock, so that a batch of a minute ends in a fifth of a second
SPEED = 300.0


def batch_study(chat: Chat) -> dict[str, Any]:
    batch = {"poll_s": 0.2, "max_requests": 7, "listing_lag_s": 1}
    # the server answers no letters and no lists
    return from_yaml(
        """
        study: {name: batches, models: [served], conditions: [offline, profile],
          tasks: [recommendations, probe]}
        models: {served: $served}
        conditions: $once
        tasks: {recommendations: {runs: 2}, probe: {runs: 2}}
        generation: {max_unreadable: 1}
        metrics: {permutations: 99}
        """,
        served=loopback_model(chat.base_url, "gpt-x", dispatch="batch", batch=batch),
        once=ONCE,
    )


def run_count(chat: Chat) -> Counter[str]:
    """How often each row of all batches that ran was run, by id."""
    ran = [job for job in chat.jobs.values() if job.state == "completed"]
    return Counter(row.custom_id for job in ran for row in job.rows)


def tiers(folder: Checkout) -> list[tuple[Any, ...]]:
    return rows_of(
        folder,
        "SELECT count(*), count(DISTINCT text), count(latency_s)"
        " FROM 'RESULTS/batches/responses/served/*/*.parquet'",
    )


def test_a_study_in_batches_asks_once_and_nothing_live(folder: Checkout) -> None:
    with serve_provider(specs=[ModelSpec("gpt-x")], speed=SPEED, api_key=KEY) as chat:
        study = folder.study("batches", batch_study(chat))
        arguments = (COST, "--configfile", str(study))
        folder.make(*arguments, env=KEYS)
        assert {tier for _, tier in chat.bill.lines} == {"batch"}
        assert set(run_count(chat).values()) == {1}
        assert sum(run_count(chat).values()) == N_REQUESTS
        again = folder.snakemake(*arguments, env=KEYS)
        assert "Nothing to be done" in again.stderr
    assert tiers(folder) == [(N_REQUESTS, N_REQUESTS, 0)]
    written = [p for p in (folder.directory / "resources/ledger").rglob("*") if p.is_file()]
    assert not any(KEY.encode() in path.read_bytes() for path in written)


def test_rows_that_failed_are_asked_again_by_the_next_run(folder: Checkout) -> None:
    with serve_provider(specs=[ModelSpec("gpt-x")], speed=SPEED) as chat:
        chat.batch = BatchRules(missing=1, duplicate=1, unknown=1)
        study = folder.study("batches", batch_study(chat))
        arguments = (COST, "--configfile", str(study))
        failed = folder.fail(*arguments, env=KEYS)
        assert "have no answer" in failed.stderr
        n_before = sum(run_count(chat).values())
        chat.batch = BatchRules()
        folder.make(*arguments, env=KEYS)
        assert sum(run_count(chat).values()) > n_before
    assert tiers(folder)[0][0] == N_REQUESTS


def test_a_killed_study_goes_on_with_what_it_submitted(folder: Checkout) -> None:
    with serve_provider(specs=[ModelSpec("gpt-x")], speed=SPEED) as chat:
        study = folder.study("batches", batch_study(chat))
        arguments = (COST, "--configfile", str(study))
        chat.batch = BatchRules(running_s=600)
        folder.kill_once(lambda: len(chat.jobs) >= 4, *arguments, env=KEYS)
        folder.make(*arguments, env=KEYS)
        assert set(run_count(chat).values()) == {1}
        assert sum(run_count(chat).values()) == N_REQUESTS
    assert tiers(folder) == [(N_REQUESTS, N_REQUESTS, 0)]
