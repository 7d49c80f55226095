"""Studies on providers that send a bill: budgets, lifecycle, lineage, and the bill itself."""

import csv
import re
import shutil
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from servers.provider import Chat, ModelSpec, rerouted, serve_provider
from workflow.conftest import (
    KEY,
    KEYS,
    ONCE,
    Checkout,
    from_yaml,
    loopback_model,
    prices_of,
    rows_of,
)

pytestmark = pytest.mark.workflow

PRICE = {"input": 100.0, "cached": 50.0, "cache_write": 100.0, "output": 400.0}
CLAUDE_PRICE = {**PRICE, "cached": 10.0, "cache_write": 125.0}
PRICES = {
    **dict.fromkeys(("gpt-loop", "gemini-loop", "gpt-ending"), PRICE),
    "claude-loop": CLAUDE_PRICE,
}
BILL = "results/paid/cost.csv"
N_REQUESTS = 2 * 4 * 3


def answer(request: Mapping[str, Any]) -> str:  # noqa: ARG001
    return "B"


@pytest.fixture
def server() -> Iterator[Chat]:
    specs = [
        ModelSpec("gpt-loop", family="4o"),
        ModelSpec("gemini-loop", family="gemini"),
        ModelSpec("gpt-ending", family="4o", shutdown_date="2026-01-01"),
        ModelSpec("claude-loop", family="claude"),
    ]
    with serve_provider(specs=specs, prices=PRICES, answer=answer, api_key=KEY) as running:
        yield running


def study(
    folder: Checkout,
    server: Chat,
    *,
    models: Mapping[str, Any] | None = None,
    selected: Sequence[str] = ("gpt",),
    conditions: Sequence[str] = ("offline", "history"),
    **generation: Any,
) -> tuple[str, str]:
    gpt = loopback_model(server.base_url, "gpt-loop")
    gemini = loopback_model(server.gemini_url, "gemini-loop", "gemini")
    overlay = from_yaml(
        """
        study: {name: paid, models: $selected, conditions: $conditions, tasks: [probe]}
        models: $models
        conditions: $once
        tasks: {probe: {runs: 3}}
        metrics: {permutations: 99}
        generation: $generation
        prices: $prices
        """,
        selected=[*selected],
        conditions=[*conditions],
        models={"gpt": gpt, "gemini": gemini, **(models or {})},
        once=ONCE,
        generation={"attempts": 2, "max_unreadable": 1, **generation},
        prices=prices_of(PRICES),
    )
    return ("--configfile", str(folder.study("paid", overlay)))


def run(folder: Checkout, arguments: tuple[str, str], *more: str) -> Any:
    """Ask all there is to ask: the bill is made of it."""
    return folder.snakemake(BILL, *more, *arguments, env=KEYS)


def errors(finished: Any) -> str:
    return "\n".join(line for line in finished.stderr.splitlines() if line.startswith("ERROR: "))


def n_asked(server: Chat) -> int:
    return sum(request.method == "POST" for request in server.requests)


def test_the_bill_in_cost_csv_is_the_providers_and_no_file_has_the_key(
    folder: Checkout, server: Chat
) -> None:
    """Four ways to pay; `flex` is the same model at half price."""
    flex = loopback_model(server.base_url, "gpt-loop", label="Flex", dispatch="flex")
    claude = loopback_model(server.anthropic_url, "claude-loop", "anthropic")
    lines = {"flex": "gpt-loop", **{name: f"{name}-loop" for name in ("gpt", "gemini", "claude")}}
    arguments = study(folder, server, models={"flex": flex, "claude": claude}, selected=[*lines])
    finished = run(folder, arguments)
    assert finished.returncode == 0, finished.stderr[-3000:]
    assert n_asked(server) == len(lines) * N_REQUESTS
    with (folder.directory / BILL).open() as handle:
        rows = list(csv.DictReader(handle))
    assert sum(float(row["cost_usd"]) for row in rows) == pytest.approx(server.bill.usd, rel=1e-9)
    for name, model in lines.items():
        billed = rows_of(
            folder,
            "SELECT sum(cost_usd), list(DISTINCT returned_model), list(DISTINCT price_as_of),"
            " bool_and(request_id IS NOT NULL), bool_and(started_at IS NOT NULL)"
            f" FROM 'RESULTS/paid/responses/{name}/probe/*.parquet'",
        )
        usd = server.bill.lines[model, "flex" if name == "flex" else "live"].usd
        assert billed == [(pytest.approx(usd, rel=1e-9), [model], ["2026-11-01"], True, True)]
    reported = run(folder, arguments, "--report", "results/paid/report.zip")
    files = [p for p in folder.directory.rglob("*") if p.is_file() and p.suffix != ".py"]
    assert [p for p in files if KEY.encode() in p.read_bytes()] == []
    assert KEY not in finished.stdout + finished.stderr + reported.stdout + reported.stderr


def test_a_budget_is_never_passed_and_raising_it_goes_on(folder: Checkout, server: Chat) -> None:
    budget = 0.05
    stopped = run(folder, study(folder, server, budget_usd=budget), "--keep-going")
    assert stopped.returncode != 0
    assert "budget_usd" in errors(stopped)
    assert 0 < server.bill.usd <= budget
    asked = n_asked(server)
    finished = run(folder, study(folder, server, budget_usd=50.0))
    assert finished.returncode == 0, finished.stderr[-3000:]
    assert asked < n_asked(server) == N_REQUESTS


def test_what_cannot_be_paid_or_is_gone_is_told_before_spending(
    folder: Checkout, server: Chat
) -> None:
    models = {name: loopback_model(server.base_url, f"gpt-{name}") for name in ("odd", "ending")}
    arguments = study(
        folder, server, models=models, selected=[*models], conditions=["offline"], budget_usd=1.0
    )
    failed = run(folder, arguments, "--keep-going")
    assert failed.returncode != 0
    assert "prices has no entry 'gpt-odd'" in errors(failed)
    assert "2026-01-01" in errors(failed)
    assert n_asked(server) == server.bill.usd == 0


def test_an_answer_of_another_model_stops_the_run_and_is_not_paid_twice(
    folder: Checkout, server: Chat
) -> None:
    server.faults.append(rerouted("gpt-cheaper"))
    arguments = study(folder, server)
    failed = run(folder, arguments)
    assert failed.returncode != 0
    assert "gpt-cheaper" in errors(failed)
    with sqlite3.connect(folder.directory / "resources/ledger/gpt.sqlite") as ledger:
        ((apart,),) = ledger.execute("SELECT count(*) FROM quarantined").fetchall()
    assert apart == 1
    again = run(folder, arguments, "--keep-going")
    assert again.returncode != 0
    path = Path(arguments[1])
    path.write_text(
        path.read_text().replace(
            "label: gpt-loop\n", "label: g\n    accept_models: [gpt-cheaper]\n"
        )
    )
    finished = run(folder, arguments)
    assert finished.returncode == 0, finished.stderr[-3000:]
    assert n_asked(server) == N_REQUESTS


def test_a_missing_key_is_told_without_a_call(folder: Checkout, server: Chat) -> None:
    failed = folder.fail(BILL, *study(folder, server))
    # before the first job, with the model that needs it
    assert "models.gpt.api_key_env names LOOPBACK_API_KEY" in failed.stderr
    assert "Traceback" not in failed.stderr
    assert not (folder.directory / "results/paid").exists()
    assert server.requests == []


def test_a_lost_ledger_stops_the_run_and_a_damaged_one_is_recovered(
    folder: Checkout, server: Chat
) -> None:
    """Nothing is paid twice without a word, and only what is gone is paid again."""
    arguments, n = study(folder, server), 4 * 3
    ledger = folder.directory / "resources/ledger/gpt.sqlite"

    def ask() -> Any:
        shutil.rmtree(folder.directory / "results", ignore_errors=True)
        target = "results/paid/responses/gpt/probe/offline.parquet"
        return folder.snakemake(target, *arguments, env=KEYS)

    assert ask().returncode == 0
    sound = ledger.read_bytes()
    ledger.write_bytes(b"")
    assert f"the ledger held {n} answers and holds none now" in errors(ask())
    ledger.write_bytes(sound[: len(sound) - 3 * 4096])
    assert "run snakemake --cores 1 recover_ledgers" in errors(ask())
    assert n_asked(server) == n
    recovered = folder.make("recover_ledgers", *arguments, cores=1)
    count = re.search(rf"(\d+) of {n} answers are recovered", recovered.stderr)
    assert count, recovered.stderr[-3000:]
    assert ask().returncode == 0
    assert n_asked(server) == 2 * n - int(count[1]) < 2 * n
    once_more = folder.snakemake("recover_ledgers", *arguments, cores=1)
    assert f"gpt.sqlite: not damaged; it holds {n} answers" in once_more.stderr
