"""A study on llama.cpp's own server, which is killed in the middle of it and comes back.

The study is laid over the documented entry of studies/gateways.yaml.
"""

import sqlite3
from collections.abc import Iterator
from threading import Event, Thread
from typing import Any

import duckdb
import pytest

from servers.llama import WINDOW, LlamaServer, serve_llama
from workflow.conftest import ONCE, REPOSITORY, Checkout, from_yaml

pytestmark = pytest.mark.workflow

GATEWAYS = str(REPOSITORY / "studies/gateways.yaml")
COST = "results/real/cost.csv"
N_REQUESTS = 2 * 4 * 2


@pytest.fixture
def llama() -> Iterator[LlamaServer]:
    with serve_llama() as server:
        yield server


def real_study(server: LlamaServer, **history: Any) -> dict[str, Any]:
    # the model is too small to keep to one letter
    return from_yaml(
        """
        study: {name: real, models: [llama_cpp], conditions: [offline, history], tasks: [probe]}
        models: {llama_cpp: {model: smollm2, base_url: $url, concurrency: 2, timeout_s: 60}}
        conditions: {history: $history}
        tasks: {probe: {runs: 2, max_tokens: 8}}
        generation: {attempts: 2, max_unreadable: 1}
        metrics: {permutations: 99}
        """,
        url=server.base_url,
        history={**ONCE["history"], **history},
    )


def n_stored(folder: Checkout) -> int:
    path = folder.directory / "resources/ledger/llama_cpp.sqlite"
    if not path.exists():
        return 0
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as ledger:
        try:
            (count,) = ledger.execute("SELECT count(*) FROM answers").fetchone()
        except sqlite3.OperationalError:
            return 0
    return int(count)


def kill_after(server: LlamaServer, folder: Checkout, n: int, is_over: Event) -> None:
    while n_stored(folder) < n and not is_over.wait(0.05):
        pass
    server.kill()


def test_a_server_killed_in_the_middle_costs_no_answer(
    folder: Checkout, llama: LlamaServer
) -> None:
    study = folder.study("real", real_study(llama))
    arguments = (COST, "--configfile", GATEWAYS, str(study))
    is_over = Event()
    killer = Thread(target=kill_after, args=(llama, folder, 6, is_over))
    killer.start()
    failed = folder.snakemake(*arguments)
    is_over.set()
    killer.join()
    kept = n_stored(folder)
    assert 6 <= kept < N_REQUESTS, "the server was killed in the middle"
    assert failed.returncode != 0
    assert "Traceback" not in failed.stderr
    assert "run again" in failed.stderr
    llama.start()
    folder.make(*arguments)
    assert n_stored(folder) == N_REQUESTS
    responses = f"'{folder.directory}/results/real/responses/llama_cpp/*/*.parquet'"
    rows = duckdb.sql(
        f"""SELECT count(*), count(input_tokens), count(output_tokens), min(returned_model),
        count(DISTINCT finish_reason) FROM {responses}"""
    ).fetchall()
    assert rows == [(N_REQUESTS, N_REQUESTS, N_REQUESTS, "smollm2", rows[0][4])]
    longer = duckdb.sql(
        f"""SELECT condition, avg(input_tokens) FROM {responses} GROUP BY ALL ORDER BY ALL"""
    ).fetchall()
    assert longer[0][1] > longer[1][1] + 100, "a history counts in the tokens"


def test_a_context_over_the_window_is_counted_with_the_way_out(
    folder: Checkout, llama: LlamaServer
) -> None:
    """Twenty conversations do not fit; each such request fails by itself, and blank calls do not."""
    study = folder.study("real", real_study(llama, conversations=20, pool="corpus"))
    failed = folder.fail(COST, "--keep-going", "--configfile", GATEWAYS, str(study))
    assert f"exceeds the available context size ({WINDOW} tokens)" in failed.stderr
    assert "lower conditions.*.token_budget" in failed.stderr
    assert n_stored(folder) == N_REQUESTS // 2
