"""Waiting times and prices of a whole study: two services, and a model on this machine beside them."""

import csv
import hashlib
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from servers.provider import Chat, ModelSpec, serve_provider
from workflow.conftest import KEY, KEYS, Checkout, from_yaml, loopback_model, prices_of, rows_of

pytestmark = pytest.mark.workflow

PRICES = {
    "gpt-loop": {"input": 2.0, "cached": 0.5, "cache_write": 2.0, "output": 8.0},
    "gemini-loop": {"input": 0.2, "cached": 0.05, "cache_write": 0.2, "output": 0.8},
}
LATENCY_S = 0.05
RUNS, SAMPLE = 12, 5
OUTPUTS = (
    "metrics/service.csv",
    "figures/pareto.svg",
    "figures/pareto.png",
    "findings.md",
    "cost.csv",
)


def answer(request: Mapping[str, Any]) -> str:
    """A letter that depends on the whole request."""
    return "ABCD"[hashlib.sha256(repr(request).encode()).digest()[0] % 4]


@pytest.fixture
def server() -> Iterator[Chat]:
    specs = [ModelSpec("gpt-loop", family="4o"), ModelSpec("gemini-loop", family="gemini")]
    with serve_provider(
        specs=specs, prices=PRICES, answer=answer, api_key=KEY, latency_s=LATENCY_S
    ) as running:
        yield running


def overlay(server: Chat, sample: int = SAMPLE) -> dict[str, Any]:
    return from_yaml(
        """
        study: {models: [gpt, gemini, embedded], conditions: [offline, history], tasks: [probe]}
        models: {gpt: $gpt, gemini: $gemini}
        conditions: {history: {replicates: 1}}
        tasks: {probe: {runs: $runs}}
        metrics: {permutations: 99}
        generation: {max_unreadable: 1}
        prices: $prices
        """,
        gpt=loopback_model(server.base_url, "gpt-loop", first_token_sample=sample),
        gemini=loopback_model(server.gemini_url, "gemini-loop", "gemini"),
        runs=RUNS,
        prices=prices_of(PRICES),
    )


def test_a_study_says_how_long_answers_take_and_what_they_cost(
    checkout: Checkout, server: Chat
) -> None:
    path = checkout.study("service", overlay(server))
    targets = [f"results/service/{output}" for output in OUTPUTS]
    checkout.make(*targets, study=path, env=KEYS)
    service = "FROM 'RESULTS/service/metrics/service.parquet'"
    shortest = rows_of(
        checkout,
        f"SELECT min(estimate), count(estimate) {service} WHERE measure = 'latency_p50_s'",
    )
    assert shortest[0][0] >= LATENCY_S
    assert shortest[0][1] == 4
    # a mean times its calls is the bill
    (billed,) = rows_of(
        checkout, f"SELECT sum(estimate * n_answers) {service} WHERE measure = 'usd_call'"
    )
    with checkout.results("service").joinpath("cost.csv").open() as handle:
        bills = list(csv.DictReader(handle))
    paid, of_streams = (
        sum(
            float(bill["cost_usd"] or 0)
            for bill in bills
            if (bill["dispatch"] == "stream") == streamed
        )
        for streamed in (False, True)
    )
    # the plan knew of them, and of how they are paid for
    planned = [float(bill["planned_usd"]) for bill in bills if bill["dispatch"] == "stream"]
    assert len(planned) == 2
    assert sum(planned) == pytest.approx(of_streams, rel=0.5)
    (streams,) = rows_of(
        checkout,
        "SELECT sum(cost_usd), count(*), bool_and(first_token_s BETWEEN 0 AND latency_s) "
        "FROM 'RESULTS/service/first_tokens/gpt/probe/*.parquet'",
    )
    assert streams[1:] == (2 * SAMPLE, True)
    assert billed[0] == pytest.approx(paid)
    assert of_streams == pytest.approx(streams[0])
    # everything that the server billed is in the table
    assert paid + of_streams == pytest.approx(server.bill.usd)
    assert sum(bool(request.body.get("stream")) for request in server.requests) == 2 * SAMPLE
    (dearer,) = rows_of(
        checkout,
        f"SELECT min(difference) {service} WHERE measure = 'usd_call' AND condition = 'history' "
        "AND model <> 'embedded'",
    )
    assert dearer[0] > 0
    reasons = rows_of(
        checkout,
        f"SELECT DISTINCT reason {service} WHERE model = 'embedded' AND measure = 'latency_p95_s'",
    )
    assert reasons == [
        (
            f"{4 * RUNS} of {4 * RUNS} answers have no time, as none is kept of a model on this machine",
        )
    ]
    judged = rows_of(
        checkout,
        "SELECT count(*) FILTER (is_best IS NOT NULL), count(*) FILTER (reason = 'it has no time and no "
        "price') FROM 'RESULTS/service/metrics/trade_offs.parquet'",
    )
    assert judged == [(4, 2)]
    findings = checkout.results("service").joinpath("findings.md").read_text()
    assert "\nWaiting: 95 % of answers come within " in findings
    # a larger sample asks for what it adds, and for nothing of the study
    n_asked = len(server.requests)
    path = checkout.study("service", overlay(server, 2 * SAMPLE))
    table = "results/service/first_tokens/gpt/probe/offline.parquet"
    assert checkout.plan(table, study=path) == {"sample_first_tokens"}
    checkout.make(table, study=path, env=KEYS)
    new = [request for request in server.requests[n_asked:] if request.method == "POST"]
    assert all(request.body.get("stream") for request in new)
    assert len(new) == SAMPLE
