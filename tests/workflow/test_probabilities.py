"""A study whose model states the probabilities of options, on a server that states them."""

import csv
from collections.abc import Iterator
from typing import Any

import pytest

from fieldwork import tables
from fieldwork.records.metrics import ExactEstimate, Shift, VarianceShare
from fieldwork.records.parsing import Answer
from servers.provider import Chat, Fault, ModelSpec, serve_provider
from workflow.conftest import TINY, Checkout, from_yaml, loopback_model

pytestmark = pytest.mark.workflow

TABLES = ("exact_estimates", "shifts", "variance", "claims")


@pytest.fixture
def server() -> Iterator[Chat]:
    specs = [ModelSpec("gpt-loop", family="4o")]
    with serve_provider(specs=specs, speed=5_000, answer=lambda _: "B") as running:
        yield running


def study(server: Chat, **model: Any) -> dict[str, Any]:
    about = {"label": "GPT", "api_key_env": None, "top_logprobs": 5, **model}
    own = from_yaml(
        """
        study: {models: [loop], conditions: [offline, offline_again, profile], tasks: [probe],
          probabilities: instead}
        models: {loop: $loop}
        conditions: {profile: {replicates: 2}}
        tasks: {probe: {runs: 6, sources: [{format: mmlu, dataset: sample_mmlu,
          item_ids: [sample_medicine-000, sample_medicine-001]}]}}
        """,
        loop=loopback_model(server.base_url, "gpt-loop", **about),
    )
    return {**TINY, **own}


def test_one_call_a_context_says_what_repeats_would(checkout: Checkout, server: Chat) -> None:
    file = str(checkout.study("probabilities", study(server)))
    folder = checkout.results("probabilities")
    checkout.make("plan", study=file)
    page = (folder / "plan.html").read_text()
    targets = [f"results/probabilities/metrics/{name}.parquet" for name in TABLES]
    checkout.make(*targets, "results/probabilities/plan.csv", study=file)
    answers = tables.read_rows(str(folder / "answers/answers.parquet"), Answer)
    n_items = len({answer.item_id for answer in answers})
    calls = {
        name: sum(answer.condition == name for answer in answers) / n_items
        for name in ("offline", "offline_again", "profile")
    }
    assert calls == {"offline": 2, "offline_again": 2, "profile": 6}
    # 6 and 6 reruns and 6 users asked twice
    n_saved = n_items * (6 + 6 + 2 * 6) - len(answers)
    assert f"{n_saved:,} requests fewer than with repeats" in page
    assert all(answer.option_probabilities for answer in answers)
    variance = tables.read_rows(str(folder / "metrics/variance.parquet"), VarianceShare)
    (users,) = (row for row in variance if row.condition == "profile")
    assert (users.is_stated, users.p_value) == (True, 0.0)
    assert 0 < (users.share_who or 0) < 1
    shifts = tables.read_rows(str(folder / "metrics/shifts.parquet"), Shift)
    assert {row.p_value for row in shifts if row.condition == "offline_again"} == {1.0}
    assert all(row.is_stated for row in shifts)
    exact = tables.read_rows(str(folder / "metrics/exact_estimates.parquet"), ExactEstimate)
    assert {row.measure for row in exact} == {
        *("distance", "entropy", "novelty", "score", "share_who")
    }
    with (folder / "metrics/claims.csv").open() as claims:
        scores = [row for row in csv.DictReader(claims) if row["measure"] == "score"]
    assert scores
    assert all(row["reference_value"] for row in scores)


def test_a_model_that_states_none_is_refused(checkout: Checkout, server: Chat) -> None:
    file = str(checkout.study("silent", study(server, top_logprobs=0)))
    run = checkout.fail("plan", "--dry-run", study=file)
    assert "study.probabilities: instead needs answers with the probabilities" in run.stderr
    assert "models.loop.top_logprobs" in run.stderr


def test_a_server_that_stops_stating_them_mixes_nothing(checkout: Checkout, server: Chat) -> None:
    server.faults.append(Fault(choice={"logprobs": None}, times=4))
    file = str(checkout.study("silenced", study(server)))
    checkout.make("results/silenced/metrics/shifts.parquet", study=file)
    folder = checkout.results("silenced")
    answers = tables.read_rows(str(folder / "answers/answers.parquet"), Answer)
    silent = [answer for answer in answers if answer.option_probabilities is None]
    assert len(silent) == 4
    logs = [path.read_text() for path in (checkout.directory / "logs/silenced").rglob("*.log")]
    assert any("state no probabilities of their options" in text for text in logs)
    are_silent = {(answer.condition, answer.item_id) for answer in silent}
    for row in tables.read_rows(str(folder / "metrics/shifts.parquet"), Shift):
        sides = {(row.condition, row.item_id), ("offline", row.item_id)}
        assert row.is_stated == (not sides & are_silent)
        assert (row.n_named is None) == row.is_stated
