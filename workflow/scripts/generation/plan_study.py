"""Plan a study: requests, tokens, time and cost before anything is sent.

In: tables of items, requests and contexts, as far as they are on this machine; ledgers and tables of
responses that are there already. Out: <results>/plan.csv and <results>/plan.html.
"""

from pathlib import Path
from typing import Any

from fieldwork import stage, tables
from fieldwork.generation.planning.ledger import ledger_answers
from fieldwork.generation.planning.loads import ObservedTokens
from fieldwork.generation.planning.page import PlanNotes, assumptions_of, render, warnings_of
from fieldwork.generation.planning.rows import plan_rows
from fieldwork.generation.planning.tables import (
    PlanInputs,
    read_arms,
    read_observed_tokens,
    read_requests,
)
from fieldwork.generation.pricing import price_of
from fieldwork.records.generation import PlanRow


def main(
    inputs: list[str],
    csv: str,
    page: str,
    name: str,
    tasks: dict[str, Any],
    conditions: dict[str, Any],
    models: dict[str, Any],
    prices: dict[str, Any],
    plan: dict[str, Any],
    budget_usd: float | None,
    answer_times: dict[str, int],
    ledger_times: dict[str, int],
    seed: int,
) -> None:
    """Count, price and write."""
    study = PlanInputs(
        tasks,
        conditions,
        plan,
        str(Path(csv).parent),
        set(inputs),
        set(answer_times),
        set(ledger_times),
        seed,
    )
    requests = {(t, c): read_requests(study, t, c) for t in tasks for c in conditions}
    rows: list[PlanRow] = []
    observed_tokens: dict[str, ObservedTokens] = {}
    for model, entry in models.items():
        tokens = read_observed_tokens(study, model, requests)
        observed_tokens[model] = tokens
        price = price_of(prices, entry.get("model", ""))
        answers = ledger_answers(study, model, entry, requests)
        for arm in read_arms(study, model, requests, answers):
            rows += plan_rows(arm.expecting(tokens), entry, price, tokens, plan["latency_s"])
    assumptions = assumptions_of(plan, observed_tokens, rows)
    notes = PlanNotes(name, budget_usd, warnings_of(models, rows), assumptions)
    tables.write_table(csv, rows, PlanRow)
    with tables.atomic_path(page) as partial:
        partial.write_text(render(rows, notes), encoding="utf-8")


if __name__ == "__main__":
    stage.run_script(main, snakemake)
